"""Rules of thumb for Crazy Eights: keep eights, lead towards one's own cards."""

from __future__ import annotations

from typing import Any

from cardlab.games.crazy_eights import (
    DRAW,
    EIGHT_ACTIONS,
    EIGHTS,
    FIRST_EIGHT,
    ONE_RANK,
    ONE_SUIT,
    PASS,
    hand_value,
)
from cardlab.kernel import bit, count_bits, int64, kernel

__all__ = ["choose"]


@kernel
def choose(s: Any, seat: int, actions: Any, count: int) -> int:
    """Keep eights for need; lead towards cards of one's own, costly ones first.

    A card scores by how many cards in hand could follow it, then by its value. An eight is played
    when nothing else fits or it is the last card, for the suit held most.
    """
    best = -1
    choice = int64(actions[0])
    hand = s.hands[seat]
    for i in range(count):
        action = int64(actions[i])
        if action == PASS:
            return action
        if action == DRAW:
            score = 0
        elif action < EIGHT_ACTIONS:
            card = action if action < FIRST_EIGHT else action + 4
            rest = hand & ~bit(card)
            followers = (ONE_SUIT << (card & 3)) | (ONE_RANK << (card & ~3))
            score = 1000 + 100 * count_bits(rest & followers) + hand_value(bit(card))
        else:
            rest = hand & ~EIGHTS
            score = 1 + count_bits(rest & (ONE_SUIT << (action & 3)))
        if score > best:
            best = score
            choice = action
    return choice
