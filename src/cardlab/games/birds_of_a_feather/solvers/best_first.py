"""One priority queue over all open nodes: the search that the paper's text describes.

The queue holds positions that have been seen but not taken yet, each with the solvability that the
model predicts for it. The best is taken, counted as a node, and its children enter the queue; of
equals the one that entered first is taken first. A position enters once, from its first parent:
its prediction depends on the position alone, so a second entry would stand at the same place.

Positions with many cards are mostly solvable and those with few mostly not, so the queue takes
nearly all positions with many cards first. It becomes a breadth-first search and needs far more
nodes than a search without a model, millions for most deals. It therefore has a budget.

Open nodes live in arrays that grow: the key of a position says everything about it. A binary heap
of their numbers keeps the order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cardlab.engine.game import Array
from cardlab.engine.kernel import bit, count_bits, int64, kernel
from cardlab.games.birds_of_a_feather.features import (
    NUM_FEATURES,
    count_fits,
    features_after,
    is_joined,
    occupied_cells,
    score,
    top_cards,
)
from cardlab.games.birds_of_a_feather.rules import (
    CELLS,
    EMPTY,
    FITS,
    FROM,
    MOST_MOVES,
    NUM_ACTIONS,
    begin,
    legal,
)
from cardlab.games.birds_of_a_feather.solvers.depth_first import (
    FULL,
    REFUTED,
    SOLVED,
    STOPPED,
    Tables,
    find,
    home_of,
    low_key,
    low_key_after,
    number_cards,
    room_in,
)

NODES, LAST, STORED, NUMBER, USED, OPEN = range(6)  # places in `progress`
FIRST_ROOM = 1 << 14


class Pool(NamedTuple):
    """Every node seen so far, by number, and the heap of those that are open."""

    lows: Array
    scores: Array
    parents: Array
    cells: Array
    actions: Array
    heap: Array

    @classmethod
    def new(cls, room: int) -> Pool:
        """Return room for so many nodes."""
        return cls(
            np.empty(room, dtype=np.int64),
            np.empty(room),
            np.empty(room, dtype=np.int32),
            np.empty(room, dtype=np.uint16),
            np.empty(room, dtype=np.uint8),
            np.empty(room, dtype=np.int32),
        )

    def grown(self) -> Pool:
        """Return a pool of twice the room with the same nodes."""
        return Pool(*(np.concatenate([array, np.empty_like(array)]) for array in self))


@kernel
def goes_first(a: int, b: int, scores: Any) -> bool:
    """Return whether node a leaves the queue before node b."""
    return scores[a] > scores[b] or (scores[a] == scores[b] and a < b)


@kernel
def push(node: int, open_nodes: int, heap: Any, scores: Any) -> None:
    """Put a node into a heap of `open_nodes` others."""
    place = open_nodes
    while place:
        above = (place - 1) // 2
        if not goes_first(node, int64(heap[above]), scores):
            break
        heap[place] = heap[above]
        place = above
    heap[place] = node


@kernel
def pop(open_nodes: int, heap: Any, scores: Any) -> int:
    """Take the best node out of a heap of `open_nodes`, itself included."""
    best = int64(heap[0])
    last = int64(heap[open_nodes - 1])
    end = open_nodes - 1
    place = int64(0)
    while 2 * place + 1 < end:
        child = 2 * place + 1
        if child + 1 < end and goes_first(int64(heap[child + 1]), int64(heap[child]), scores):
            child += 1
        if not goes_first(int64(heap[child]), last, scores):
            break
        heap[place] = heap[child]
        place = child
    heap[place] = last
    return best


@kernel
def set_up(s: Any, low: int, cells: int, cards: Any) -> None:
    """Make a record stand as a key says; its log of moves is left alone."""
    for cell in range(CELLS):
        if cells >> cell & 1:
            s.tops[cell] = cards[low >> int64(4 * cell) & 15]
        else:
            s.tops[cell] = EMPTY
    s.plies = CELLS - count_bits(cells)
    begin(s)


class Scratch(NamedTuple):
    """Scratch arrays of a search, beside its nodes; `progress` says where it stands."""

    position: Array  # the record of the node that is taken
    cards: Array  # of the root, by their numbers
    numbers: Array  # of cards
    buffer: Array
    x: Array
    progress: Array

    @classmethod
    def new(cls, state: Array) -> Scratch:
        """Return room for one search from the only record of `state`."""
        return cls(
            state.copy(),
            np.zeros(CELLS, dtype=np.uint8),
            np.zeros(EMPTY + 1, dtype=np.int64),
            np.empty(NUM_ACTIONS, dtype=np.int16),
            np.zeros(NUM_FEATURES),
            np.zeros(6, dtype=np.int64),
        )


@kernel
def start(number: int, work: Any, pool: Any) -> int:
    """Put the root into an empty queue."""
    s, progress = work.position[0], work.progress
    progress[:] = 0
    progress[NUMBER], progress[USED], progress[OPEN] = number, 1, 1
    if not is_joined(top_cards(s), FITS):
        progress[NODES] = 1
        return REFUTED
    number_cards(s, work.numbers)
    for cell in range(CELLS):
        work.cards[cell] = s.tops[cell]
    pool.lows[0] = low_key(s, work.numbers)
    pool.scores[0] = 0.0
    pool.parents[0] = -1
    pool.cells[0] = occupied_cells(s)
    pool.heap[0] = 0
    return STOPPED


@kernel
def proceed(table: Any, can_grow: bool, budget: int, weights: Any, work: Any, pool: Any) -> int:
    """Take nodes until one is solved, none is open, or something is full."""
    s, progress, x = work.position[0], work.progress, work.x
    lows, scores, parents, cells, actions, heap = pool
    room = room_in(table)
    verdict = REFUTED
    while progress[OPEN] > 0:
        if progress[NODES] >= budget:
            verdict = STOPPED
            break
        crowded = progress[STORED] + NUM_ACTIONS > room and can_grow
        if crowded or progress[USED] + NUM_ACTIONS > len(lows):
            verdict = FULL
            break
        node = pop(progress[OPEN], heap, scores)
        progress[OPEN] -= 1
        progress[NODES] += 1
        set_up(s, lows[node], int64(cells[node]), work.cards)
        if s.plies == MOST_MOVES:
            progress[LAST] = node
            verdict = SOLVED
            break
        tops = top_cards(s)
        fits = count_fits(tops)
        for i in range(legal(s, work.buffer)):
            action = int64(work.buffer[i])
            low = low_key_after(lows[node], action)
            left = int64(cells[node]) & ~bit(FROM[action])
            high = progress[NUMBER] << CELLS | left
            slot = find(table, low, high)
            if table[2 * slot] == low and table[2 * slot + 1] == high:
                continue
            if progress[STORED] < room:
                progress[STORED] += 1
            else:
                slot = home_of(table, low, high)
            table[2 * slot] = low
            table[2 * slot + 1] = high
            features_after(s, action, tops, fits, x)
            new = progress[USED]
            progress[USED] += 1
            lows[new] = low
            scores[new] = score(weights, x)
            parents[new] = node
            cells[new] = left
            actions[new] = action
            push(new, progress[OPEN], heap, scores)
            progress[OPEN] += 1
    return verdict


def search(
    state: Array, weights: Array, tables: Tables, *, budget: int
) -> tuple[int, int, list[int]]:
    """Search from the only record of `state` by the weights of one model.

    Return the verdict, the nodes taken and, if solved, the actions.
    """
    pool, work = Pool.new(FIRST_ROOM), Scratch.new(state)
    verdict = start(tables.begin(), work, pool)
    while verdict in (STOPPED, FULL):
        verdict = proceed(tables.table, tables.can_grow, budget, weights, work, pool)
        if verdict != FULL:
            break
        if work.progress[USED] + NUM_ACTIONS > len(pool.lows):
            pool = pool.grown()
        else:
            tables.grow()
    found = []
    node = int(work.progress[LAST])
    while verdict == SOLVED and pool.parents[node] >= 0:
        found.append(int(pool.actions[node]))
        node = int(pool.parents[node])
    return int(verdict), int(work.progress[NODES]), found[::-1]
