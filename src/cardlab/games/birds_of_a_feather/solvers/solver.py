"""Complete solver of Birds of a Feather: a solution for each position that has one, else a proof.

The search goes depth first and leaves out positions that are lost by one of these tests:

- Cards that fit each other, wherever they lie, are joined. A stack moves only onto one that it
  fits, so a group of joined cards always keeps a card: with two groups there is no solution. A move
  takes one card away, the covered one, so it may not cover a card that keeps the cards joined.
- Stacks that share a line are joined, and the same holds for them: a move empties one cell, and
  that cell may not be the one that keeps the occupied cells joined.
- More than one stack is left and none can move.

Moves are tried by cost. It is cheap to cover a card that fits few others, to leave a cell with few
stacks in its lines, and to arrive where the card meets many that it fits. The weights were found by
hill climbing on seeds 0..27999, the lengths of runs and the noise by trials on 100000..124999, so
`benchmarks/birds.py` also measures seeds on which nothing was chosen.

After one bad early move, all solutions can be a million positions away. A run is therefore stopped
after a number of positions, and the next starts from the top with a little noise on the costs
and a slightly higher limit. Refuted positions stay known, so little is done twice. After a certain
number of positions a last run has no limit: "unsolvable" always means that every line of play
has been refuted.

A node is a position entered, the first and the solved one included: a solved deal has 16 at least.
A position that fails a test, or was refuted before, is not entered and not counted; one that is
entered again in a later run counts again.

A position here is 16 cells of four bits: each names a cell of the starting position, and with it
the card that lay on top there. An empty cell repeats the lowest name whose card is gone. With two
or more cells empty that name is the only one that occurs twice, so the 64 bits are the position
itself and no two positions are ever mistaken for each other.

For use in other kernels, on any array that begins with sixteen top cards (`EMPTY` for no card):

    memory = Scratch.new(22)                   # outside: room for 2**22 refuted positions, 32 MB
    settle(tops, memory) -> bool             # inside: whether the position can be solved
    memory.report[NODES], memory.report[FALLS_APART]     # then: nodes; whether a test failed
    memory.levels[i].move                    # then, if solved: the i-th action
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from cardlab.engine.cards import card_text
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Array, State, record_type
from cardlab.engine.kernel import bit, count_bits, int64, kernel, lowest_bit
from cardlab.engine.seeding import below
from cardlab.games.birds_of_a_feather.features import LINES
from cardlab.games.birds_of_a_feather.rules import (
    CELLS,
    DEAL,
    DECK,
    EMPTY,
    FITS,
    FROM,
    NUM_ACTIONS,
    TO,
    cell_text,
    published_order,
)

TABLE_BITS = 22
ALL_CELLS = (1 << CELLS) - 1

# The table of refuted positions: buckets of eight keys, a cache line each.
BUCKET = 8
FIRST_SIZE = 1 << 10  # enough for most deals, quick to clear and kept in the fastest memory
GROWTH = 16
MOST_EMPTY = 12  # to keep positions with fewer than four stacks saves next to no nodes

# Runs: positions entered before the search starts again, and the noise on costs from then on.
FIRST_LIMIT = 20
MOST_IN_RUNS = 1 << 17  # positions entered before the last run, which is not broken off
NO_LIMIT = 1 << 60
NOISE = 32

# What a move costs: to cover a card and to leave a cell, by the cards that the card fits, by its
# moves and by the stacks in its lines; less for every new card that it fits where it arrives.
TO_FITS, TO_MOVES, TO_LINE = 11, 6, 7
FROM_FITS, FROM_MOVES, FROM_LINE = 4, -1, 14
NEW = 8
DISTURB = np.array([0, 8, 4, 3, 2, 2, 1], dtype=np.int64)  # to leave a stack, by its moves

MOBILITY, LEAVE, COVER = range(3)  # rows of costs
FIRST_RANDOM = 88172645463325252
NODES, FALLS_APART = 0, 1  # places in the report
CARDS, STACKS = 1, 2  # what falls apart

LEVEL = record_type(
    [
        ("fits", "i8", (CELLS,)),  # for every cell, the cells whose cards fit its card
        ("moves", "i8", (NUM_ACTIONS,)),  # cost << 8 | from << 4 | to, of moves not yet tried
        ("count", "i8"),  # how many of them
        ("occupied", "i8"),  # the set of cells with a stack
        ("names", "i8"),  # sixteen times four bits, zero for an empty cell
        ("hollow", "i8"),  # 15 at every empty cell
        ("gone", "i8"),  # names whose cards are covered
        ("held", "i8"),  # cells whose cards keep the cards joined, as far as known
        ("loose", "i8"),  # cells whose cards do not, as far as known
        ("move", "i8"),  # the move under trial, as an action
    ]
)


class Scratch(NamedTuple):
    """Room for one search at a time; it needs no clearing between searches."""

    table: Array  # keys of refuted positions, 0 for none
    levels: Array  # the path from the first position
    costs: Array  # for each cell: moves of its stack, cost to leave it, cost to cover it
    rng: Array
    report: Array

    @classmethod
    def new(cls, bits: int = TABLE_BITS) -> Scratch:
        """Return memory for 2**bits refuted positions, 8 bytes each, taken up as they come."""
        return cls(
            np.zeros(max(BUCKET, 1 << bits), dtype=np.int64),
            np.zeros(CELLS, dtype=LEVEL),
            np.zeros((3, CELLS), dtype=np.int64),
            np.zeros(1, dtype=np.int64),
            np.zeros(2, dtype=np.int64),
        )


def _joined_sets() -> Array:
    """Return a bit for every set of cells: whether it is joined by rows and columns."""
    sets = np.arange(1 << CELLS, dtype=np.int32)
    reached = sets & -sets
    for _ in range(CELLS // 2):  # no way through a set leads along more lines than there are
        for cell, in_line in enumerate(LINES.tolist()):
            reached |= -(reached >> cell & 1) & in_line & sets
    return np.packbits(reached == sets, bitorder="little").view("<i8").astype(np.int64)


def _as_signed(number: int) -> int:
    return number - (1 << 64) if number >> 63 else number


JOINED = _joined_sets()
NIBBLE = np.array([_as_signed(15 << 4 * cell) for cell in range(CELLS)], dtype=np.int64)
REPEATED = np.array(
    [_as_signed(name * 0x1111111111111111) for name in range(CELLS)], dtype=np.int64
)
FIRST_NAMES = _as_signed(sum(name << 4 * name for name in range(CELLS)))
ACTION = np.full((CELLS, CELLS), -1, dtype=np.int64)
ACTION[FROM, TO] = np.arange(NUM_ACTIONS)
LOW = 0xFFFFFFFF


@kernel
def is_joined(cells: int) -> bool:
    """Return whether occupied cells are joined by rows and columns."""
    return JOINED[cells >> 6] >> (cells & 63) & 1 != 0


@kernel
def are_joined(s: Any, cells: int, without: int) -> bool:
    """Return whether the cards of these `cells` are joined by cards outside `without`."""
    reached = cells & -cells
    new = reached
    while new:
        near = s.fits[lowest_bit(new)] & ~(reached | without)
        new = new & (new - 1) | near
        reached |= near
        if cells & ~reached == 0:
            return True
    return cells == 0


@kernel
def may_cover(s: Any, cell: int) -> bool:
    """Return whether the cards stay joined without the card of a cell."""
    if (s.held | s.loose) >> cell & 1 == 0:
        if are_joined(s, s.fits[cell], bit(cell)):
            s.loose |= bit(cell)
        else:
            s.held |= bit(cell)
    return s.loose >> cell & 1 != 0


@kernel
def list_moves(s: Any, noise: int, costs: Any, rng: Any) -> None:
    """List the moves of a position that keep the cells joined, each with its cost."""
    occupied = s.occupied
    moves = int64(0)
    cells = occupied
    while cells:
        cell = lowest_bit(cells)
        cells &= cells - 1
        fits = s.fits[cell]
        degree = count_bits(fits)
        mobility = count_bits(fits & LINES[cell])
        in_line = count_bits(LINES[cell] & occupied)
        moves += mobility
        costs[MOBILITY, cell] = mobility
        costs[LEAVE, cell] = FROM_FITS * degree + FROM_MOVES * mobility + FROM_LINE * in_line
        costs[COVER, cell] = TO_FITS * degree + TO_MOVES * mobility + TO_LINE * in_line
    rest = occupied & (occupied - 1)
    is_last = rest & (rest - 1) == 0
    count = 0
    cells = occupied
    while cells:
        start = lowest_bit(cells)
        cells &= cells - 1
        if not is_joined(occupied & ~bit(start)):
            continue
        fits = s.fits[start]
        ends = fits & LINES[start]
        leave = costs[LEAVE, start]
        near = ends
        while near:
            leave += DISTURB[costs[MOBILITY, lowest_bit(near)]]
            near &= near - 1
        others = moves // 2 + 1 - costs[MOBILITY, start]
        while ends:
            end = lowest_bit(ends)
            ends &= ends - 1
            new = count_bits(fits & LINES[end] & ~bit(start))
            if new == 0 and others == costs[MOBILITY, end] and not is_last:
                continue  # nothing could move afterwards
            cost = leave + costs[COVER, end] - NEW * new
            if noise:
                cost += below(rng, noise)
            s.moves[count] = cost << 8 | start << 4 | end
            count += 1
    s.count = count
    s.held = s.loose = 0


@kernel
def bucket_of(key: int, size: int) -> int:
    """Return the first of the places where a position may be kept."""
    mixed = (key & LOW) * 0x5C4BCBA5 ^ (key >> 32 & LOW) * 0x6D2B79F5
    return (mixed >> 23) & (size - BUCKET)


@kernel
def is_kept(table: Any, size: int, key: int) -> bool:
    """Return whether a position has been refuted."""
    first = bucket_of(key, size)
    found = False
    for place in range(first, first + BUCKET):
        found |= table[place] == key
    return found


@kernel
def keep(table: Any, size: int, key: int) -> None:
    """Note a refuted position, instead of some other where all its places are taken."""
    first = bucket_of(key, size)
    place = first
    while place < first + BUCKET and table[place] != 0:
        place += 1
    if place == first + BUCKET:
        place = first + ((key ^ key >> 32) & (BUCKET - 1))
    table[place] = key


@kernel
def enlarge(table: Any, size: int) -> int:
    """Spread what the table holds over more of it, and return how much that is."""
    larger = min(size * GROWTH, len(table))
    table[size:larger] = 0
    for place in range(size):
        key = table[place]
        if key:
            table[place] = 0
            keep(table, larger, key)
    return larger


@kernel
def key_of(s: Any) -> int:
    """Return a position as one number, or 0 where it has too few or too many empty cells."""
    if s.gone & (s.gone - 1) == 0 or count_bits(s.gone) > MOST_EMPTY:
        return int64(0)
    return s.names | s.hollow & REPEATED[lowest_bit(s.gone)]


@kernel
def move_names(s: Any, after: Any, start: int, end: int) -> None:
    """Make a move as far as the position's key needs it."""
    name = s.names >> 4 * start & 15
    covered = s.names >> 4 * end & 15
    after.names = s.names & ~(NIBBLE[start] | NIBBLE[end]) | name << 4 * end
    after.hollow = s.hollow | NIBBLE[start]
    after.gone = s.gone | bit(covered)


@kernel
def move_cards(s: Any, after: Any, start: int, end: int) -> None:
    """Make the rest of a move: the card from `start`, with all that it fits, now lies in `end`."""
    after.occupied = s.occupied & ~bit(start)
    others = ~(bit(start) | bit(end))
    for cell in range(CELLS):
        fits = s.fits[cell]
        after.fits[cell] = fits & others | (fits >> start & 1) << end
    after.fits[end] = s.fits[start] & others
    after.fits[start] = 0


@kernel
def set_up(s: Any, tops: Any) -> None:
    """Fill the first level from sixteen top cards."""
    occupied = int64(0)
    hollow = int64(0)
    for cell in range(CELLS):
        if tops[cell] == EMPTY:
            hollow |= NIBBLE[cell]
        else:
            occupied |= bit(cell)
    for cell in range(CELLS):
        fits = int64(0)
        friends = FITS[tops[cell]]
        for other in range(CELLS):
            fits |= (friends >> int64(tops[other]) & 1) << other
        s.fits[cell] = fits
    s.occupied = occupied
    s.gone = ALL_CELLS & ~occupied
    s.hollow = hollow
    s.names = FIRST_NAMES & ~hollow


@kernel
def settle(tops: Any, memory: Any) -> bool:
    """Return whether a position can be solved; the way and the nodes are left in `memory`."""
    table, levels, costs, rng = memory.table, memory.levels, memory.costs, memory.rng
    set_up(levels[0], tops)
    occupied = levels[0].occupied
    memory.report[NODES] = 1
    memory.report[FALLS_APART] = 0
    if not are_joined(levels[0], occupied, 0):
        memory.report[FALLS_APART] = CARDS
        return False
    if not is_joined(occupied):
        memory.report[FALLS_APART] = STACKS
        return False
    last = count_bits(occupied) - 1
    if last == 0:
        return True
    rng[0] = FIRST_RANDOM
    nodes = 1
    size = min(FIRST_SIZE, len(table))
    table[:size] = 0
    kept = 0
    limit = FIRST_LIMIT
    stop = nodes + limit
    noise = 0
    depth = 0
    list_moves(levels[0], noise, costs, rng)
    while True:
        s = levels[depth]
        if s.count == 0:  # all moves are refuted, and with them the position
            if depth == 0:
                memory.report[NODES] = nodes
                return False
            key = key_of(s)
            if key:
                keep(table, size, key)
                kept += 1
                if kept > size // 2 and size < len(table):
                    size = enlarge(table, size)
            depth -= 1
            continue
        if nodes >= stop:
            limit += limit // 20 + 1
            stop = nodes + (limit if nodes < MOST_IN_RUNS else NO_LIMIT)
            noise = NOISE
            depth = 0
            list_moves(levels[0], noise, costs, rng)
            continue
        best = 0
        for i in range(1, s.count):
            if s.moves[i] < s.moves[best]:
                best = i
        move = s.moves[best]
        s.count -= 1
        s.moves[best] = s.moves[s.count]
        start, end = move >> 4 & 15, move & 15
        s.move = ACTION[start, end]
        if depth + 1 == last:
            memory.report[NODES] = nodes + 1
            return True
        if not may_cover(s, end):
            continue
        after = levels[depth + 1]
        move_names(s, after, start, end)
        key = key_of(after)
        if key and is_kept(table, size, key):
            continue
        move_cards(s, after, start, end)
        depth += 1
        nodes += 1
        list_moves(after, noise, costs, rng)


@kernel
def settle_seeds(
    first: int, solvable: Any, nodes: Any, disconnected: Any, order: Any, memory: Any
) -> None:
    """Decide the published deals from seed `first` on, as many as there is room for."""
    for i in range(len(solvable)):
        published_order(first + i, 0, order, memory.rng)
        solvable[i] = settle(order, memory)
        nodes[i] = memory.report[NODES]
        disconnected[i] = memory.report[FALLS_APART] == CARDS


@kernel
def settle_at(states: Any, row: int, memory: Any) -> bool:
    """Decide the position in a row of an array of records."""
    return settle(states[row].tops, memory)


def solve_seeds(first: int, count: int) -> tuple[Array, Array, Array]:
    """Return for seeds `first`, `first + 1`, ...: whether solvable, nodes, whether disconnected."""
    solvable = np.zeros(count, dtype=np.bool_)
    nodes = np.zeros(count, dtype=np.int64)
    disconnected = np.zeros(count, dtype=np.bool_)
    order = np.empty(DECK, dtype=np.uint8)
    settle_seeds(first, solvable, nodes, disconnected, order, Scratch.new())
    return solvable, nodes, disconnected


@dataclass(frozen=True)
class Solution:
    """What a search found: the actions that solve a position, or in words why there are none."""

    actions: tuple[int, ...] | None
    nodes: int
    proof: str | None


def solve(state: State) -> Solution:
    """Return the solution of a deal or of any later position, or the proof that there is none."""
    s = state.array[0]
    if s.phase == DEAL:
        raise CardlabError("nothing is dealt yet; deal before asking for a solution")
    memory = Scratch.new()
    solvable = settle_at(state.array, 0, memory)
    nodes, falls_apart = memory.report.tolist()
    if solvable:
        stacks = sum(int(card) != EMPTY for card in s.tops)
        return Solution(tuple(memory.levels["move"][: stacks - 1].tolist()), nodes, None)
    if falls_apart == CARDS:
        groups = _groups(s, memory.levels["fits"][0].tolist())
        texts = [" ".join(card_text(int(s.tops[cell])) for cell in group) for group in groups]
        proof = "no card of one group ever fits a card of another"
    elif falls_apart == STACKS:
        groups = _groups(s, LINES.tolist())
        texts = [" ".join(cell_text(cell) for cell in group) for group in groups]
        proof = "no stack of one group ever shares a row or column with a stack of another"
    elif not s.pairs:
        return Solution(None, nodes, "no stack can move")
    elif nodes == 1:
        return Solution(None, nodes, "every move leaves stacks that can never come together")
    else:
        return Solution(None, nodes, f"every line of play is refuted, in {nodes:,} positions")
    return Solution(None, nodes, f"{proof}: {' | '.join(texts)}")


def _groups(s: Any, links: list[int]) -> list[list[int]]:
    """Return the occupied cells in groups that `links` join, the largest group first."""
    left = {cell for cell in range(CELLS) if s.tops[cell] != EMPTY}
    groups = []
    while left:
        group = [min(left)]
        for cell in group:
            group += [other for other in left if links[cell] >> other & 1 and other not in group]
        left -= set(group)
        groups.append(sorted(group))
    return sorted(groups, key=len, reverse=True)
