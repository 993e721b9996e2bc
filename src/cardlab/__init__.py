"""cardlab: card-playing AI, built, measured and played against."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

if TYPE_CHECKING:
    from cardlab.agents.catalog import find_agent
    from cardlab.agents.play import play_game
    from cardlab.engine.batch import Batch
    from cardlab.engine.errors import CardlabError, CardlabWarning, IllegalAction
    from cardlab.engine.game import Agent, Game, State, Turn, Turns, View
    from cardlab.engine.play import Table
    from cardlab.engine.records import Record
    from cardlab.engine.registry import find_game

__all__ = [
    "Agent",
    "Batch",
    "CardlabError",
    "CardlabWarning",
    "Game",
    "IllegalAction",
    "Record",
    "State",
    "Table",
    "Turn",
    "Turns",
    "View",
    "__version__",
    "find_agent",
    "find_game",
    "play_game",
]

_HOMES = {
    "cardlab.agents.catalog": ("find_agent",),
    "cardlab.agents.play": ("play_game",),
    "cardlab.engine.batch": ("Batch",),
    "cardlab.engine.errors": ("CardlabError", "CardlabWarning", "IllegalAction"),
    "cardlab.engine.game": ("Agent", "Game", "State", "Turn", "Turns", "View"),
    "cardlab.games": ("find_game",),
    "cardlab.engine.play": ("Table",),
    "cardlab.engine.records": ("Record",),
}


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used, so that `import cardlab` stays quick."""
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module 'cardlab' has no attribute {name!r}")
