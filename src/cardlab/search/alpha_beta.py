"""Alpha-beta on a state that is fully known, for one seat or two with opposite aims.

A utility kernel values finished games and those where the depth ends. Where the game offers a `key`
(equal for states with the same future), results are kept in a table and reused in every order of
moves that leads to the same place; without one every line is searched. The search is a loop over an
explicit stack: kernels neither recurse nor allocate. The dealer ends a line; chance is not
searched.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from cardlab.engine.arguments import read_count, read_kind
from cardlab.engine.game import Array, Game, State
from cardlab.engine.kernel import int64, kernel

__all__ = ["Scratch", "Utility", "evaluate", "make_solver"]

Utility = Callable[[Any, int], float]  # state, seat -> worth for this seat

EXACT, AT_LEAST, AT_MOST = 0, 1, 2
INFINITE = 1e30


class Scratch(NamedTuple):
    """Memory that a search works in: an entry for each level, and a table of results."""

    stack: Array  # states by level
    moves: Array  # action ids by level
    counts: Array  # number of moves by level
    tried: Array  # moves tried by level
    bounds: Array  # alpha, beta, best value, alpha and beta on entry
    keys: Array  # of the states by level
    table_keys: Array  # of the transposition table
    table_values: Array  # likewise
    table_info: Array  # depth and kind of bound, likewise

    @classmethod
    def of(cls, game: Game, depth: int, table_bits: int = 16) -> Scratch:
        """Return the memory for a search of this depth; the table has 2**table_bits entries."""
        levels, size = depth + 2, 1 << table_bits
        return cls(
            np.empty(levels, dtype=game.state),
            np.empty((levels, game.num_actions), dtype=np.int16),
            np.empty(levels, dtype=np.int64),
            np.empty(levels, dtype=np.int64),
            np.empty((levels, 5)),
            np.empty(levels, dtype=np.int64),
            np.zeros(size, dtype=np.int64),
            np.zeros(size),
            np.zeros(size, dtype=np.int32),
        )


@kernel
def no_key(s: Any) -> int:
    """Return 0, which is no state's key."""
    return 0


@functools.cache
def make_solver(game: Game, utility: Utility | None = None) -> Callable[..., float]:
    """Return the kernel that values the state in `scratch.stack[0]` for a seat.

    Without a utility a state is worth what its game returns.
    """
    mover, legal, apply = game.mover, game.legal, game.apply
    value_of = utility or game.returns
    key_of = game.key or no_key

    @kernel
    def solve(seat: int, depth: int, alpha: float, beta: float, scratch: Any) -> float:
        stack, moves, counts, tried, bounds, keys, table_keys, table_values, table_info = scratch
        mask = len(table_keys) - 1
        level = 0
        bounds[0, 0] = alpha
        bounds[0, 1] = beta
        entering = True
        value = 0.0
        while True:
            s = stack[level]
            who = mover(s)
            leaving = False
            if entering:
                if who < 0 or level == depth:
                    value = value_of(s, seat)
                    leaving = True
                else:
                    key = key_of(s)
                    keys[level] = key
                    slot = key & mask
                    if key and table_keys[slot] == key and table_info[slot] >> 2 >= depth - level:
                        kind = table_info[slot] & 3
                        known = table_values[slot]
                        if (
                            kind == EXACT
                            or (kind == AT_LEAST and known >= bounds[level, 1])
                            or (kind == AT_MOST and known <= bounds[level, 0])
                        ):
                            value = known
                            leaving = True
                    if not leaving:
                        counts[level] = legal(s, moves[level])
                        tried[level] = 0
                        bounds[level, 2] = -INFINITE if who == seat else INFINITE
                        bounds[level, 3] = bounds[level, 0]
                        bounds[level, 4] = bounds[level, 1]
            if not leaving and (
                tried[level] == counts[level] or bounds[level, 0] >= bounds[level, 1]
            ):
                value = bounds[level, 2]
                kind = EXACT
                if value <= bounds[level, 3]:
                    kind = AT_MOST
                elif value >= bounds[level, 4]:
                    kind = AT_LEAST
                slot = keys[level] & mask
                table_keys[slot] = keys[level]
                table_values[slot] = value
                table_info[slot] = (depth - level) << 2 | kind
                leaving = True
            if leaving:
                if level == 0:
                    return value
                level -= 1
                if mover(stack[level]) == seat:
                    bounds[level, 2] = max(bounds[level, 2], value)
                    bounds[level, 0] = max(bounds[level, 0], value)
                else:
                    bounds[level, 2] = min(bounds[level, 2], value)
                    bounds[level, 1] = min(bounds[level, 1], value)
                entering = False
            else:
                stack[level + 1] = stack[level]
                apply(stack[level + 1], int64(moves[level, tried[level]]))
                tried[level] += 1
                bounds[level + 1, 0] = bounds[level, 0]
                bounds[level + 1, 1] = bounds[level, 1]
                level += 1
                entering = True

    return solve


def evaluate(
    state: State, depth: int, *, utility: Utility | None = None, table_bits: int = 16
) -> Array:
    """Return the value of every legal action for the seat to move, looking `depth` plies ahead."""
    state = read_kind(state, State, "state", "give the state of a table")
    depth = read_count(depth, "depth")
    game = state.game
    seat = state.mover
    solve = make_solver(game, utility)
    scratch = Scratch.of(game, depth, table_bits)
    values = []
    for action in state.legal():
        scratch.stack[0] = state.array[0]
        game.bindings.apply(scratch.stack, 0, int(action))
        values.append(solve(seat, depth - 1, -INFINITE, INFINITE, scratch))
    return np.array(values)
