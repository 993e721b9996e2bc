"""The games: one module of rules each, found by name or as `package.module:NAME`.

A package from outside can give its game a name: an entry point of the group `cardlab.games`.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

from cardlab.errors import CardlabError, suggest
from cardlab.game import Game

__all__ = ["GAMES", "find_game", "import_named", "installed", "module_exists"]

GAMES = {
    name: f"cardlab.games.{name}:GAME"
    for name in ("crazy_eights", "uno", "birds_of_a_feather", "koi_koi", "cribbage")
}


def find_game(name: str) -> Game:
    """Return a game by its name, or one from outside by entry point or `package.module:NAME`."""
    reference = GAMES.get(name) or installed("cardlab.games").get(name)
    if reference is None and "." not in name and ":" not in name:
        raise CardlabError(suggest("game", name, {**GAMES, **installed("cardlab.games")}))
    found = import_named(reference or name, "game")
    if not isinstance(found, Game):
        raise CardlabError(f"{name!r} is a {type(found).__name__}, not a cardlab Game")
    return found


@cache
def installed(group: str) -> dict[str, str]:
    """Return what installed packages offer under a group of entry points, name by name.

    Where two packages offer one name, neither is trusted with it: both are left to their full
    reference.
    """
    found: dict[str, set[str]] = {}
    for one in entry_points(group=group):
        found.setdefault(one.name, set()).add(one.value.replace(" ", ""))
    return {name: values.pop() for name, values in sorted(found.items()) if len(values) == 1}


def import_named(reference: str, what: str) -> object:
    """Return the object that `package.module:NAME` names, from the working folder too."""
    module, _, attribute = reference.partition(":")
    if not attribute.isidentifier() or not all(part.isidentifier() for part in module.split(".")):
        raise CardlabError(f"{what} {reference!r} names no object; write package.module:NAME")
    _look_here_too()
    try:
        loaded = import_module(module)
    except Exception as error:  # whatever a person's module raises is theirs to read
        reason = f"{type(error).__name__}: {error}"
        raise CardlabError(f"{what} {reference!r} cannot be imported ({reason})") from None
    if not hasattr(loaded, attribute):
        raise CardlabError(f"{what} {reference!r}: {module} has no {attribute!r}")
    return getattr(loaded, attribute)


def module_exists(name: str) -> bool:
    """Return whether a module of this name can be imported, from the working folder too."""
    _look_here_too()
    try:
        return name.isidentifier() and find_spec(name) is not None
    except ValueError:  # loaded without a spec, as a script's `__main__` is
        return name in sys.modules


def _look_here_too() -> None:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)
