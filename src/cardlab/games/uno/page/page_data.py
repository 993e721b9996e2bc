"""What the page of Uno is sent beyond zones and facts."""

from __future__ import annotations

from typing import Any

from cardlab.games.uno.cards import COLOUR_NAMES
from cardlab.games.uno.kernels import COLOUR, NAMING
from cardlab.web.page_data import PageData, moves_seen

__all__ = ["PAGE_DATA"]


def view(s: Any, seat: int) -> dict[str, Any]:
    """Return the colour in force and the direction of play."""
    named = s.phase not in (COLOUR, NAMING)
    return {
        "colour": COLOUR_NAMES[int(s.colour)] if named else None,
        "direction": -1 if s.backwards else 1,
    }


PAGE_DATA = PageData(
    view=view,
    hidden=moves_seen,
    rules=(
        "Get rid of your cards: each must match the pile’s colour or sign. Wilds call a colour. "
        "Who has nothing that fits draws a card."
    ),
    cards=("R7", "BR", "W"),
)
