"""Cards of games from outside whose texts belong to no deck of ours: the text on white paper."""

from __future__ import annotations

from html import escape

from cardlab.show.pictures.drawing import box, panel, stroke

__all__ = ["HIGH", "TEXTS", "WIDE", "art", "back", "icons", "title"]

WIDE, HIGH = 100, 140
TEXTS: tuple[str, ...] = ()  # any text is a card
LARGEST = 52


def title(text: str) -> str:
    """Return the words for a card: its text."""
    return text


def art(text: str) -> str:
    """Return the drawing of one card: its text, as large as it fits."""
    size = min(LARGEST, 140 / max(1, len(text)))
    return (
        panel("#fffdf7", "#888", 0.5, 0.5, 99, 139, 7)
        + f'<text x="50" y="70" dy=".35em" text-anchor="middle" font-size="{size:.0f}" '
        f'font-weight="600" font-family="system-ui, sans-serif" fill="#112">{escape(text)}</text>'
    )


def back() -> str:
    """Return the back of all cards."""
    frame = stroke("#b9c4cc", 1.4, box(7, 7, 86, 126, 4))
    return panel("#4a5a66", "#888", 0.5, 0.5, 99, 139, 7) + frame


def icons() -> dict[str, tuple[str, str, str]]:
    """Return nothing: these cards have no signs."""
    return {}
