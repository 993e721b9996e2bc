"""The games: one module of rules each, found by name or as `package.module:NAME`.

A package from outside can give its game a name: an entry point of the group `cardlab.games`.
"""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType

from cardlab.errors import CardlabError, reason_of, suggest
from cardlab.game import Game
from cardlab.importing import import_first_here

__all__ = ["GAMES", "find_game", "import_named", "installed"]

GAMES = {
    name: f"cardlab.games.{name}:GAME"
    for name in ("crazy_eights", "uno", "birds_of_a_feather", "koi_koi", "cribbage")
}

_check_once = cache(Game.check_contract)


def find_game(name: str) -> Game:
    """Return a game by its name, or one from outside by entry point or `package.module:NAME`."""
    reference = GAMES.get(name) or installed("cardlab.games").get(name)
    if reference is None and "." not in name and ":" not in name:
        raise CardlabError(suggest("game", name, {**GAMES, **installed("cardlab.games")}))
    found = import_named(reference or name, "game")
    if not isinstance(found, Game):
        raise CardlabError(f"{name!r} is a {type(found).__name__}, not a cardlab Game")
    _check_once(found)
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
    """Return the object that `package.module:NAME` names, from the working folder first."""
    module, _, attribute = reference.partition(":")
    if not attribute.isidentifier() or not all(part.isidentifier() for part in module.split(".")):
        home, _, last = module.rpartition(".")
        meant = f"{home}:{last}" if home and last and not attribute else "package.module:NAME"
        raise CardlabError(f"{what} {reference!r} names no object; write {meant}")
    try:
        loaded = import_first_here(module)
    except Exception as error:  # whatever a person's module raises is theirs to read
        top = module.partition(".")[0]
        if isinstance(error, ModuleNotFoundError) and error.name == top:
            here = [one.stem for one in Path().iterdir() if one.is_dir() or one.suffix == ".py"]
            near = get_close_matches(top, here, n=1)
            meant = f"; did you mean {near[0]}{reference.removeprefix(top)}?" if near else ""
            raise CardlabError(
                f"{what} {reference!r} cannot be imported: there is no {top}.py in this folder "
                f"and no installed module {top}{meant}"
            ) from None
        raise CardlabError(
            f"{what} {reference!r} cannot be imported ({reason_of(error)})"
        ) from error
    if not hasattr(loaded, attribute):
        raise CardlabError(f"{what} {reference!r}: {_lack(loaded, attribute)}")
    return getattr(loaded, attribute)


def _lack(module: ModuleType, attribute: str) -> str:
    """Say that a module has no such name, and what may have been meant."""
    said = f"{module.__name__} has no {attribute!r}"
    found, here = getattr(module, "__file__", None), Path(f"{module.__name__}.py").absolute()
    if here.exists() and (found is None or Path(found).resolve() != here.resolve()):
        return f"{said}, for it is {found or 'built in'}; give {here.name} another name"
    near = get_close_matches(attribute, [one for one in vars(module) if one[0] != "_"], n=1)
    return f"{said}; did you mean {module.__name__}:{near[0]}?" if near else said
