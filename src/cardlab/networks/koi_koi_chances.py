"""The chance to win a game of Koi-Koi, as a table: what the end of a round is worth.

A table is P(win) by (rounds left, I deal, lead over the start + 30); a lead of 30 or more has won.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cardlab.game import Array
from cardlab.games.koi_koi import START

__all__ = ["look_up", "stakes"]

GAINS = np.array([2, 5, 8, 14, 25])  # points of rounds, won or lost, by which stakes are measured
LEAST = 0.1  # stakes where the game is as good as over


def look_up(table: Array, left: Any, deals: Any, lead: Any) -> Array:
    """Return the probability to win with so many rounds left."""
    return table[left, deals, np.clip(lead, -START, START) + START]


def stakes(table: Array, left: Any, deals: Any, lead: Any) -> tuple[Array, Array]:
    """Return what a round begins with, and what rounds usually change there, both of a return.

    `left` counts the round itself. Networks that learned with `level` say what an action changes in
    units of the second, so that a round early in the game teaches as much as the last.
    """
    begins = 2.0 * look_up(table, left, deals, lead) - 1.0
    then, lead = np.asarray(left)[..., None] - 1, np.asarray(lead)[..., None]
    won, lost = look_up(table, then, 1, lead + GAINS), look_up(table, then, 0, lead - GAINS)
    changes = 2.0 * np.concatenate([won, lost], axis=-1) - 1.0 - np.asarray(begins)[..., None]
    return begins, np.maximum(np.sqrt((changes**2).mean(-1)), LEAST)
