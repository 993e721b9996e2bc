"""Flat Monte Carlo, fair: every action is tried in the same imagined worlds and played out.

A policy may lead the play-outs, and a plausibility may sort out worlds in which the others would
hardly have acted as they did.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from cardlab.errors import CardlabError
from cardlab.game import Array, Game, Turn
from cardlab.kernel import int64, kernel
from cardlab.search.playouts import Policy, Scratch, make_playouts
from cardlab.seeding import below

__all__ = ["Plausibility", "evaluate"]

Plausibility = Callable[[Any, int], float]  # world, observing seat -> share in (0, 1]

TRIES = 100_000
DOUBTS = 40  # after so many implausible worlds the next one is taken


@kernel
def anything_goes(s: Any, seat: int) -> float:
    """Find every world plausible."""
    return 1.0


@functools.cache
def make_evaluation(
    game: Game, policy: Policy | None = None, plausibility: Plausibility | None = None
) -> Callable[..., bool]:
    """Return the compiled evaluation for a game."""
    apply, returns, imagine = game.apply, game.returns, game.imagine
    finish = make_playouts(game, policy).finish
    plausible = plausibility or anything_goes

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
            tries = 0
            doubts = 0
            while True:
                work[1] = view[0]
                if imagine(work[1], seat, rng):
                    doubts += 1
                    share = plausible(work[1], seat)
                    if share >= 1.0 or doubts > DOUBTS or below(rng, 1 << 20) < share * 1048576:
                        break
                else:
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


def evaluate(
    turn: Turn,
    worlds: int,
    rng: np.random.Generator,
    *,
    policy: Policy | None = None,
    plausibility: Plausibility | None = None,
) -> Array:
    """Return the mean return of every legal action over so many worlds, one play-out in each."""
    sums = np.zeros(len(turn.legal))
    stream = np.array([rng.integers(1, 1 << 63)], dtype=np.int64)
    scratch = Scratch.of(turn.game, rows=2)
    run = make_evaluation(turn.game, policy, plausibility)
    if not run(turn.view.array, turn.seat, turn.legal, worlds, sums, *scratch, stream):
        raise CardlabError(f"{turn.game.name}: no world agrees with what seat {turn.seat} knows")
    return sums / worlds
