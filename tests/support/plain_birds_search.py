"""Two plain, complete searches for Birds of a Feather, over the game's own kernels.

Both go depth first and remember the positions that they have refuted, with every card of the
position in the key, so that no two positions are ever mistaken for each other. `reference` takes
moves by ascending id and counts nodes as the published search does. `guided` orders moves and gives
up positions that are lost for one of two reasons:

- Cards that fit each other, wherever they lie, are joined; a card moves only onto one that it
  fits, so each group of joined cards keeps at least one card, and two groups cannot become one
  stack.
- Stacks that share a line are joined; a stack moves only along lines onto others, so two groups of
  joined stacks cannot become one stack either.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cardlab.engine.kernel import bit, count_bits, int64, kernel, lowest_bit
from cardlab.games.birds_of_a_feather.rules import (
    CELLS,
    EMPTY,
    FITS,
    FROM,
    MOST_MOVES,
    NUM_ACTIONS,
    PARTNER,
    STATE,
    TO,
    apply,
    deal,
    fresh,
    legal,
    published_order,
)

REFUTED, SOLVED, UNDECIDED = 0, 1, 2
CARD_BITS = 6
KEY_BITS = CARD_BITS * CELLS // 2
TAG = 0x3FFF

LINES = np.array([sum(1 << int(p) for p in PARTNER[cell]) for cell in range(CELLS)], dtype=np.int64)


class Memory(NamedTuple):
    """Room for one search at a time: a table of refuted positions, and the path."""

    low: Any
    high: Any
    path: Any
    actions: Any
    scores: Any
    counts: Any
    order: Any
    rng: Any

    @classmethod
    def of(cls, bits: int) -> Memory:
        """Return memory for nearly 2**bits refuted positions."""
        return cls(
            np.zeros(1 << bits, dtype=np.int64),
            np.zeros(1 << bits, dtype=np.int64),
            np.empty(CELLS + 1, dtype=STATE),
            np.empty((CELLS, NUM_ACTIONS), dtype=np.int16),
            np.empty(NUM_ACTIONS, dtype=np.int64),
            np.empty(CELLS, dtype=np.int64),
            np.empty(52, dtype=np.uint8),
            np.zeros(1, dtype=np.int64),
        )


@kernel
def pack(s: Any, first: int, tag: int) -> int:
    """Return half of a position as a number, marked with the search that it belongs to."""
    key = int64(tag)
    for cell in range(first, first + CELLS // 2):
        key = key << CARD_BITS | int64(s.tops[cell])
    return key


@kernel
def find(low: Any, high: Any, a: int, b: int) -> int:
    """Return the slot of a position, or the free slot where it belongs.

    A slot that another search has filled counts as free, so that nothing is ever cleared.
    """
    mask = len(low) - 1
    mixed = (a ^ b >> 17 ^ b << 15) * 0x2545F4914F6CDD1D
    slot = (mixed ^ mixed >> 29) & mask
    while (low[slot] != a or high[slot] != b) and (
        low[slot] >> KEY_BITS == a >> KEY_BITS and high[slot] >> KEY_BITS == b >> KEY_BITS
    ):
        slot = (slot + 1) & mask
    return slot


@kernel
def falls_apart(s: Any) -> bool:
    """Return whether the top cards, or the stacks, are in groups that can never join."""
    cards = int64(0)
    cells = int64(0)
    for cell in range(CELLS):
        if s.tops[cell] != EMPTY:
            cards |= bit(s.tops[cell])
            cells |= bit(cell)
    reached = cards & -cards
    new = reached
    while new:
        near = FITS[lowest_bit(new)] & cards & ~reached
        new = new & (new - 1) | near
        reached |= near
    if reached != cards:
        return True
    reached = cells & -cells
    new = reached
    while new:
        near = LINES[lowest_bit(new)] & cells & ~reached
        new = new & (new - 1) | near
        reached |= near
    return reached != cells


@kernel
def sort_moves(path: Any, depth: int, actions: Any, count: int, scores: Any) -> None:
    """Sort moves: cover hard cards first, keep many moves, leave cells with few neighbours."""
    s = path[depth]
    after = path[depth + 1]
    cards = int64(0)
    cells = int64(0)
    for cell in range(CELLS):
        if s.tops[cell] != EMPTY:
            cards |= bit(s.tops[cell])
            cells |= bit(cell)
    for i in range(count):
        action = int64(actions[depth, i])
        start, end = FROM[action], TO[action]
        path[depth + 1] = path[depth]
        apply(after, action)
        score = 4 * count_bits(FITS[s.tops[end]] & cards)
        score += 2 * count_bits(LINES[start] & cells)
        score -= 2 * count_bits(after.pairs)
        j = i
        while j and scores[j - 1] > score:
            scores[j] = scores[j - 1]
            actions[depth, j] = actions[depth, j - 1]
            j -= 1
        scores[j] = score
        actions[depth, j] = action


@kernel
def search(
    seed: int,
    number: int,
    guided: bool,
    out: Any,
    low: Any,
    high: Any,
    path: Any,
    actions: Any,
    scores: Any,
    counts: Any,
    order: Any,
    rng: Any,
) -> int:
    """Decide the published deal of `seed`, from its fresh state in `path[0]`.

    `number` tells searches in one memory apart. Nodes go into `out[0]`, refuted positions into
    `out[1]`.
    """
    published_order(seed, 0, order, rng)
    deal(path[0], order)
    nodes = 1
    refuted = 0
    room = len(low) - len(low) // 8
    tag_low, tag_high = number & TAG, number >> 14
    verdict = UNDECIDED
    depth = 0
    counts[0] = -1
    if falls_apart(path[0]):
        verdict = REFUTED
    while verdict == UNDECIDED and refuted < room:
        s = path[depth]
        lost = False
        if counts[depth] < 0:  # entered for the first time
            if s.plies == MOST_MOVES:
                verdict = SOLVED
                continue
            a, b = pack(s, 0, tag_low), pack(s, CELLS // 2, tag_high)
            slot = find(low, high, a, b)
            lost = low[slot] == a and high[slot] == b
            if not lost and guided and falls_apart(s):
                lost = True
            if not lost:
                counts[depth] = legal(s, actions[depth])
                if guided:
                    sort_moves(path, depth, actions, counts[depth], scores)
                for i in range(counts[depth] // 2):  # the first move last, to count down
                    j = counts[depth] - 1 - i
                    action = actions[depth, i]
                    actions[depth, i] = actions[depth, j]
                    actions[depth, j] = action
        if not lost and counts[depth] == 0:
            a, b = pack(s, 0, tag_low), pack(s, CELLS // 2, tag_high)
            slot = find(low, high, a, b)
            low[slot], high[slot] = a, b
            refuted += 1
            lost = True
        if lost:
            depth -= 1
            if depth < 0:
                verdict = REFUTED
            continue
        counts[depth] -= 1
        path[depth + 1] = path[depth]
        apply(path[depth + 1], int64(actions[depth, counts[depth]]))
        depth += 1
        counts[depth] = -1
        nodes += 1
    out[0], out[1] = nodes, refuted
    return verdict


@kernel
def search_many(
    first: int,
    guided: bool,
    fresh: Any,
    verdicts: Any,
    nodes: Any,
    out: Any,
    low: Any,
    high: Any,
    path: Any,
    actions: Any,
    scores: Any,
    counts: Any,
    order: Any,
    rng: Any,
) -> None:
    """Decide the seeds from `first` on, as many as `verdicts` has room for."""
    for i in range(len(verdicts)):
        path[0] = fresh[0]
        verdicts[i] = search(
            first + i,
            i + 1,
            guided,
            out,
            low,
            high,
            path,
            actions,
            scores,
            counts,
            order,
            rng,
        )
        nodes[i] = out[0]


def decide(seeds: range, *, guided: bool, bits: int) -> tuple[Any, Any]:
    """Return the verdict and the number of nodes for every seed of a range."""
    verdicts = np.zeros(len(seeds), dtype=np.int64)
    nodes = np.zeros(len(seeds), dtype=np.int64)
    out = np.zeros(2, dtype=np.int64)
    search_many(seeds.start, guided, fresh(), verdicts, nodes, out, *Memory.of(bits))
    return verdicts, nodes


def solve(seed: int, *, guided: bool, bits: int = 20) -> list[int] | None:
    """Return the actions that solve a published deal, or None if nothing does."""
    memory = Memory.of(bits)
    memory.path[:1] = fresh()
    verdict = search(seed, 1, guided, np.zeros(2, dtype=np.int64), *memory)
    assert verdict != UNDECIDED, f"seed {seed}: the table of refuted positions is too small"
    return memory.path[MOST_MOVES].log_action.tolist() if verdict == SOLVED else None
