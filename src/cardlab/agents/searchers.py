"""Agents that search: they know a game only through its kernels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cardlab.game import Array, State, Turn
from cardlab.search import monte_carlo, uct

__all__ = ["MonteCarlo", "UctOpen"]


@dataclass(frozen=True)
class MonteCarlo:
    """Tries every action in imagined worlds, plays each out at random and takes the best mean."""

    playouts: int = 1000
    name: str = "monte_carlo"

    def act(self, turn: Turn, rng: np.random.Generator) -> int:
        """Return the action with the best mean return."""
        if len(turn.legal) == 1:
            return int(turn.legal[0])
        return int(turn.legal[np.argmax(self.values(turn, rng))])

    def values(self, turn: Turn, rng: np.random.Generator) -> Array:
        """Return the mean return of every legal action."""
        return monte_carlo.evaluate(turn, self.playouts, rng)


@dataclass(frozen=True)
class UctOpen:
    """Grows a tree over the true state: it sees every hand and the order of the stock."""

    simulations: int = 1000
    c: float = 1.4
    name: str = "uct_open"

    def act_open(self, state: State, rng: np.random.Generator) -> int:
        """Return the action most visited, of equals the one valued more."""
        legal = state.legal()
        if len(legal) == 1:
            return int(legal[0])
        visits, values = uct.search(state, self.simulations, rng, c=self.c)
        return int(legal[np.lexsort((values, visits))[-1]])
