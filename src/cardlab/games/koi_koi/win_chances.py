"""The value of the end of a round of Koi-Koi, in points or as the chance to win the game.

A table of chances is P(win) by (rounds left, I deal, lead over the start + 30); a lead of 30 or
more has won. `OUTCOMES` are the gains by which networks distinguish how a round ends: every one
that may decide a game, and a few beyond; `two_hot` splits others between two neighbours.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cardlab.engine.game import Array
from cardlab.games.koi_koi.rules import START

POINTS = 10.0  # points that make a reward of 1
BEYOND = (36, 45, 60)
OUTCOMES = np.array([*(-gain for gain in BEYOND[::-1]), *range(-START, START + 1), *BEYOND])


def look_up(table: Array, left: Any, deals: Any, lead: Any) -> Array:
    """Return the probability to win with so many rounds left."""
    return table[left, deals, np.clip(lead, -START, START) + START]


def two_hot(gains: Array) -> Array:
    """Return gains as shares of the two nearest of `OUTCOMES`; the shares keep the mean."""
    gains = np.clip(gains, OUTCOMES[0], OUTCOMES[-1])
    above = np.clip(np.searchsorted(OUTCOMES, gains), 1, len(OUTCOMES) - 1)
    low, high = OUTCOMES[above - 1], OUTCOMES[above]
    share = (gains - low) / (high - low)
    found = np.zeros((*np.shape(gains), len(OUTCOMES)), dtype=np.float32)
    np.put_along_axis(found, above[..., None], share[..., None], axis=-1)
    np.put_along_axis(found, above[..., None] - 1, 1.0 - share[..., None], axis=-1)
    return found
