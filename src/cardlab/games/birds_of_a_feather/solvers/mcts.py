"""Monte Carlo tree search for Birds of a Feather as the paper describes it, compiled.

UCT (Kocsis and Szepesvari): below a node v that has been visited N times, the child goes next that
maximises

    q / n + c * sqrt(log N / n)

with n its visits and q its solved play-outs less its lost ones. Play-outs are random. After the
simulations for one move the child of the highest mean is taken, and its subtree is kept for the
next move. The paper does not state c; its program has 1.4 * sqrt(2).

The search cannot prove anything: it ends in a solution or in a dead end. What the paper counts as
nodes are the moves taken, fifteen for a solution.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cardlab.engine.game import OVER, Array
from cardlab.engine.kernel import int64, kernel
from cardlab.engine.playouts import Scratch, make_playouts
from cardlab.engine.seeding import below
from cardlab.games.birds_of_a_feather.rules import (
    CELLS,
    GAME,
    MOST_MOVES,
    apply,
    legal,
    mover,
    returns,
)

SIMULATIONS = 160_000
EXPLORE = 1.4 * 2**0.5
NODES_PER_SIMULATION = 24
finish = make_playouts(GAME).finish


class Tree(NamedTuple):
    """Nodes by number, the root first, the children of a node side by side."""

    visits: Array
    values: Array
    firsts: Array
    counts: Array
    actions: Array

    @classmethod
    def new(cls, room: int) -> Tree:
        """Return room for so many nodes, the first of them a root without visits."""
        return cls(*(np.zeros(room, dtype=kind) for kind in ("i4", "i4", "i4", "u1", "u1")))


@kernel
def choose_child(node: int, c: float, tree: Any) -> int:
    """Return the child that UCT visits next, an unvisited one first."""
    first, count = int64(tree.firsts[node]), int64(tree.counts[node])
    log = np.log(float(max(1, tree.visits[node])))
    best = -1e18
    choice = first
    for child in range(first, first + count):
        n = int64(tree.visits[child])
        if n == 0:
            return child
        value = tree.values[child] / n + c * np.sqrt(log / n)
        if value > best:
            best = value
            choice = child
    return choice


@kernel
def simulate(
    root: Any, used: int, simulations: int, c: float, tree: Any, path: Any, scratch: Any, rng: Any
) -> int:
    """Grow a tree of `used` nodes by simulations and return how many nodes it has then."""
    visits, values, firsts, counts, actions = tree
    work, order, buffer = scratch
    s = work[0]
    for _ in range(simulations):
        work[0] = root[0]
        node = int64(0)
        depth = 0
        path[0] = 0
        while mover(s) != OVER:
            if counts[node] == 0:
                if node and visits[node] == 0:
                    break
                count = legal(s, buffer)
                if used + count > len(visits):
                    break
                for i in range(count):
                    j = below(rng, i + 1)  # untried children are met in random order
                    actions[used + i] = actions[used + j]
                    actions[used + j] = buffer[i]
                    visits[used + i] = 0
                    values[used + i] = 0
                    counts[used + i] = 0
                firsts[node] = used
                counts[node] = count
                used += count
            node = choose_child(node, c, tree)
            depth += 1
            path[depth] = node
            apply(s, int64(actions[node]))
        finish(s, rng, order, buffer)
        reward = int64(returns(s, 0))
        for i in range(depth + 1):
            visits[path[i]] += 1
            values[path[i]] += reward
    return used


@kernel
def best_child(tree: Any) -> int:
    """Return the root's child of the highest mean."""
    first = int64(tree.firsts[0])
    choice = first
    best = -2.0
    for child in range(first, first + int64(tree.counts[0])):
        if tree.visits[child]:
            mean = tree.values[child] / tree.visits[child]
            if mean > best:
                best = mean
                choice = child
    return choice


@kernel
def keep_subtree(child: int, tree: Any, new: Any) -> int:
    """Copy what lies below a child into another tree and return how many nodes that has."""
    new.firsts[0] = child  # until a node's turn comes, this says where it comes from
    used = 1
    node = 0
    while node < used:
        old = int64(new.firsts[node])
        new.visits[node] = tree.visits[old]
        new.values[node] = tree.values[old]
        new.actions[node] = tree.actions[old]
        new.counts[node] = tree.counts[old]
        new.firsts[node] = used
        for i in range(int64(tree.counts[old])):
            new.firsts[used + i] = tree.firsts[old] + i
        used += int64(tree.counts[old])
        node += 1
    return used


def play(
    state: Array,
    simulations: int,
    stream: int,
    *,
    stop_at: int = 1,
    c: float = EXPLORE,
) -> tuple[Array, list[int]]:
    """Play on from the only record of `state`, by so many simulations a move.

    Return where that ends (solved, without a move, or with `stop_at` stacks) and the actions taken.
    """
    state = state.copy()
    room = CELLS * CELLS + NODES_PER_SIMULATION * simulations
    tree, other = Tree.new(room), Tree.new(room)
    used = 1
    path = np.zeros(CELLS + 1, dtype=np.int64)
    scratch = Scratch.of(GAME)
    rng = np.array([stream], dtype=np.int64)
    taken = []
    bindings = GAME.bindings
    while CELLS - int(state[0].plies) > stop_at and bindings.mover(state, 0) != OVER:
        used = simulate(state, used, simulations, c, tree, path, scratch, rng)
        child = best_child(tree)
        taken.append(int(tree.actions[child]))
        bindings.apply(state, 0, taken[-1])
        used = keep_subtree(child, tree, other)
        tree, other = other, tree
    return state, taken


def is_solved(state: Array) -> bool:
    """Return whether one stack is left."""
    return int(state[0].plies) == MOST_MOVES
