"""The heuristic of Leduc poker: bet on a king or a pair, give up jacks."""

from __future__ import annotations

from typing import Any

from cardlab.engine.kernel import int64, kernel
from cardlab.games.leduc.rules import CALL, FOLD, PUBLIC, RAISE, rank_of

__all__ = ["choose"]

KING, PAIR = 2, 3


@kernel
def choose(s: Any, seat: int, actions: Any, count: int) -> int:
    """Raise with a king or a pair, call with what may still win, fold the rest."""
    rank = rank_of(int64(s.cards[seat]))
    worth = rank
    if s.street > 0:
        paired = rank == rank_of(int64(s.cards[PUBLIC]))
        worth = PAIR if paired else rank - 1  # the other seat may have the pair
    can_fold = actions[0] == FOLD
    can_raise = actions[count - 1] == RAISE
    if can_raise and worth >= KING:
        return RAISE
    if can_fold and worth <= 0:
        return FOLD
    return CALL
