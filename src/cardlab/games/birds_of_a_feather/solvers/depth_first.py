"""Depth-first search of Birds of a Feather as the published programs do it, compiled.

The search enters children one by one, in the reference order (ascending action ids) or sorted by a
score. Every entry counts as a node: the root, repeats, dead ends and the goal. A position whose
children are exhausted is remembered as refuted, and its own children are not entered again. Whether
the top cards fall into groups that do not fit ("separated flock") is asked at the root only. With
the reference order this is the search that the literature calls DFS, node for node.

A dead end costs one node whether or not it is remembered, so only positions with moves are stored.

Keys are exact: four bits of `low` for each cell say which of the sixteen cards lies on top, `high`
has a bit for each occupied cell and, above, the number of the search, so that tables serve many
searches and are never cleared. A table that fills up is copied into one four times as large; where
the largest is three quarters full, a new position takes the place of another one. This may cost
nodes; the verdict stays correct.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from cardlab.engine.game import Array
from cardlab.engine.kernel import bit, int64, kernel
from cardlab.games.birds_of_a_feather.features import (
    MOVE_FEATURES,
    count_fits,
    features_after,
    is_joined,
    move_features,
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
    STATE,
    TO,
    apply,
    legal,
    pairs_after,
)

REFUTED, SOLVED, STOPPED, REACHED, FULL = range(5)
NODES, DEPTH, STORED, ENTERED = range(4)  # places in `progress`
SMALLEST, STEP, LARGEST = 14, 2, 26  # sizes of tables in bits
LOW_BITS = 0xFFFFFFFF
NO_BUDGET = 1 << 62
NUM_MOVE_FEATURES = len(MOVE_FEATURES)


# Keys and tables


@kernel
def low_key(s: Any, numbers: Any) -> int:
    """Return which card lies on each cell, `numbers` being 0 to 15 for the cards of the deal."""
    key = int64(0)
    for cell in range(CELLS):
        if s.tops[cell] != EMPTY:
            key |= int64(numbers[s.tops[cell]]) << int64(4 * cell)
    return key


@kernel
def low_key_after(low: int, action: int) -> int:
    """Return the key of the position after a move from the key before it."""
    start, end = int64(4) * FROM[action], int64(4) * TO[action]
    card = low >> start & 15
    return low & ~(int64(15) << start | int64(15) << end) | card << end


@kernel
def home_of(table: Any, low: int, high: int) -> int:
    """Return the place in a table where looking for a position begins.

    No product leaves 63 bits, so that interpreted and compiled runs agree.
    """
    mixed = 0x7B4C9A43 * (low & LOW_BITS) ^ 0x5F356495 * (low >> 32 & LOW_BITS)
    mixed ^= 0x6C62272D * (high & 0xFFFF)
    mixed = 0x7B4C9A43 * ((mixed ^ mixed >> 31) & LOW_BITS)
    return (mixed >> 24) & (len(table) // 2 - 1)


@kernel
def find(table: Any, low: int, high: int) -> int:
    """Return the place of a position in a table, or the free place where it belongs.

    What another search has stored counts as free.
    """
    mask = len(table) // 2 - 1
    slot = home_of(table, low, high)
    number = high >> CELLS
    while table[2 * slot + 1] >> CELLS == number and (
        table[2 * slot] != low or table[2 * slot + 1] != high
    ):
        slot = (slot + 1) & mask
    return slot


@kernel
def is_stored(table: Any, low: int, high: int) -> bool:
    """Return whether this search has stored a position."""
    slot = find(table, low, high)
    return table[2 * slot] == low and table[2 * slot + 1] == high


@kernel
def room_in(table: Any) -> int:
    """Return how many positions a table takes before it counts as full."""
    return len(table) // 2 - len(table) // 8


@kernel
def copy_table(old: Any, new: Any, number: int) -> None:
    """Copy what a search has stored into a larger table."""
    for slot in range(len(old) // 2):
        low, high = old[2 * slot], old[2 * slot + 1]
        if high >> CELLS == number:
            place = find(new, low, high)
            new[2 * place] = low
            new[2 * place + 1] = high


class Tables:
    """Tables of several sizes that one search after another uses, the small ones first."""

    def __init__(self, largest: int = LARGEST) -> None:
        self._largest = largest
        self._tables: dict[int, Array] = {}
        self._bits = SMALLEST
        self.number = 0

    @property
    def table(self) -> Array:
        """The table in use."""
        if self._bits not in self._tables:
            self._tables[self._bits] = np.zeros(2 << self._bits, dtype=np.int64)
        return self._tables[self._bits]

    @property
    def can_grow(self) -> bool:
        """Whether there is a larger table."""
        return self._bits + STEP <= self._largest

    def begin(self) -> int:
        """Begin another search with the smallest table and return its number."""
        self._bits = min(SMALLEST, self._largest)
        self.number += 1
        return self.number

    def grow(self) -> None:
        """Go on with a larger table that has everything of the present search."""
        old = self.table
        self._bits += STEP
        copy_table(old, self.table, self.number)


# Orders


Order = Callable[[Any, Any, int, Any, Any, Any], None]


@kernel
def sort_by_score(actions: Any, count: int, scores: Any) -> None:
    """Sort actions by falling score; equal scores keep the reference order."""
    for i in range(1, count):
        action, value = actions[i], scores[i]
        j = i
        while j and scores[j - 1] < value:
            scores[j] = scores[j - 1]
            actions[j] = actions[j - 1]
            j -= 1
        scores[j] = value
        actions[j] = action


@kernel
def score_by_model(s: Any, actions: Any, count: int, weights: Any, x: Any, scores: Any) -> None:
    """Write the predicted solvability of every child."""
    cards = top_cards(s)
    fits = count_fits(cards)
    for i in range(count):
        features_after(s, int64(actions[i]), cards, fits, x)
        scores[i] = score(weights, x)


@kernel
def score_by_move(s: Any, actions: Any, count: int, weights: Any, x: Any, scores: Any) -> None:
    """Write the weighted sum of the features of every move."""
    cards, cells = top_cards(s), occupied_cells(s)
    wanted = int64(weights[0])
    share = (CELLS - int64(s.plies)) / CELLS
    for i in range(count):
        move_features(s, int64(actions[i]), cards, cells, wanted, x)
        total = 0.0
        for k in range(NUM_MOVE_FEATURES):
            if wanted >> k & 1:
                total += (weights[1 + k] + weights[1 + NUM_MOVE_FEATURES + k] * share) * x[k]
        scores[i] = total


BY_MODEL: Order = score_by_model
BY_MOVE_FEATURES: Order = score_by_move


# The search


class Plan(NamedTuple):
    """How a search sorts children: by which scores, and with which weights."""

    order: Order
    weights: Array
    model_of: Array  # the row of weights for each number of stacks, -1 for the reference order


class Scratch(NamedTuple):
    """Scratch arrays of a search; `path` and `progress` say where it stands between two calls."""

    path: Array
    actions: Array
    nexts: Array
    counts: Array
    keys: Array
    numbers: Array
    scores: Array
    x: Array
    progress: Array

    @classmethod
    def new(cls) -> Scratch:
        """Return room for one search at a time."""
        return cls(
            np.empty(CELLS + 1, dtype=STATE),
            np.empty((CELLS, NUM_ACTIONS), dtype=np.int16),
            np.zeros(CELLS, dtype=np.int64),
            np.zeros(CELLS, dtype=np.int64),
            np.zeros((CELLS, 2), dtype=np.int64),
            np.zeros(EMPTY + 1, dtype=np.int64),
            np.zeros(NUM_ACTIONS),
            np.zeros(NUM_MOVE_FEATURES),
            np.zeros(4, dtype=np.int64),
        )


@kernel
def number_cards(s: Any, numbers: Any) -> None:
    """Number the top cards of a position by their cells."""
    for cell in range(CELLS):
        numbers[s.tops[cell]] = cell


@kernel
def store(table: Any, room: int, stored: int, low: int, high: int) -> int:
    """Store a refuted position, in place of another where the table is full; count the stored."""
    if stored < room:
        slot = find(table, low, high)
        stored += 1
    else:
        slot = home_of(table, low, high)
    table[2 * slot] = low
    table[2 * slot + 1] = high
    return stored


@functools.cache
def make_search(order: Order) -> tuple[Callable[..., int], Callable[..., int]]:
    """Return the kernels that begin and continue a search whose children `order` scores."""

    @kernel
    def list_children(
        s: Any, actions: Any, weights: Any, model_of: Any, x: Any, scores: Any
    ) -> int:
        count = legal(s, actions)
        model = model_of[CELLS - int64(s.plies)]
        if model >= 0:
            order(s, actions, count, weights[model], x, scores)
            sort_by_score(actions, count, scores)
        return count

    @kernel
    def begin(number: int, weights: Any, model_of: Any, work: Any) -> int:
        s = work.path[0]
        work.progress[:] = 0
        work.progress[NODES] = 1
        if s.plies == MOST_MOVES:
            return SOLVED
        if not is_joined(top_cards(s), FITS):
            return REFUTED
        number_cards(s, work.numbers)
        work.keys[0, 0] = low_key(s, work.numbers)
        work.keys[0, 1] = int64(number) << CELLS | occupied_cells(s)
        work.nexts[0] = 0
        work.counts[0] = list_children(s, work.actions[0], weights, model_of, work.x, work.scores)
        return STOPPED

    @kernel
    def proceed(
        table: Any,
        can_grow: bool,
        budget: int,
        stop_at: int,
        trace: Any,
        weights: Any,
        model_of: Any,
        work: Any,
    ) -> int:
        path, actions, nexts, counts, keys, _, scores, x, progress = work
        nodes, depth, stored = progress[NODES], progress[DEPTH], progress[STORED]
        entered = progress[ENTERED]
        room = room_in(table)
        verdict = STOPPED
        while nodes < budget:
            if nexts[depth] == counts[depth]:
                if stored == room and can_grow:
                    verdict = FULL
                    break
                stored = store(table, room, stored, keys[depth, 0], keys[depth, 1])
                depth -= 1
                if depth < 0:
                    verdict = REFUTED
                    break
                continue
            s = path[depth]
            action = int64(actions[depth, nexts[depth]])
            nexts[depth] += 1
            nodes += 1
            solved = s.plies == MOST_MOVES - 1
            if not solved and pairs_after(s, action) == 0:
                continue
            low = low_key_after(keys[depth, 0], action)
            high = keys[depth, 1] & ~bit(FROM[action])
            if not solved and is_stored(table, low, high):
                continue
            path[depth + 1] = path[depth]
            apply(path[depth + 1], action)
            depth += 1
            if solved:
                verdict = SOLVED
                break
            keys[depth, 0] = low
            keys[depth, 1] = high
            nexts[depth] = 0
            counts[depth] = list_children(path[depth], actions[depth], weights, model_of, x, scores)
            if entered < len(trace):
                trace[entered] = path[depth]
            entered += 1
            if CELLS - int64(path[depth].plies) == stop_at:
                verdict = REACHED
                break
        progress[NODES], progress[DEPTH], progress[STORED] = nodes, depth, stored
        progress[ENTERED] = entered
        return verdict

    return begin, proceed


NO_TRACE = np.empty(0, dtype=STATE)


def search(
    state: Array,
    plan: Plan,
    work: Scratch,
    tables: Tables,
    *,
    budget: int = NO_BUDGET,
    stop_at: int = 0,
    trace: Array = NO_TRACE,
) -> int:
    """Search from the only record of `state` and return SOLVED, REFUTED, STOPPED or REACHED.

    The search stops when it has spent its budget of nodes, and at the first position of `stop_at`
    stacks that has a move. Positions whose children are listed go into `trace` as far as there is
    room. `work.progress[NODES]` are the nodes, of which ENTERED had their children listed, and
    `work.path[work.progress[DEPTH]]` is where the search stands.
    """
    order, *sorting = plan
    begin, proceed = make_search(order)
    work.path[:1] = state
    verdict = begin(tables.begin(), *sorting, work)
    if verdict != STOPPED:
        return int(verdict)
    while True:
        verdict = proceed(tables.table, tables.can_grow, budget, stop_at, trace, *sorting, work)
        if verdict != FULL:
            return int(verdict)
        tables.grow()
