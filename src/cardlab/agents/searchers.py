"""Agents that search: they know a game only through its kernels, rules of thumb and solvers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from cardlab.game import Array, Game, State, Turn
from cardlab.search import alpha_beta, determinised, information_set, monte_carlo, uct
from cardlab.solvers import crazy_eights as crazy_eights_solver

__all__ = [
    "AlphaBetaPointsOpen",
    "AlphaBetaWinsOpen",
    "Determinised",
    "Fair",
    "InformationSet",
    "MonteCarlo",
    "MonteCarloOpen",
    "OracleOpen",
    "UctOpen",
]

FEW_NODES = 50_000  # what a determinised search spends on solving one world


@dataclass(frozen=True)
class MonteCarlo:
    """Tries every action in imagined worlds, plays each out at random and takes the best mean."""

    playouts: int = 1000
    threads: int = 1
    name: str = "monte_carlo"

    def act(self, turn: Turn, rng: np.random.Generator) -> int:
        """Return the action with the best mean return."""
        return _best(turn.legal, lambda: (self.values(turn, rng),))

    def values(self, turn: Turn, rng: np.random.Generator) -> Array:
        """Return the mean return of every legal action."""
        worlds = max(1, self.playouts // len(turn.legal))
        return monte_carlo.evaluate(turn, worlds, rng, threads=self.threads)[1]


@dataclass(frozen=True)
class Fair:
    """Flat Monte Carlo with sensible play-outs and worlds in which the others acted sensibly."""

    worlds: int = 2000
    threads: int = 1
    name: str = "fair"

    def act(self, turn: Turn, rng: np.random.Generator) -> int:
        """Return the best of the actions that were tried most."""
        return _best(turn.legal, lambda: self._evaluate(turn, rng))

    def values(self, turn: Turn, rng: np.random.Generator) -> Array:
        """Return the mean return of every legal action."""
        return self._evaluate(turn, rng)[1]

    def _evaluate(self, turn: Turn, rng: np.random.Generator) -> tuple[Array, Array]:
        thumb = _rules_of_thumb(turn.game)
        return monte_carlo.evaluate(
            turn,
            self.worlds,
            rng,
            policy=thumb.choose_loosely,
            plausibility=thumb.plausibility,
            halving=True,
            threads=self.threads,
        )


@dataclass(frozen=True)
class InformationSet:
    """Grows a tree over imagined worlds by the actions that are legal in each."""

    iterations: int = 1000
    c: float = 1.0
    trees: int = 1
    threads: int = 1
    name: str = "information_set"

    def act(self, turn: Turn, rng: np.random.Generator) -> int:
        """Return the action most visited, of equals the one valued more."""
        return _best(turn.legal, lambda: self._search(turn, rng))

    def values(self, turn: Turn, rng: np.random.Generator) -> Array:
        """Return the mean return of every legal action."""
        return self._search(turn, rng)[1]

    def _search(self, turn: Turn, rng: np.random.Generator) -> tuple[Array, Array]:
        return information_set.search(
            turn, self.iterations, rng, c=self.c, trees=self.trees, threads=self.threads
        )


@dataclass(frozen=True)
class Determinised:
    """Judges imagined worlds with all cards open: solved, or searched to a depth."""

    worlds: int = 30
    depth: int = 0
    threads: int = 1
    name: str = "determinised"

    def act(self, turn: Turn, rng: np.random.Generator) -> int:
        """Return the action with the best mean, of equals the first."""
        return _best(turn.legal, lambda: (self.values(turn, rng),))

    def values(self, turn: Turn, rng: np.random.Generator) -> Array:
        """Return the mean worth of every legal action."""
        return determinised.evaluate(turn, self.worlds, rng, self._judge, threads=self.threads)

    def _judge(self, world: State) -> Array:
        if self.depth == 0 and crazy_eights_solver.solves(world):
            memory = crazy_eights_solver.Memory.of(bits=16)
            found = crazy_eights_solver.solve(world, limit=FEW_NODES, memory=memory)
            if found:
                return found.values
        return alpha_beta.evaluate(world, self.depth or 8, table_bits=12)


@dataclass(frozen=True)
class MonteCarloOpen:
    """Plays every action out at random from the true state: it sees all cards."""

    playouts: int = 1000
    name: str = "monte_carlo_open"

    def act_open(self, state: State, rng: np.random.Generator) -> int:
        """Return the action with the best mean return."""
        return _best(state.legal(), lambda: (monte_carlo.evaluate_open(state, self.playouts, rng),))


@dataclass(frozen=True)
class UctOpen:
    """Grows a tree over the true state: it sees every hand and the order of the stock."""

    simulations: int = 1000
    c: float = 1.4
    trees: int = 1
    threads: int = 1
    name: str = "uct_open"

    def act_open(self, state: State, rng: np.random.Generator) -> int:
        """Return the action most visited, of equals the one valued more."""
        return _best(
            state.legal(),
            lambda: uct.search(
                state, self.simulations, rng, c=self.c, trees=self.trees, threads=self.threads
            ),
        )


@dataclass(frozen=True)
class OracleOpen:
    """Solves the true state; of actions alike by best play, tree search finds the trickiest.

    Rules that the solver does not know are left to the tree search alone.
    """

    simulations: int = 1000
    name: str = "oracle_open"

    def act_open(self, state: State, rng: np.random.Generator) -> int:
        """Return an action that no other one beats, whatever the other seat does."""
        legal = state.legal()
        if len(legal) == 1:
            return int(legal[0])
        worth = np.zeros(len(legal))
        if crazy_eights_solver.solves(state):
            found = crazy_eights_solver.solve(state, all_exact=False)
            assert found  # without a limit there is always an answer
            worth = found.values
            if worth.max() == 1:
                return int(legal[np.argmax(worth)])
        visits, values = uct.search(state, self.simulations, rng)
        return int(legal[np.lexsort((values, visits, worth))[-1]])


@dataclass(frozen=True)
class AlphaBetaPointsOpen:
    """Looks some plies ahead on the true state and values what it finds by cards in hand."""

    depth: int = 4
    name: str = "alpha_beta_points_open"

    def act_open(self, state: State, rng: np.random.Generator) -> int:
        """Return the action with the best value, of equals the first."""
        worth = _rules_of_thumb(state.game).worth
        return _best(
            state.legal(), lambda: (alpha_beta.evaluate(state, self.depth, utility=worth),)
        )


@dataclass(frozen=True)
class AlphaBetaWinsOpen:
    """Looks some plies ahead on the true state and values only wins, losses and ties."""

    depth: int = 4
    name: str = "alpha_beta_wins_open"

    def act_open(self, state: State, rng: np.random.Generator) -> int:
        """Return the action with the best value, of equals the first."""
        return _best(state.legal(), lambda: (alpha_beta.evaluate(state, self.depth),))


def _best(legal: Array, think: Callable[[], tuple[Array, ...]]) -> int:
    """Return the best of several actions, or the only one without thinking.

    What is thought is one value for each action, or visits and values: visits then come first.
    """
    if len(legal) == 1:
        return int(legal[0])
    ranks = think()
    if len(ranks) == 1:
        return int(legal[np.argmax(ranks[0])])
    return int(legal[np.lexsort((ranks[1], ranks[0]))[-1]])


def _rules_of_thumb(game: Game) -> Any:
    return import_module(f"cardlab.agents.heuristics.{game.name}")
