"""Heuristic for Birds of a Feather: keep all cards connected, cover cards that fit few others."""

from __future__ import annotations

from typing import Any

from cardlab.engine.kernel import bit, count_bits, int64, kernel, lowest_bit
from cardlab.games.birds_of_a_feather.features import LINES, is_joined, occupied_cells, top_cards
from cardlab.games.birds_of_a_feather.rules import (
    CELLS,
    FITS,
    FROM,
    TO,
    TOUCHING,
    pairs_after,
)

COVERED, LEFT, FEWEST, APART = 4, 3, 6, 1000


@kernel
def choose(s: Any, seat: int, actions: Any, count: int) -> int:
    """Avoid what cannot be won, cover cards that fit few others, leave no stack without a move.

    Lost is a position whose top cards fall into groups that do not fit each other, or whose stacks
    fall into groups without a common line. Otherwise a move costs by the number of cards that the
    covered card fits and of stacks in line with the cell that is left, and gains by the number of
    moves of the least mobile stack afterwards.
    """
    cards, cells = top_cards(s), occupied_cells(s)
    least = int64(2 * APART)
    choice = int64(actions[0])
    for i in range(count):
        action = int64(actions[i])
        start, end = FROM[action], TO[action]
        covered = int64(s.tops[end])
        cost = COVERED * count_bits(FITS[covered] & cards) + LEFT * count_bits(LINES[start] & cells)
        pairs = pairs_after(s, action)
        fewest = int64(CELLS)
        rest = cells & ~bit(start)
        while rest:
            fewest = min(fewest, count_bits(pairs & TOUCHING[lowest_bit(rest)]))
            rest &= rest - 1
        cost -= FEWEST * fewest
        if not (is_joined(cards & ~bit(covered), FITS) and is_joined(cells & ~bit(start), LINES)):
            cost += APART
        if cost < least:
            least = cost
            choice = action
    return choice
