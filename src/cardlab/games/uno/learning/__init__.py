"""Trainings of Uno."""
