"""Solvers and exact tables of Cribbage."""
