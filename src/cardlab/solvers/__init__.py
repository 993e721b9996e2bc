"""Solvers of single games: exact where the cards are known, faster than any general search."""
