"""Information-set tree search, single observer: fair, for any number of seats.

Each iteration samples a world that agrees with what the seat has witnessed and descends one common
tree by the actions that are legal in that world. An action competes only when it is there, so its
exploration term counts how often it was available, not how often its parent was visited (Cowling,
Powley, Whitehouse 2012). The tree ends where the dealer moves.

Several trees may share the iterations (root parallelisation): each has a stream of its own, and
visits are summed. Threads then change the time and nothing else.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from cardlab.engine.arguments import read_count, read_kind
from cardlab.engine.game import OVER, Array, Game, Turn
from cardlab.engine.kernel import int64, kernel
from cardlab.engine.playouts import Policy, Scratch, make_playouts
from cardlab.engine.seeding import below
from cardlab.search.monte_carlo import no_world
from cardlab.search.threads import spread

__all__ = ["search"]

MOST_TRIES = 100_000


class Tree(NamedTuple):
    """The nodes of a tree, by number; node 0 is the root, and no child or sibling is 0."""

    visits: Array
    available: Array  # how often a node's action was legal where its parent was visited
    values: Array  # summed returns of the seat that chose the node
    firsts: Array  # the first child
    nexts: Array  # the next child of the same parent
    actions: Array
    chosen_by: Array


class Descent(NamedTuple):
    """Memory of one descent."""

    child_of: Array  # by action: the child of the node that is looked at
    met: Array  # by action: when `child_of` was written
    path: Array


@functools.cache
def make_search(game: Game, policy: Policy | None = None) -> Callable[..., bool]:
    """Return the compiled search for a game, with a policy for play-outs."""
    mover, legal, apply = game.mover, game.legal, game.apply
    returns, imagine = game.returns, game.imagine
    finish = make_playouts(game, policy).finish

    @kernel
    def iterate(
        view: Any,
        seat: int,
        iterations: int,
        c: float,
        tree: Any,
        descent: Any,
        scratch: Any,
        rng: Any,
    ) -> bool:
        visits, available, values, firsts, nexts, actions, chosen_by = tree
        child_of, met, path = descent
        work, order, buffer = scratch
        used = 1
        moment = 0
        s = work[0]
        for _ in range(iterations):
            work[0] = view[0]
            tries = 0
            while not imagine(s, seat, rng):
                work[0] = view[0]
                tries += 1
                if tries == MOST_TRIES:
                    return False
            node = 0
            depth = 0
            growing = True
            while growing and depth < len(path) and mover(s) >= 0:
                count = legal(s, buffer)
                moment += 1
                child = firsts[node]
                while child:
                    child_of[actions[child]] = child
                    met[actions[child]] = moment
                    child = nexts[child]
                untried = 0
                choice = int64(0)
                best = -1e18
                for i in range(count):
                    action = int64(buffer[i])
                    if met[action] != moment:
                        untried += 1
                        if below(rng, untried) == 0:
                            choice = action
                        continue
                    child = child_of[action]
                    available[child] += 1
                    if untried == 0:
                        score = values[child] / visits[child] + c * np.sqrt(
                            np.log(available[child]) / visits[child]
                        )
                        if score > best:
                            best = score
                            choice = action
                if untried:
                    growing = False
                    if used == len(visits):
                        break
                    child_of[choice] = used
                    actions[used] = choice
                    chosen_by[used] = mover(s)
                    available[used] = 1
                    nexts[used] = firsts[node]
                    firsts[node] = used
                    used += 1
                node = child_of[choice]
                path[depth] = node
                depth += 1
                apply(s, choice)
            if mover(s) != OVER:
                finish(s, rng, order, buffer)
            for i in range(depth):
                node = path[i]
                visits[node] += 1
                values[node] += returns(s, int64(chosen_by[node]))
        return True

    return iterate


def search(
    turn: Turn,
    iterations: int,
    rng: np.random.Generator,
    *,
    c: float = 0.7,
    policy: Policy | None = None,
    trees: int = 1,
    threads: int = 1,
) -> tuple[Array, Array]:
    """Return visits and mean value of every legal action of the turn."""
    turn = read_kind(turn, Turn, "turn", "table.turn() returns one")
    rng = read_kind(rng, np.random.Generator, "rng", "np.random.default_rng(0) makes one")
    iterations = read_count(iterations, "iterations")
    trees = read_count(trees, "trees")
    starts = [int(rng.integers(1, 1 << 63)) for _ in range(trees)]
    shares = [(iterations + tree) // trees for tree in range(trees)]
    grown = spread(
        lambda task: _grow(turn, *task, c, policy), list(zip(shares, starts, strict=True)), threads
    )
    visits, values = (np.sum(part, axis=0) for part in zip(*grown, strict=True))
    return visits, values / np.maximum(visits, 1)


def _grow(
    turn: Turn, iterations: int, start: int, c: float, policy: Policy | None
) -> tuple[Array, Array]:
    """Grow one tree; return visits and summed value of every legal action."""
    game = turn.game
    nodes = 1 + iterations
    visits, available = np.zeros((2, nodes), dtype=np.int64)
    tree = Tree(visits, available, np.zeros(nodes), *np.zeros((4, nodes), dtype=np.int32))
    child_of, met = np.zeros((2, game.num_actions), dtype=np.int64)
    descent = Descent(child_of, met, np.empty(game.max_plies, dtype=np.int32))
    rng = np.array([start], dtype=np.int64)
    run = make_search(game, policy)
    if not run(turn.view.array, turn.seat, iterations, c, tree, descent, Scratch.of(game), rng):
        raise no_world(game, turn.seat)
    tried = np.zeros(len(turn.legal), dtype=np.int64)
    sums = np.zeros(len(turn.legal))
    place = {int(action): i for i, action in enumerate(turn.legal)}
    child = int(tree.firsts[0])
    while child:
        i = place[int(tree.actions[child])]
        tried[i], sums[i] = tree.visits[child], tree.values[child]
        child = int(tree.nexts[child])
    return tried, sums
