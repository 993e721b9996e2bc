"""Agents of Crazy Eights."""
