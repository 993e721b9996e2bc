"""What one game adds to its table at the terminal; its manifest names it as `terminal`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cardlab.engine.game import Game
from cardlab.engine.manifest import load
from cardlab.engine.registry import package_of

__all__ = ["TerminalTexts", "terminal_texts_of"]


def no_rows(s: Any) -> tuple[tuple[str, str], ...]:
    """Return no rows of help."""
    return ()


def no_facts(s: Any, seat: int) -> dict[str, str]:
    """Return no facts beyond those of the description."""
    return {}


def no_effect(s: Any, action: int) -> str:
    """Return nothing about an action."""
    return ""


@dataclass(frozen=True)
class TerminalTexts:
    """Texts of one game for a person at the terminal.

    The functions get the record of the person's own view, so they know nothing that is hidden.
    """

    help: Callable[[Any], tuple[tuple[str, str], ...]] = no_rows  # rows of `?`: a text, its meaning
    facts: Callable[[Any, int], dict[str, str]] = no_facts  # of a view and its seat
    effect: Callable[[Any, int], str] = no_effect  # what an action of the seat to move would do
    heading: str = ""  # a line above the zones of the middle, such as the numbers of columns
    order: str = "suit"  # of a hand of standard cards: by "suit" first, or by "rank"


@functools.cache
def terminal_texts_of(game: Game) -> TerminalTexts:
    """Return the texts of a game; a game without any gets empty ones."""
    reference = package_of(game).terminal
    found: TerminalTexts = load(reference) if reference else TerminalTexts()
    return found
