"""Agents of Koi-Koi."""
