"""The games: one folder each, with a manifest in its `__init__.py` that names everything in it."""

from __future__ import annotations

from cardlab.engine.registry import find_game

__all__ = ["find_game"]
