"""Agents of Birds of a Feather."""
