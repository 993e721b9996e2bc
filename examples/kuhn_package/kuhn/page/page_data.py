"""What the page of Kuhn poker is sent beyond zones and facts."""

from __future__ import annotations

from typing import Any

from cardlab.web.page_data import PageData, moves_seen
from kuhn.rules import BET, FINISHED

__all__ = ["PAGE_DATA"]


def view(s: Any, seat: int) -> dict[str, Any]:
    """Return the chips of both seats in the pot, and whether a bet waits for its answer."""
    waits = s.phase != FINISHED and s.plies > 0 and s.bets[int(s.plies) - 1] == BET
    return {"chips": [int(chips) for chips in s.chips], "waits": bool(waits)}


def action(number: int) -> dict[str, Any]:
    """Return whether an action bets or passes."""
    return {"kind": "bet" if number == BET else "pass"}


PAGE_DATA = PageData(view=view, action=action, hidden=moves_seen, cards=("J", "Q", "K"))
