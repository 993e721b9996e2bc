"""UCT on a state that is fully known: a tree of visits grown by random play-outs.

A node's value is the mean return for the seat that chose to enter it, so that the search serves
one seat, two seats with opposite aims, and more. The tree ends where chance decides; from there on
a play-out deals for itself.

Several trees may share the simulations (root parallelisation): each has a stream of its own, and
visits are summed. Threads then change the time and nothing else.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from cardlab.engine.arguments import read_count, read_kind
from cardlab.engine.game import OVER, Array, Game, State
from cardlab.engine.kernel import int64, kernel
from cardlab.engine.playouts import Scratch, make_playouts
from cardlab.engine.seeding import below
from cardlab.search.threads import spread

__all__ = ["search"]

NODES_PER_SIMULATION = 12


class Tree(NamedTuple):
    """The nodes of a tree, by number; the children of a node follow each other."""

    visits: Array
    values: Array  # summed returns of the seat that chose the node
    firsts: Array  # the first child
    counts: Array  # how many children
    actions: Array
    chosen_by: Array


@functools.cache
def make_search(game: Game) -> Callable[..., None]:
    """Return the compiled search for a game."""
    mover, legal, apply, returns = game.mover, game.legal, game.apply, game.returns
    finish = make_playouts(game).finish

    @kernel
    def choose_child(tree: Any, parent: int, c: float) -> int:
        visits = tree.visits
        best = -1e18
        first = int64(tree.firsts[parent])
        choice = first
        explore = c * np.sqrt(np.log(max(1, visits[parent])))
        for child in range(first, first + tree.counts[parent]):
            if visits[child] == 0:
                return child
            score = tree.values[child] / visits[child] + explore / np.sqrt(visits[child])
            if score > best:
                best = score
                choice = child
        return choice

    @kernel
    def simulate(
        root: Any,
        simulations: int,
        c: float,
        tree: Any,
        path: Any,
        scratch: Any,
        rng: Any,
    ) -> None:
        visits, values, firsts, counts, actions, chosen_by = tree
        work, order, buffer = scratch
        used = 1
        s = work[0]
        for _ in range(simulations):
            work[0] = root[0]
            node = 0
            depth = 0
            while mover(s) >= 0:
                if counts[node] == 0:
                    if node != 0 and visits[node] == 0:
                        break
                    count = legal(s, buffer)
                    if used + count > len(visits) or depth == len(path):
                        break
                    for i in range(count):
                        j = below(rng, i + 1)  # untried children are met in random order
                        actions[used + i] = actions[used + j]
                        actions[used + j] = buffer[i]
                        chosen_by[used + i] = mover(s)
                        visits[used + i] = 0
                        values[used + i] = 0.0
                        counts[used + i] = 0
                    firsts[node] = used
                    counts[node] = count
                    used += count
                node = choose_child(tree, node, c)
                path[depth] = node
                depth += 1
                apply(s, int64(actions[node]))
            if mover(s) != OVER:
                finish(s, rng, order, buffer)
            visits[0] += 1
            for i in range(depth):
                node = path[i]
                visits[node] += 1
                values[node] += returns(s, int64(chosen_by[node]))

    return simulate


def search(
    state: State,
    simulations: int,
    rng: np.random.Generator,
    *,
    c: float = 1.4,
    trees: int = 1,
    threads: int = 1,
) -> tuple[Array, Array]:
    """Return visits and mean value of every legal action of the seat to move."""
    state = read_kind(state, State, "state", "give the state of a table")
    rng = read_kind(rng, np.random.Generator, "rng", "np.random.default_rng(0) makes one")
    simulations = read_count(simulations, "simulations")
    trees = read_count(trees, "trees")
    starts = [int(rng.integers(1, 1 << 63)) for _ in range(trees)]
    shares = [(simulations + tree) // trees for tree in range(trees)]
    grown = spread(
        lambda task: _grow(state, *task, c), list(zip(shares, starts, strict=True)), threads
    )
    visits, values = (np.sum(part, axis=0) for part in zip(*grown, strict=True))
    return visits, values / np.maximum(visits, 1)


def _grow(state: State, simulations: int, start: int, c: float) -> tuple[Array, Array]:
    """Grow one tree; return visits and summed value of every legal action."""
    game = state.game
    legal = state.legal()
    nodes = 1 + len(legal) + NODES_PER_SIMULATION * simulations
    tree = Tree(
        np.zeros(nodes, dtype=np.int64), np.zeros(nodes), *np.zeros((4, nodes), dtype=np.int32)
    )
    path, rng = np.empty(game.max_plies, dtype=np.int32), np.array([start], dtype=np.int64)
    make_search(game)(state.array, simulations, c, tree, path, Scratch.of(game), rng)
    children = slice(tree.firsts[0], tree.firsts[0] + tree.counts[0])
    ascending = np.argsort(tree.actions[children])
    return tree.visits[children][ascending], tree.values[children][ascending]
