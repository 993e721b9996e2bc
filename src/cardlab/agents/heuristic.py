"""The agent that follows the heuristic that a game's manifest names."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cardlab.engine.game import Array, Game, Turn, Turns
from cardlab.engine.kernel import short_kernel
from cardlab.engine.manifest import load
from cardlab.engine.registry import package_of

__all__ = ["Heuristic"]


class Heuristic:
    """An agent that follows the heuristic of the game."""

    name = "heuristic"

    def act(self, turn: Turn, rng: np.random.Generator) -> int:
        """Return the action that the heuristic prefers."""
        return int(_make(turn.game)[0](turn.view.array, 0, turn.seat, turn.legal))

    def act_many(self, turns: Turns, rngs: Sequence[np.random.Generator]) -> Array:
        """Return the preferred action of every turn."""
        out = np.empty(len(turns), dtype=np.int64)
        buffer = np.empty(turns.game.num_actions, dtype=np.int16)
        _make(turns.game)[1](turns.views, turns.seats, turns.mask, buffer, out)
        return out


@functools.cache
def _make(game: Game) -> tuple[Callable[..., int], Callable[..., None]]:
    choose = load(package_of(game).heuristic).choose

    @short_kernel
    def choose_at(views: Any, row: int, seat: int, actions: Any) -> int:
        return choose(views[row], seat, actions, len(actions))

    @short_kernel
    def choose_all(views: Any, seats: Any, mask: Any, buffer: Any, out: Any) -> None:
        for row in range(len(views)):
            count = 0
            for action in range(mask.shape[1]):
                if mask[row, action]:
                    buffer[count] = action
                    count += 1
            out[row] = choose(views[row], seats[row], buffer, count)

    return choose_at, choose_all
