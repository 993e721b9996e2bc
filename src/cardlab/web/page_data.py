"""What a game adds to what its page is sent; each part is computed from the concealed record.

A manifest names a `PageData`; a game without one has the general page.
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
    """Show no move to the others: only a view says what a seat has seen of it."""
    return "has moved"


def moves_seen(action: int) -> str | None:
    """Show every move to everybody."""
    return None


@dataclass(frozen=True)
class PageData:
    """What one game adds: fields of views and actions, words, and what its page offers."""

    view: Callable[[Any, int], dict[str, Any]] = no_view  # of a concealed record and its seat
    action: Callable[[int], dict[str, Any]] = no_fields  # typed fields beyond id, text and cards
    words: Callable[[int], str] | None = None  # for an action as people say it; None: its text
    hidden: Callable[[int], str | None] = moves_unseen  # words for a move whose cards lie face down
    result: Callable[[Sequence[float], bool], str] | None = None  # of a game for one: points, won
    solvable: Callable[[State], bool] | None = None  # whether a position can still be won
    margin: bool = False  # whether a result names the points by which it was won
    most_seed: int = 0  # deals are numbered and short enough to share; 0: any secret number
    keys: tuple[tuple[str, str], ...] = ()  # keys of the page beyond the usual ones
    cards: tuple[str, ...] = ()  # on the game's tile in the lobby


@functools.cache
def page_data_of(game: Game) -> PageData:
    """Return what a game adds to its page."""
    named = package_of(game).page_data
    found: PageData = load(named) if named else PageData()
    return found
