"""Determinised search: sampled worlds are valued with all cards open, and the means decide.

What judges a world is a parameter: alpha-beta to some depth, an exact solver, or another search on
a known state. It may know in every world what no seat can know; that is the method's well-known
weakness (strategy fusion), and why it is measured beside the others.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cardlab.engine.arguments import read_count, read_kind
from cardlab.engine.game import Array, State, Turn
from cardlab.search.threads import spread

__all__ = ["Judge", "evaluate"]

Judge = Callable[[State], Array]  # a world with the seat to move -> worth of its legal actions


def evaluate(
    turn: Turn, worlds: int, rng: np.random.Generator, judge: Judge, *, threads: int = 1
) -> Array:
    """Return the mean worth of every legal action over so many sampled worlds."""
    turn = read_kind(turn, Turn, "turn", "table.turn() returns one")
    rng = read_kind(rng, np.random.Generator, "rng", "np.random.default_rng(0) makes one")
    worlds = read_count(worlds, "worlds")
    sampled = [turn.view.imagine(rng) for _ in range(worlds)]
    return np.mean(spread(judge, sampled, threads), axis=0)
