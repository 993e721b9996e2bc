"""The machinery of reports: what a paper claims, measured again (`cardlab reproduce GAME`)."""

from __future__ import annotations

from types import ModuleType

from cardlab.engine.errors import CardlabError
from cardlab.engine.manifest import load
from cardlab.engine.registry import find_package, known_packages

__all__ = ["find_paper"]


def find_paper(game: str) -> ModuleType:
    """Return the module that measures a game's paper again."""
    package = find_package(game)
    if not package.paper:
        known = ", ".join(name for name, one in known_packages().items() if one.paper)
        raise CardlabError(f"{package.name} has no paper; these games have one: {known}")
    module: ModuleType = load(package.paper)
    return module
