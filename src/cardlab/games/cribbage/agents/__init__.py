"""Agents of Cribbage."""
