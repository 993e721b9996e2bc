"""What the terminal shows of Cribbage beyond zones and facts: what the texts of actions mean."""

from __future__ import annotations

from typing import Any

from cardlab.show.terminal_texts import TerminalTexts


def help_rows(s: Any) -> tuple[tuple[str, str], ...]:
    """Return what the texts of actions mean."""
    return (
        ("5h jd", "lay the five of hearts and the jack of diamonds away into the crib"),
        ("7h, td", "play the seven of hearts, the ten of diamonds"),
        ("count", "the sum of the cards played, at most 31; 15 and 31 bring 2 points"),
        ("pegged", "won points in the play; r 4 and r 5 list what brings points"),
    )


TERMINAL = TerminalTexts(help=help_rows, order="rank")
