"""The data that a game adds for its page, computed from the concealed record of a seat.

A manifest names a `PageData`; a game without one uses the general page.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from cardlab.engine.game import Game, State
from cardlab.engine.manifest import load
from cardlab.engine.registry import package_of

__all__ = ["PageData", "page_data_of"]


def no_view(s: Any, seat: int) -> dict[str, Any]:
    """Add nothing to a view."""
    return {}


def no_fields(action: int) -> dict[str, Any]:
    """Add nothing to an action."""
    return {}


def moves_unseen(action: int) -> str | None:
    """Hide every move from the other seats; their views show what they may see of it."""
    return "has moved"


def moves_seen(action: int) -> str | None:
    """Show every move to everybody."""
    return None


@dataclass(frozen=True)
class PageData:
    """What one game adds to its page: fields of views and actions, texts, and features."""

    view: Callable[[Any, int], dict[str, Any]] = no_view  # of a concealed record and its seat
    action: Callable[[int], dict[str, Any]] = no_fields  # fields beyond id, text and cards
    words: Callable[[int], str] | None = None  # an action as people say it; None: its text
    hidden: Callable[[int], str | None] = moves_unseen  # text for others, or None: a visible move
    result: Callable[[Sequence[float], bool], str] | None = None  # of a solo game: points, won
    solvable: Callable[[State], bool] | None = None  # whether a position can still be won
    margin: bool = False  # whether the result names the winning margin in points
    most_seed: int = 0  # number of numbered deals; 0: deals come from secret numbers
    keys: tuple[tuple[str, str], ...] = ()  # keyboard shortcuts beyond the usual ones
    cards: tuple[str, ...] = ()  # cards on the game's tile in the lobby


@functools.cache
def page_data_of(game: Game) -> PageData:
    """Return the page data of a game."""
    reference = package_of(game).page_data
    found: PageData = load(reference) if reference else PageData()
    return found
