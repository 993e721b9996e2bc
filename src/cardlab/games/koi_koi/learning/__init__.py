"""Trainings of Koi-Koi."""
