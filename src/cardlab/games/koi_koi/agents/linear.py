"""The linear policy of Koi-Koi as an agent; `learning.linear` distils it from networks."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cardlab.engine.array_files import load_array
from cardlab.engine.game import Array, Turn, Turns
from cardlab.engine.kernel import int64, kernel
from cardlab.games.koi_koi import PACKAGE
from cardlab.games.koi_koi.linear import NUM_TERMS
from cardlab.games.koi_koi.playouts import Scratch, choose

TABLE = "koi_koi_linear"


@kernel
def choose_all(views: Any, seats: Any, weights: Any, scratch: Any, out: Any) -> None:
    """Write the chosen action of every turn."""
    for row in range(len(views)):
        out[row] = choose(views[row], int64(seats[row]), weights, scratch)


def load_weights(path: Path) -> Array:
    """Return the weights in an npz file."""
    return load_array(path, "weights", (NUM_TERMS,), "weights of terms").astype(np.float64)


@functools.cache
def shipped_weights() -> Array:
    """Return the weights that come with the package."""
    return load_weights(PACKAGE.shipped("linear.npz"))


class KoiKoiLinear:
    """Takes the action for which the learned terms add up to most."""

    def __init__(self, table: Path | str | None = None, name: str = TABLE) -> None:
        """Take the shipped weights, or those in a file."""
        self.name = name
        self.weights = shipped_weights() if table is None else load_weights(Path(table))

    def act(self, turn: Turn, rng: np.random.Generator) -> int:
        """Return the action of the greatest sum."""
        return int(self._choose(turn.view.array, np.array([turn.seat]))[0])

    def act_many(self, turns: Turns, rngs: Sequence[np.random.Generator]) -> Array:
        """Return the action of the greatest sum for every turn."""
        return self._choose(turns.views, turns.seats)

    def _choose(self, views: Array, seats: Array) -> Array:
        out = np.empty(len(views), dtype=np.int64)
        choose_all(views, seats, self.weights, Scratch.new(), out)
        return out
