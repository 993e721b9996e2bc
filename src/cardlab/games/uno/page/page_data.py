"""What the page of Uno is sent beyond zones and facts."""

from __future__ import annotations

from typing import Any

from cardlab.games.uno.cards import (
    ACTIONS,
    COLOUR_NAMES,
    DRAW,
    NAME,
    WILD,
    action_text,
    kind_text,
)
from cardlab.games.uno.kernels import COLOUR, DRAWN, NAMING, after
from cardlab.web.page_data import PageData, moves_seen


def view(s: Any, seat: int) -> dict[str, Any]:
    """Return colour and direction, who comes next, and what was or is to be drawn."""
    named = s.phase not in (COLOUR, NAMING)
    drew = s.phase == DRAWN and s.seat == seat
    return {
        "colour": COLOUR_NAMES[int(s.colour)] if named else None,
        "direction": -1 if s.backwards else 1,
        "next": int(after(s, int(s.seat))) if s.seats > 2 else None,
        "to_draw": int(s.stacked),
        "drew": kind_text(int(s.drawn)) if drew else None,
    }


def action(number: int) -> dict[str, Any]:
    """Return whether an action plays, draws, keeps or starts, and the colour that it calls."""
    if number >= NAME:
        return {"kind": "start", "call": COLOUR_NAMES[number - NAME]}
    if number >= DRAW:
        return {"kind": "draw" if number == DRAW else "keep", "call": None}
    colour, trait = divmod(number, ACTIONS)
    return {"kind": "play", "call": COLOUR_NAMES[colour] if trait >= WILD else None}


def words(number: int) -> str:
    """Return an action in words: `W calling green`, `begin with blue`."""
    call = action(number)["call"]
    if call is None:
        return action_text(number)
    return (
        f"begin with {call}" if number >= NAME else f"{kind_text(number % ACTIONS)} calling {call}"
    )


PAGE_DATA = PageData(
    view=view, action=action, words=words, hidden=moves_seen, cards=("R7", "BR", "W")
)
