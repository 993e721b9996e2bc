"""Trainings of Birds of a Feather."""
