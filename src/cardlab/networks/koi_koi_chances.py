"""What the end of a round of Koi-Koi is worth: in points, or as the chance to win the game.

A table of chances is P(win) by (rounds left, I deal, lead over the start + 30); a lead of 30 or
more has won. `ENDS` are the gains by which networks tell the ends of a round apart: every small
one, and some large ones, between which other gains are shared out so that their mean stays.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cardlab.game import Array
from cardlab.games.koi_koi import START
from cardlab.games.koi_koi_table import MOST_ROUNDS

__all__ = ["ENDS", "POINTS", "look_up", "share_out", "worths"]

POINTS = 10.0  # points that make a reward of 1
LARGE = (14, 17, 22, 30, 42, 60)
ENDS = np.array([sign * gain for sign in (-1, 1) for gain in (*range(1, 13), *LARGE)] + [0])
ENDS.sort()


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


def worths(table: Array | None) -> Array:
    """Return what each of `ENDS` is worth by (rounds left with this one, lead + 30).

    With a table of chances that is the expected return, -1 to 1; without one, tens of points.
    """
    leads = np.arange(-START, START + 1)
    found = np.broadcast_to(ENDS / POINTS, (MOST_ROUNDS + 1, len(leads), len(ENDS))).copy()
    if table is not None:
        for left in range(1, MOST_ROUNDS + 1):
            # The winner of a round deals the next one; after a round that nobody won, who knows.
            deals = [look_up(table, left - 1, mine, leads[:, None] + ENDS) for mine in (0, 1)]
            chance = np.where(ENDS == 0, (deals[0] + deals[1]) / 2, deals[0])
            found[left] = 2.0 * np.where(ENDS > 0, deals[1], chance) - 1.0
    return found
