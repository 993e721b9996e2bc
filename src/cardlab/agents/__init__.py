"""Agents: one module for each kind, the catalogue of their names, and games between them."""
