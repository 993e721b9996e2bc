"""What the terminal shows of Uno beyond zones and facts: what the texts of actions mean."""

from __future__ import annotations

from typing import Any

from cardlab.show.terminal_texts import TerminalTexts


def help_rows(s: Any) -> tuple[tuple[str, str], ...]:
    """Return what the texts of cards and actions mean."""
    return (
        ("r7", "play the red 7; the colours are R, G, B and Y: red, green, blue and yellow"),
        ("gs, br", "play the green skip, the blue reverse"),
        ("y+2", "play the yellow draw two"),
        ("w=g", "play a wild and call green; w+4=g is the wild draw four"),
        ("draw", "draw a card; keep: keep the card that you have drawn"),
    )


TERMINAL = TerminalTexts(help=help_rows)
