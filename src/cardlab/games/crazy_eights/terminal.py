"""What the terminal shows of Crazy Eights beyond zones and facts: what actions mean."""

from __future__ import annotations

from typing import Any

from cardlab.show.terminal_texts import TerminalTexts


def help_rows(s: Any) -> tuple[tuple[str, str], ...]:
    """Return what the texts of cards and actions mean."""
    return (
        ("7h, td", "play the seven of hearts, the ten of diamonds"),
        ("8h=s", "play the eight of hearts and call spades: the next card must be a spade, or 8"),
        ("pass", "play nothing, when the stock is empty and no card fits"),
    )


TERMINAL = TerminalTexts(help=help_rows)
