"""Agents: one module for each kind, and the catalogue of their names."""
