"""What lets `write.py` run on the source of version 0.1, from which the data was first written.

The data has the present names of agents and trainings everywhere; on that version they are
translated. Nothing here is used on later versions.
"""

from __future__ import annotations

import importlib.util
from typing import Any

RUNNING = importlib.util.find_spec("cardlab.engine") is None

OLD_AGENTS = {  # game -> present name -> name in version 0.1
    "crazy_eights": {"guided": "fair"},
    "uno": {"guided": "fair"},
    "koi_koi": {"koi_koi_linear": "koi_koi_terms"},
}
OLD_TRAININGS = {
    "koi_koi/linear": "koi_koi/terms",
    "cribbage/discards": "cribbage/tosses",
}
PRESENT_TRAININGS = {old: name for name, old in OLD_TRAININGS.items()}


def asked(spec: str, game: str) -> str:
    """Return how the running version calls an agent."""
    name, colon, rest = spec.partition(":")
    return f"{OLD_AGENTS.get(game, {}).get(name, name)}{colon}{rest}" if RUNNING else spec


def present_names(found: Any, game: str = "") -> Any:
    """Return JSON data of the running version with the present names, of agents with a game."""
    if not RUNNING:
        return found
    present = {old: name for name, old in OLD_AGENTS.get(game, {}).items()} | PRESENT_TRAININGS
    if isinstance(found, dict):
        return {key: present_names(value, game) for key, value in found.items()}
    if isinstance(found, list):
        return [present_names(value, game) for value in found]
    if isinstance(found, str):
        name, colon, rest = found.partition(":")
        return f"{present.get(name, name)}{colon}{rest}"
    return found
