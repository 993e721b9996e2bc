"""Flat Monte Carlo: every action is tried in the same sampled worlds and played out.

A policy may choose in the play-outs, and a plausibility may reject worlds in which the others would
hardly have acted as they did. With `halving` the same number of play-outs is spent in stages, after
each of which the worse half of the actions is dropped (Karnin, Koren, Somekh 2013).

Worlds come in blocks, each with a stream of its own: threads change the time and nothing else.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from cardlab.engine.arguments import read_count, read_kind
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Array, Game, State, Turn
from cardlab.engine.kernel import int64, kernel
from cardlab.engine.playouts import Policy, Scratch, make_playouts
from cardlab.engine.seeding import happens
from cardlab.search.threads import spread

__all__ = ["Plausibility", "evaluate", "evaluate_open", "no_world", "spend"]

Plausibility = Callable[[Any, int], float]  # world, observing seat -> share in (0, 1]

BLOCK = 256  # worlds that share a stream
MOST_TRIES = 100_000
MOST_DOUBTS = 40  # after so many implausible worlds the next one is taken


@kernel
def always_plausible(s: Any, seat: int) -> float:
    """Find every world plausible."""
    return 1.0


@kernel
def leave(s: Any, seat: int, rng: Any) -> bool:
    """Leave a state as it is: nothing needs to be imagined where all cards are seen."""
    return True


@functools.cache
def make_evaluation(
    game: Game,
    policy: Policy | None = None,
    plausibility: Plausibility | None = None,
    *,
    sees_all: bool = False,
) -> Callable[..., bool]:
    """Return the compiled evaluation for a game."""
    apply, returns = game.apply, game.returns
    imagine = leave if sees_all else game.imagine
    finish = make_playouts(game, policy).finish
    plausible = plausibility or always_plausible

    @kernel
    def evaluate_actions(
        view: Any, seat: int, actions: Any, worlds: int, sums: Any, scratch: Any, rng: Any
    ) -> bool:
        work, order, buffer = scratch
        for _ in range(worlds):
            tries = 0
            doubts = 0
            while True:
                work[1] = view[0]
                if imagine(work[1], seat, rng):
                    doubts += 1
                    share = plausible(work[1], seat)
                    if share >= 1.0 or doubts > MOST_DOUBTS or happens(rng, share):
                        break
                else:
                    tries += 1
                    if tries == MOST_TRIES:
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
    halving: bool = False,
    threads: int = 1,
) -> tuple[Array, Array]:
    """Return for every legal action the worlds it was tried in and its mean return there.

    Every action is tried in `worlds` worlds, or with `halving` in as many on average.
    """
    turn = read_kind(turn, Turn, "turn", "table.turn() returns one")
    worlds = read_count(worlds, "worlds", lowest=0)
    rng = read_kind(rng, np.random.Generator, "rng", "np.random.default_rng(0) makes one")
    run = make_evaluation(turn.game, policy, plausibility)

    def play_block(chosen: Array, count: int, start: int) -> Array | None:
        out = np.zeros(len(chosen))
        scratch, stream = Scratch.of(turn.game, rows=2), np.array([start], dtype=np.int64)
        sound = run(turn.view.array, turn.seat, turn.legal[chosen], count, out, scratch, stream)
        return out if sound else None

    found = spend(len(turn.legal), worlds, rng, play_block, halving=halving, threads=threads)
    if found is None:
        raise no_world(turn.game, turn.seat)
    tried, sums = found
    return tried, sums / tried


def spend(
    actions: int,
    worlds: int,
    rng: np.random.Generator,
    play_block: Callable[[Array, int, int], Array | None],
    *,
    halving: bool,
    threads: int = 1,
    ahead: Array | None = None,
) -> tuple[Array, Array] | None:
    """Return for every action the worlds it was tried in and the sum of its returns there.

    `play_block` gets places of actions, a number of worlds and a stream, and returns summed
    returns, or None where no world can be found; then there is no answer here either. Actions are
    compared by their sums and by what each is `ahead` at the start.
    """
    tried = np.zeros(actions, dtype=np.int64)
    sums = np.zeros(actions)
    lead = np.zeros(actions) if ahead is None else ahead
    left = np.arange(actions)
    stages = max(1, (actions - 1).bit_length()) if halving else 1
    for stage in range(stages):
        count = max(1, worlds * actions // (stages * len(left)))
        blocks = [min(BLOCK, count - first) for first in range(0, count, BLOCK)]
        tasks = [(left, size, int(rng.integers(1, 1 << 63))) for size in blocks]
        for out in spread(lambda task: play_block(*task), tasks, threads):
            if out is None:
                return None
            sums[left] += out
        tried[left] += count
        if stage + 1 < stages:
            best_first = np.argsort(-(sums + lead)[left], kind="stable")
            left = np.sort(left[best_first[: (len(left) + 1) // 2]])
    return tried, sums


def no_world(game: Game, seat: int) -> CardlabError:
    """Return the error that a view allows no world at all."""
    return CardlabError(f"{game.name}: no world agrees with what seat {seat} knows")


def evaluate_open(state: State, playouts: int, rng: np.random.Generator) -> Array:
    """Return the mean return of every legal action over so many random play-outs of the truth."""
    state = read_kind(state, State, "state", "give the state of a table")
    playouts = read_count(playouts, "playouts")
    rng = read_kind(rng, np.random.Generator, "rng", "np.random.default_rng(0) makes one")
    legal = state.legal()
    sums = np.zeros(len(legal))
    stream = np.array([rng.integers(1, 1 << 63)], dtype=np.int64)
    scratch = Scratch.of(state.game, rows=2)
    run = make_evaluation(state.game, sees_all=True)
    run(state.array, state.mover, legal, playouts, sums, scratch, stream)
    return sums / playouts
