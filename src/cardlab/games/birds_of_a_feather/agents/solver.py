"""Agents that play Birds of a Feather by solving it. All cards lie open, so this is fair.

Each can plan a whole deal at once and say how many nodes that took, so that a tournament compares
searches by nodes and time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from cardlab.agents.heuristic import Heuristic
from cardlab.engine.game import OVER, Array, State, Turn
from cardlab.games.birds_of_a_feather.solvers.solver import Scratch, settle_at, solve


class Solver:
    """Plays a solution wherever there is one, otherwise by the heuristic."""

    name = "solver"

    def act(self, turn: Turn, rng: np.random.Generator) -> int:
        """Return the first move of a solution; without one, what the heuristic prefers."""
        memory = Scratch.new()
        if settle_at(turn.view.array, 0, memory):
            return int(memory.levels[0].move)
        return Heuristic().act(turn, rng)

    def values(self, turn: Turn, rng: np.random.Generator) -> Array:
        """Return 1 for every legal action that leaves a position with a solution, otherwise -1."""
        memory = Scratch.new()
        values = np.full(len(turn.legal), -1.0)
        if not settle_at(turn.view.array, 0, memory):
            return values  # one proof instead of one for every action
        for place, action in enumerate(turn.legal):
            after = turn.view.array.copy()
            turn.game.bindings.apply(after, 0, int(action))
            if settle_at(after, 0, memory):
                values[place] = 1.0
        return values

    def plan(self, turn: Turn, rng: np.random.Generator) -> tuple[list[int], int]:
        """Return a solution, or what a game by the heuristic, and the nodes searched."""
        found = solve(State(turn.game, turn.view.array))
        return _to_the_end(turn, found.actions, rng), found.nodes


@dataclass(frozen=True)
class PaperSearch:
    """Plays what one of the paper's searches finds, otherwise by the heuristic."""

    search: str
    name: str

    def act(self, turn: Turn, rng: np.random.Generator) -> int:
        """Return the first move of what the search finds."""
        return self.plan(turn, rng)[0][0]

    def plan(self, turn: Turn, rng: np.random.Generator) -> tuple[list[int], int]:
        """Return a solution, or what a game by the heuristic, and the nodes searched."""
        from cardlab.games.birds_of_a_feather.solvers.paper_searches import run

        found = run(self.search, State(turn.game, turn.view.array))
        return _to_the_end(turn, found.actions, rng), found.nodes


def _to_the_end(turn: Turn, actions: tuple[int, ...] | None, rng: np.random.Generator) -> list[int]:
    """Return a solution as it is; without one, a game by the heuristic."""
    if actions is not None:
        return list(actions)
    state, taken = State(turn.game, turn.view.array.copy()), []
    while state.mover != OVER:
        now = Turn(turn.game, 0, state.view(0), state.legal())
        taken.append(Heuristic().act(now, rng))
        turn.game.bindings.apply(state.array, 0, taken[-1])
    return taken


def _maker(search: str) -> Callable[[], PaperSearch]:
    return lambda: PaperSearch(search, f"search_{search}")


search_dfs = _maker("dfs")
search_lr = _maker("lr")
search_lr_dfs = _maker("lr_dfs")
search_evolved = _maker("evolved")
