"""What a learner sees of Birds of a Feather: every top card by rank and suit; nothing is hidden."""

from __future__ import annotations

from typing import Any

from cardlab.engine.cards import RANKS, SUIT_NAMES
from cardlab.engine.kernel import int64, kernel
from cardlab.engine.observation import Block, from_kernel
from cardlab.games.birds_of_a_feather.rules import CELLS, COLUMN_NAMES, EMPTY, ROW_NAMES

PER_CELL = len(RANKS) + len(SUIT_NAMES) + 1
BARE = len(RANKS) + len(SUIT_NAMES)
STACKS = PER_CELL * CELLS

BLOCKS = (
    *(
        Block(
            row + column,
            (
                *(f"the top card of {row}{column} has rank {rank}" for rank in RANKS),
                *(f"the top card of {row}{column} is of {suit}" for suit in SUIT_NAMES),
                f"{row}{column} is empty",
            ),
        )
        for row in ROW_NAMES
        for column in COLUMN_NAMES
    ),
    Block("stacks", ("stacks left, / 16",)),
)


@kernel
def write(s: Any, seat: int, scratch: Any, out: Any) -> None:
    """Write the grid into a row of zeros."""
    for cell in range(CELLS):
        card = int64(s.tops[cell])
        at = PER_CELL * cell
        if card == EMPTY:
            out[at + BARE] = 1
        else:
            out[at + (card >> 2)] = 1
            out[at + len(RANKS) + (card & 3)] = 1
    out[STACKS] = (CELLS - int64(s.plies)) / CELLS


OBSERVATION = from_kernel(BLOCKS, write)
