"""Agents that search in Uno: `guided` knows what its seat has seen, the others know more.

All of them try every action in the same worlds, play each out fast and drop the worse half of the
actions again and again; they differ only in what they know. The steps are named
in `LADDER`, so that what hidden knowledge is worth can be measured by matches of one search.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from cardlab.engine.game import Array, State, Turn
from cardlab.games.uno.agents.network import uno_net
from cardlab.games.uno.playouts import play_out_random, play_out_sensible
from cardlab.games.uno.worlds import ALL, HANDS, UNION, Decision, Evaluation, evaluate

LADDER = (  # agents by what they know, each more than the one before
    ("guided", "its seat"),
    ("uno_union_open", "the union of the other hands"),
    ("uno_hands_open", "every hand"),
    ("uno_deck_open", "every hand and the order of the stock"),
)

BELIEF_IN_NETWORK = 1000  # worlds that its values count for
PLAY_OUTS = (play_out_random, play_out_sensible)  # by the parameter `others`


@dataclass(frozen=True)
class Guided:
    """Flat Monte Carlo with fast, sensible play-outs and a model of the other seats."""

    playouts: int = 3000
    others: int = 0
    threads: int = 1
    name: str = "guided"

    def act(self, turn: Turn, rng: np.random.Generator) -> int:
        """Return the best of the actions that were tried most."""
        return _best(turn.legal, lambda: self._evaluate(turn, rng))

    def values(self, turn: Turn, rng: np.random.Generator) -> Array:
        """Return the mean return of every legal action."""
        return self._evaluate(turn, rng).means

    def _evaluate(self, turn: Turn, rng: np.random.Generator) -> Evaluation:
        decision = Decision(turn.view.array, turn.seat, turn.legal)
        play_out = PLAY_OUTS[self.others]
        return evaluate(decision, self.playouts, rng, play_out, threads=self.threads)


@dataclass(frozen=True)
class UnoSearch:
    """The same search with a network: what `uno_net` expects of an action counts as worlds."""

    playouts: int = 4000
    others: int = 0
    threads: int = 1
    name: str = "uno_search"

    def act(self, turn: Turn, rng: np.random.Generator) -> int:
        """Return the best of the actions that were tried most."""
        return _best(turn.legal, lambda: self._evaluate(turn, rng, uno_net().values(turn, rng)))

    def values(self, turn: Turn, rng: np.random.Generator) -> Array:
        """Return what network and play-outs together expect of every legal action."""
        network = uno_net().values(turn, rng)
        found = self._evaluate(turn, rng, network)
        both = found.tried * found.means + BELIEF_IN_NETWORK * network
        values: Array = both / (found.tried + BELIEF_IN_NETWORK)
        return values

    def _evaluate(self, turn: Turn, rng: np.random.Generator, network: Array) -> Evaluation:
        return evaluate(
            Decision(turn.view.array, turn.seat, turn.legal),
            self.playouts,
            rng,
            PLAY_OUTS[self.others],
            opinion=network,
            belief=BELIEF_IN_NETWORK,
            threads=self.threads,
        )


@dataclass(frozen=True)
class UnoOpen:
    """The same search on worlds that agree with more than its seat knows, and so a cheat."""

    knows: int
    name: str
    playouts: int = 3000
    others: int = 0
    threads: int = 1

    def act_open(self, state: State, rng: np.random.Generator) -> int:
        """Return the best of the actions that were tried most."""
        decision = Decision(state.array, state.mover, state.legal(), self.knows)
        play_out = PLAY_OUTS[self.others]
        return _best(
            decision.actions,
            lambda: evaluate(decision, self.playouts, rng, play_out, threads=self.threads),
        )


def uno_union_open(name: str = "uno_union_open", **budget: int) -> UnoOpen:
    """Return the search that knows which cards the other hands hold together, as the paper's."""
    return UnoOpen(UNION, name, **budget)


def uno_hands_open(name: str = "uno_hands_open", **budget: int) -> UnoOpen:
    """Return the search that knows every hand, but not the order of the stock."""
    return UnoOpen(HANDS, name, **budget)


def uno_deck_open(name: str = "uno_deck_open", **budget: int) -> UnoOpen:
    """Return the search that knows every hand and the order of the stock."""
    return UnoOpen(ALL, name, **budget)


def _best(legal: Array, think: Callable[[], Evaluation]) -> int:
    """Return the best of the actions tried most, or the only one without thinking."""
    return int(legal[think().best]) if len(legal) > 1 else int(legal[0])
