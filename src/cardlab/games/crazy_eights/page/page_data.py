"""What the page of Crazy Eights is sent beyond zones and facts."""

from __future__ import annotations

from typing import Any

from cardlab.engine.cards import SUIT_NAMES, card_text
from cardlab.games.crazy_eights.rules import (
    DEAL,
    DRAW,
    EIGHT_ACTIONS,
    FIRST_EIGHT,
    PASS,
    action_text,
)
from cardlab.show.pictures.standard import RANK_NAMES
from cardlab.web.page_data import PageData, moves_seen

KINDS = {PASS: "pass", DRAW: "draw"}


def view(s: Any, seat: int) -> dict[str, Any]:
    """Return the suit in force, and the rank of the card on the pile."""
    if s.phase == DEAL:
        return {"suit": None, "rank": None}
    return {"suit": SUIT_NAMES[int(s.suit)], "rank": RANK_NAMES[int(s.top) >> 2]}


def called(number: int) -> str | None:
    """Return the name of the suit that an action calls."""
    return SUIT_NAMES[(number - EIGHT_ACTIONS) % 4] if EIGHT_ACTIONS <= number < PASS else None


def action(number: int) -> dict[str, Any]:
    """Return whether an action plays, draws or passes, and the suit that it calls."""
    return {"kind": KINDS.get(number, "play"), "call": called(number)}


def words(number: int) -> str:
    """Return an action in words: `8H calling spades`."""
    suit = called(number)
    if suit is None:
        return action_text(number)
    return f"{card_text(FIRST_EIGHT + (number - EIGHT_ACTIONS) // 4)} calling {suit}"


PAGE_DATA = PageData(
    view=view, action=action, words=words, hidden=moves_seen, cards=("QD", "8H", "8S")
)
