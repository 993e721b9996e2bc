"""Agents that search: they know a game only through its kernels and its rules of thumb."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from cardlab.game import Array, Game, State, Turn
from cardlab.search import alpha_beta, information_set, monte_carlo, uct

__all__ = [
    "AlphaBetaPointsOpen",
    "AlphaBetaWinsOpen",
    "Fair",
    "InformationSet",
    "MonteCarlo",
    "UctOpen",
]


@dataclass(frozen=True)
class MonteCarlo:
    """Tries every action in imagined worlds, plays each out at random and takes the best mean."""

    playouts: int = 1000
    name: str = "monte_carlo"

    def act(self, turn: Turn, rng: np.random.Generator) -> int:
        """Return the action with the best mean return."""
        return _best(turn, lambda: self.values(turn, rng))

    def values(self, turn: Turn, rng: np.random.Generator) -> Array:
        """Return the mean return of every legal action."""
        return monte_carlo.evaluate(turn, max(1, self.playouts // len(turn.legal)), rng)


@dataclass(frozen=True)
class Fair:
    """Flat Monte Carlo with sensible play-outs and worlds in which the others acted sensibly."""

    worlds: int = 1000
    name: str = "fair"

    def act(self, turn: Turn, rng: np.random.Generator) -> int:
        """Return the action with the best mean return."""
        return _best(turn, lambda: self.values(turn, rng))

    def values(self, turn: Turn, rng: np.random.Generator) -> Array:
        """Return the mean return of every legal action."""
        thumb = _rules_of_thumb(turn.game)
        return monte_carlo.evaluate(
            turn,
            self.worlds,
            rng,
            policy=thumb.choose_loosely,
            plausibility=thumb.plausibility,
        )


@dataclass(frozen=True)
class InformationSet:
    """Grows one tree over imagined worlds by the actions that are legal in each."""

    iterations: int = 1000
    c: float = 1.0
    name: str = "information_set"

    def act(self, turn: Turn, rng: np.random.Generator) -> int:
        """Return the action most visited, of equals the one valued more."""
        if len(turn.legal) == 1:
            return int(turn.legal[0])
        visits, values = information_set.search(turn, self.iterations, rng, c=self.c)
        return int(turn.legal[np.lexsort((values, visits))[-1]])

    def values(self, turn: Turn, rng: np.random.Generator) -> Array:
        """Return the mean return of every legal action."""
        return information_set.search(turn, self.iterations, rng, c=self.c)[1]


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


@dataclass(frozen=True)
class AlphaBetaPointsOpen:
    """Looks some plies ahead on the true state and values what it finds by cards in hand."""

    depth: int = 4
    name: str = "alpha_beta_points_open"

    def act_open(self, state: State, rng: np.random.Generator) -> int:
        """Return the action with the best value, of equals the first."""
        worth = _rules_of_thumb(state.game).worth
        return int(state.legal()[np.argmax(alpha_beta.evaluate(state, self.depth, utility=worth))])


@dataclass(frozen=True)
class AlphaBetaWinsOpen:
    """Looks some plies ahead on the true state and values only wins, losses and ties."""

    depth: int = 4
    name: str = "alpha_beta_wins_open"

    def act_open(self, state: State, rng: np.random.Generator) -> int:
        """Return the action with the best value, of equals the first."""
        return int(state.legal()[np.argmax(alpha_beta.evaluate(state, self.depth))])


def _best(turn: Turn, values: Any) -> int:
    """Return the best of several actions, or the only one without thinking."""
    if len(turn.legal) == 1:
        return int(turn.legal[0])
    return int(turn.legal[np.argmax(values())])


def _rules_of_thumb(game: Game) -> Any:
    return import_module(f"cardlab.agents.heuristics.{game.name}")
