"""The agent that plays Birds of a Feather by solving it: everything lies open, so this is fair."""

from __future__ import annotations

import numpy as np

from cardlab.agents.rule_based import Heuristic
from cardlab.game import Array, Turn
from cardlab.solvers.birds_of_a_feather import Memory, settle_at

__all__ = ["Solver"]


class Solver:
    """Plays a solution wherever there is one, otherwise by the rules of thumb."""

    name = "solver"

    def act(self, turn: Turn, rng: np.random.Generator) -> int:
        """Return the first move of a solution; without one, what the rules of thumb prefer."""
        memory = Memory.of()
        if settle_at(turn.view.array, 0, memory):
            return int(memory.levels[0].move)
        return Heuristic().act(turn, rng)

    def values(self, turn: Turn, rng: np.random.Generator) -> Array:
        """Return 1 for every legal action that leaves a position with a solution, otherwise -1."""
        memory = Memory.of()
        values = np.full(len(turn.legal), -1.0)
        if not settle_at(turn.view.array, 0, memory):
            return values  # one proof instead of one for every action
        for place, action in enumerate(turn.legal):
            after = turn.view.array.copy()
            turn.game.border.apply(after, 0, int(action))
            if settle_at(after, 0, memory):
                values[place] = 1.0
        return values
