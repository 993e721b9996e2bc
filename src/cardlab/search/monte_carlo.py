"""Flat Monte Carlo, fair: every action is tried in the same imagined worlds and played out."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from cardlab.errors import CardlabError
from cardlab.game import Array, Game, Turn
from cardlab.kernel import int64, kernel
from cardlab.search.playouts import Scratch, make_playouts

__all__ = ["evaluate"]

TRIES = 100_000


@functools.cache
def make_evaluation(game: Game) -> Callable[..., bool]:
    """Return the compiled evaluation for a game."""
    apply, returns, imagine = game.apply, game.returns, game.imagine
    finish = make_playouts(game).finish

    @kernel
    def evaluate_actions(
        view: Any,
        seat: int,
        actions: Any,
        worlds: int,
        sums: Any,
        work: Any,
        order: Any,
        buffer: Any,
        rng: Any,
    ) -> bool:
        for _ in range(worlds):
            work[1] = view[0]
            tries = 0
            while not imagine(work[1], seat, rng):
                work[1] = view[0]
                tries += 1
                if tries == TRIES:
                    return False
            for i in range(len(actions)):
                work[0] = work[1]
                apply(work[0], int64(actions[i]))
                finish(work[0], rng, order, buffer)
                sums[i] += returns(work[0], seat)
        return True

    return evaluate_actions


def evaluate(turn: Turn, playouts: int, rng: np.random.Generator) -> Array:
    """Return the mean return of every legal action over about `playouts` play-outs in all."""
    worlds = max(1, playouts // len(turn.legal))
    sums = np.zeros(len(turn.legal))
    stream = np.array([rng.integers(1, 1 << 63)], dtype=np.int64)
    scratch = Scratch.of(turn.game, rows=2)
    kernel_ = make_evaluation(turn.game)
    if not kernel_(turn.view.array, turn.seat, turn.legal, worlds, sums, *scratch, stream):
        raise CardlabError(f"{turn.game.name}: no world agrees with what seat {turn.seat} knows")
    return sums / worlds
