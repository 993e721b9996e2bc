"""Trainings of Crazy Eights."""
