"""Agents that search any game through its kernels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from cardlab.engine.game import Array, State, Turn
from cardlab.search import information_set, monte_carlo, uct

__all__ = ["InformationSet", "MonteCarlo", "MonteCarloOpen", "UctOpen", "best_action"]


@dataclass(frozen=True)
class MonteCarlo:
    """Monte Carlo: plays every action out at random in sampled worlds and takes the best mean."""

    playouts: int = 1000
    threads: int = 1
    name: str = "monte_carlo"

    def act(self, turn: Turn, rng: np.random.Generator) -> int:
        """Return the action with the best mean return."""
        return best_action(turn.legal, lambda: (self.values(turn, rng),))

    def values(self, turn: Turn, rng: np.random.Generator) -> Array:
        """Return the mean return of every legal action."""
        worlds = max(1, self.playouts // len(turn.legal))
        return monte_carlo.evaluate(turn, worlds, rng, threads=self.threads)[1]


@dataclass(frozen=True)
class InformationSet:
    """Information-set MCTS: one tree over sampled worlds (determinizations)."""

    iterations: int = 1000
    c: float = 1.0
    trees: int = 1
    threads: int = 1
    name: str = "information_set"

    def act(self, turn: Turn, rng: np.random.Generator) -> int:
        """Return the action with the most visits; ties go to the higher mean."""
        return best_action(turn.legal, lambda: self._search(turn, rng))

    def values(self, turn: Turn, rng: np.random.Generator) -> Array:
        """Return the mean return of every legal action."""
        return self._search(turn, rng)[1]

    def _search(self, turn: Turn, rng: np.random.Generator) -> tuple[Array, Array]:
        return information_set.search(
            turn, self.iterations, rng, c=self.c, trees=self.trees, threads=self.threads
        )


@dataclass(frozen=True)
class MonteCarloOpen:
    """Monte Carlo on the true state: plays every action out at random and sees all cards."""

    playouts: int = 1000
    name: str = "monte_carlo_open"

    def act_open(self, state: State, rng: np.random.Generator) -> int:
        """Return the action with the best mean return."""
        return best_action(
            state.legal(), lambda: (monte_carlo.evaluate_open(state, self.playouts, rng),)
        )


@dataclass(frozen=True)
class UctOpen:
    """UCT on the true state: it sees every hand and the order of the stock."""

    simulations: int = 1000
    c: float = 1.4
    trees: int = 1
    threads: int = 1
    name: str = "uct_open"

    def act_open(self, state: State, rng: np.random.Generator) -> int:
        """Return the action with the most visits; ties go to the higher mean."""
        return best_action(
            state.legal(),
            lambda: uct.search(
                state, self.simulations, rng, c=self.c, trees=self.trees, threads=self.threads
            ),
        )


def best_action(legal: Array, search: Callable[[], tuple[Array, ...]]) -> int:
    """Return the best of several actions, or a single action without a search.

    `search` returns one value for each action, or visits and values: visits then count first.
    """
    if len(legal) == 1:
        return int(legal[0])
    ranks = search()
    if len(ranks) == 1:
        return int(legal[np.argmax(ranks[0])])
    return int(legal[np.lexsort((ranks[1], ranks[0]))[-1]])
