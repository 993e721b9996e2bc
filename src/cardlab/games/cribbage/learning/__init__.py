"""Trainings of Cribbage."""
