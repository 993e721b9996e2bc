"""An agent that solves a small game when it first meets it, and plays the equilibrium."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Array, Game, Turn
from cardlab.learning.cfr import CfrSolver
from cardlab.learning.game_tree import build_tree

__all__ = ["CfrAgent"]

Table = dict[tuple[int, bytes], dict[int, float]]


class CfrAgent:
    """Plays the average strategy of CFR+, solved for the default options of the game."""

    def __init__(self, iterations: int = 1000, name: str = "cfr") -> None:
        self.iterations, self.name = iterations, name

    def act(self, turn: Turn, rng: np.random.Generator) -> int:
        """Return an action, sampled from the strategy."""
        return int(rng.choice(turn.legal, p=self.policy(turn)))

    def policy(self, turn: Turn) -> Array:
        """Return the probability of every legal action."""
        known = _solve(turn.game, self.iterations)
        shares = known.get((turn.seat, turn.view.array.tobytes()))
        if shares is None:
            raise CardlabError(
                f"{self.name} does not know this position of {turn.game.name}; it plays the "
                "default options only"
            )
        chances: Array = np.array([shares[int(action)] for action in turn.legal])
        return chances / chances.sum()


@functools.lru_cache(maxsize=8)
def _solve(game: Game, iterations: int) -> Table:
    """Return the strategy of every information set, by seat and view."""
    tree = build_tree(game)
    if len(set(tree.infosets)) != len(tree.infosets):
        raise CardlabError(
            f"the views of {game.name} do not show all that a seat has done, which an agent "
            "without memory needs; let the record keep it"
        )
    average: Any = CfrSolver(tree).run(iterations).average()
    return tree.table(average)
