"""What the end of a round of Koi-Koi is worth: in points, or as the chance to win the game.

A table of chances is P(win) by (rounds left, I deal, lead over the start + 30); a lead of 30 or
more has won. `ENDS` are the gains by which networks tell the ends of a round apart: every one that
may decide a game, and a few beyond, between which others are shared out so that their mean stays.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cardlab.engine.game import Array
from cardlab.games.koi_koi.rules import START

__all__ = ["ENDS", "POINTS", "look_up", "share_out"]

POINTS = 10.0  # points that make a reward of 1
BEYOND = (36, 45, 60)
ENDS = np.array([*(-gain for gain in BEYOND[::-1]), *range(-START, START + 1), *BEYOND])


def look_up(table: Array, left: Any, deals: Any, lead: Any) -> Array:
    """Return the probability to win with so many rounds left."""
    return table[left, deals, np.clip(lead, -START, START) + START]


def share_out(gains: Array) -> Array:
    """Return how much of each of `ENDS` the gains of rounds are; the shares of a gain make 1."""
    gains = np.clip(gains, ENDS[0], ENDS[-1])
    above = np.clip(np.searchsorted(ENDS, gains), 1, len(ENDS) - 1)
    low, high = ENDS[above - 1], ENDS[above]
    share = (gains - low) / (high - low)
    found = np.zeros((*np.shape(gains), len(ENDS)), dtype=np.float32)
    np.put_along_axis(found, above[..., None], share[..., None], axis=-1)
    np.put_along_axis(found, above[..., None] - 1, 1.0 - share[..., None], axis=-1)
    return found
