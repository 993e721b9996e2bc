"""The heuristic of Kuhn poker: bet with a king, call a bet with a queen, never bluff."""

from __future__ import annotations

from typing import Any

from cardlab.engine.kernel import int64, kernel
from kuhn.rules import BET, PASS

__all__ = ["choose"]

QUEEN, KING = 1, 2


@kernel
def choose(s: Any, seat: int, actions: Any, count: int) -> int:
    """Return the action for a seat that sees the view `s`."""
    card = int64(s.cards[seat])
    answers = s.plies > 0 and s.bets[int64(s.plies) - 1] == BET
    return BET if card == KING or (card == QUEEN and answers) else PASS
