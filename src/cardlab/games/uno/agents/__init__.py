"""Agents of Uno."""
