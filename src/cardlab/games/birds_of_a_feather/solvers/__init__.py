"""Solvers and exact tables of Birds of a Feather."""
