"""The measured tables of the Cribbage expert, which come with the package.

    tosses[role, suited, pair of ranks]   how often such cards are discarded, in multiples of chance
    keeps[role, four ranks]               how often such a hand is kept, for one of its ways
    gained, given[role, four ranks]       mean points that such a hand pegs, and lets the other peg
    pegs[i, j]                            share of deals in which the pone pegs i and the dealer j
    shows[role, points]                   share of deals in which a role's hand counts so much
    win[own, other, role]                 chance to win with these scores before the deal

Roles: 0 is the pone, 1 the dealer. Numbers of pairs and fours as in `hand_statistics`. Each
table is made by a training (`cardlab train`); the JSON file beside it says how.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import NamedTuple

import numpy as np

from cardlab.engine.array_files import load_array
from cardlab.engine.game import Array
from cardlab.games.cribbage import PACKAGE

PONE, THE_DEALER = range(2)
FULL = 121  # chances are those of games to 121; a shorter game is the end of one
MOST_PEGS = 32  # more than anybody pegs in a deal, a jack turned up included
PAIRS, QUADS, POINTS = 91, 1820, 30

DISCARDS, PEGGING, WINNING = "discards", "pegging_statistics", "win_probability"
SHAPES: dict[str, dict[str, tuple[int, ...]]] = {
    DISCARDS: {"tosses": (2, 2, PAIRS), "keeps": (2, QUADS)},
    PEGGING: {"gained": (2, QUADS), "given": (2, QUADS), "median": (2, QUADS)},
    WINNING: {
        "pegs": (MOST_PEGS, MOST_PEGS),
        "shows": (2, POINTS),
        "win": (FULL, FULL, 2),
    },
}


class Knowledge(NamedTuple):
    """All tables, as float64."""

    tosses: Array
    keeps: Array
    gained: Array
    given: Array
    median: Array  # of the points gained; nobody's choices depend on it
    pegs: Array
    shows: Array
    win: Array


def load_knowledge(folder: Path) -> Knowledge:
    """Return the tables in a folder."""
    found = {}
    for name, shapes in SHAPES.items():
        for key, shape in shapes.items():
            table = load_array(folder / f"{name}.npz", key, shape, "table of Cribbage")
            found[key] = table.astype(np.float64)
    return Knowledge(**found)


@functools.cache
def shipped_knowledge() -> Knowledge:
    """Return the tables that come with the package."""
    return load_knowledge(PACKAGE.shipped())
