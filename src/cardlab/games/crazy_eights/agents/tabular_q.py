"""The agent that plays a learned table of Crazy Eights; `learning.tabular_q` makes one."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from os import PathLike
from typing import Any

import numpy as np

from cardlab.engine.arguments import read_path
from cardlab.engine.array_files import load_array
from cardlab.engine.game import Array, Turn, Turns
from cardlab.engine.kernel import bit, int64, kernel
from cardlab.games.crazy_eights import PACKAGE
from cardlab.games.crazy_eights.features import (
    NUM_CHOICES,
    NUM_STATES,
    action_of,
    choices,
    state_index,
)
from cardlab.games.crazy_eights.rules import PASS

__all__ = ["TabularQ", "best_choice", "load_table"]


@kernel
def best_choice(q: Any, state: int, possible: int) -> int:
    """Return the possible choice with the highest value, the first in a tie."""
    best = int64(-1)
    for choice in range(NUM_CHOICES):
        if possible & bit(choice) and (best < 0 or q[state, choice] > q[state, best]):
            best = int64(choice)
    return best


@kernel
def choose(s: Any, seat: int, q: Any) -> int:
    """Return the action that the table values most; to pass where nothing can be played."""
    possible = choices(s, seat)
    if possible == 0:
        return PASS
    return action_of(s, seat, best_choice(q, state_index(s, seat), possible))


@kernel
def choose_all(views: Any, seats: Any, q: Any, out: Any) -> None:
    """Write the chosen action of every turn."""
    for row in range(len(views)):
        out[row] = choose(views[row], seats[row], q)


def load_table(path: str | PathLike[str]) -> Array:
    """Return the table in an npz file."""
    shape, what = (NUM_STATES, NUM_CHOICES), "table of Q values"
    return load_array(read_path(path, "table"), "q", shape, what).astype(np.float64)


@functools.cache
def shipped_table() -> Array:
    """Return the table that comes with the package."""
    return load_table(PACKAGE.shipped("tabular_q.npz"))


class TabularQ:
    """Takes the action that a table learned from self-play values most."""

    def __init__(self, table: str | PathLike[str] | None = None, name: str = "tabular_q") -> None:
        """Take the shipped table, or the one in a file."""
        self.name = name
        self.q = shipped_table() if table is None else load_table(table)

    def act(self, turn: Turn, rng: np.random.Generator) -> int:
        """Return the action of the greatest value."""
        out = np.empty(1, dtype=np.int64)
        choose_all(turn.view.array, np.array([turn.seat]), self.q, out)
        return int(out[0]) if out[0] in turn.legal else int(turn.legal[0])

    def act_many(self, turns: Turns, rngs: Sequence[np.random.Generator]) -> Array:
        """Return the action of the greatest value for every turn."""
        out = np.empty(len(turns), dtype=np.int64)
        choose_all(turns.views, turns.seats, self.q, out)
        rows = np.arange(len(turns))
        return np.where(turns.mask[rows, out], out, turns.mask.argmax(axis=1))
