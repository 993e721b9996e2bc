"""Games by name: the folders of `cardlab.games`, and packages from outside.

A package from outside gives its game a name by an entry point of the group `cardlab.games`, whose
value is a `Game` or a `GamePackage`. Any other game is found as `package.module:NAME`. Such a name
runs code: it is trusted if a person has typed it; a name from a file (a record, a store, a network)
is trusted only if a person says so.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from cardlab.aliases import current_reference
from cardlab.engine.arguments import shorten
from cardlab.engine.errors import CardlabError, reason_of, suggest
from cardlab.engine.importing import import_first_here
from cardlab.engine.manifest import GamePackage

if TYPE_CHECKING:
    from cardlab.engine.game import Game

__all__ = [
    "find_game",
    "find_package",
    "import_named",
    "installed",
    "known_packages",
    "needs_trust",
    "our_games",
    "our_packages",
    "package_of",
]

HOME = "cardlab.games"  # its folders are our games


@cache
def our_packages() -> dict[str, GamePackage]:
    """Return the manifests of the games of this package, by name."""
    home = import_module(HOME)
    folders = [path.parent for place in home.__path__ for path in Path(place).glob("*/__init__.py")]
    names = [folder.name for folder in folders]
    packages = [import_module(f"{HOME}.{name}").PACKAGE for name in names]
    return {item.name: item for item in sorted(packages, key=lambda item: (item.place, item.name))}


def our_games() -> tuple[str, ...]:
    """Return the names of the games of this package."""
    return tuple(our_packages())


def known_packages() -> dict[str, GamePackage]:
    """Return all manifests by name: ours, and those of installed packages that can be loaded."""
    found = dict(our_packages())
    for name in installed("cardlab.games"):
        try:
            package = find_package(name)
        except CardlabError:
            continue  # the error is shown when this game is asked for
        found.setdefault(name, package)
    return found


def find_package(game: str | Game, *, trust: bool = True) -> GamePackage:
    """Return the manifest of a game, given as for `find_game`.

    A name that no person has typed is looked up with `trust=False`.
    """
    found = _find(game, trust) if isinstance(game, str) else find_game(game)
    return found if isinstance(found, GamePackage) else package_of(found)


def find_game(game: str | Game, *, trust: bool = True) -> Game:
    """Return the game with this name, entry point or import string; a game is returned unchanged.

    With `trust=False` the name imports no new code: it must belong to one of our games, to an
    installed package or to code that is already loaded.
    """
    if isinstance(game, str):
        found = _find(game, trust)
        if isinstance(found, GamePackage):
            found = _require_game(import_named(found.game, "game"), game)
    else:
        found = _require_object(game)
    _check_once(found)
    return found


def _require_object(game: object) -> Game:
    """Return a game that is not given as text."""
    from cardlab.engine.game import Game

    if not isinstance(game, Game):
        raise CardlabError(
            f"game must be a Game or the name of one, got {shorten(game)}; known: "
            f"{', '.join(our_games())}"
        )
    return game


def _find(name: str, trust: bool) -> GamePackage | Game:
    if name in our_packages():
        return our_packages()[name]
    reference = installed("cardlab.games").get(name)
    if reference is None and "." not in name and ":" not in name:
        known = {**our_packages(), **installed("cardlab.games")}
        raise CardlabError(suggest("game", name, known))
    if reference is not None:
        found = import_named(reference, "game", here=False)
    elif trust or _is_known(name):
        found = import_named(name, "game")
    else:
        raise CardlabError(
            f"game {name!r} is code from outside, which would run here; give --trust if you know "
            "where it comes from"
        )
    return found if isinstance(found, GamePackage) else _require_game(found, name)


def _is_known(reference: str) -> bool:
    """Return whether a reference names something installed here, or code that is loaded."""
    reference = current_reference(reference)
    if _is_installed(reference):
        return True
    from cardlab.engine.game import Game

    module, _, attribute = reference.partition(":")
    loaded = vars(sys.modules[module]) if module in sys.modules else {}
    return isinstance(loaded.get(attribute), (Game, GamePackage))


def _is_installed(reference: str) -> bool:
    """Return whether a reference names one of our games or a game of an installed package."""
    if reference in installed("cardlab.games").values():
        return True
    return any(package.game == reference for package in known_packages().values())


def needs_trust(game: Game) -> bool:
    """Return whether a command that reads a record of this game needs `--trust`."""
    return not _is_installed(game.reference)


def package_of(game: Game) -> GamePackage:
    """Return the manifest of a game: of its module, of the package around it, or an empty one."""
    module, _, _ = game.reference.partition(":")
    for home in (module, module.rpartition(".")[0]):
        found = getattr(sys.modules.get(home), "PACKAGE", None)
        if isinstance(found, GamePackage) and found.game == game.reference:
            return found
    return _empty_package(game)


@cache
def _empty_package(game: Game) -> GamePackage:
    module = game.reference.partition(":")[0]
    return GamePackage(
        module,
        game.reference,
        name=game.name,
        title=game.title,
        summary=game.summary,
        rules_version=game.rules_version,
        options=game.options,
    )


def _require_game(found: object, name: str) -> Game:
    from cardlab.engine.game import Game

    if not isinstance(found, Game):
        raise CardlabError(f"{name!r} is a {type(found).__name__}, not a cardlab Game")
    return found


@cache
def _check_once(game: Game) -> None:
    game.check_contract()


@cache
def installed(group: str) -> dict[str, str]:
    """Return the entry points of a group from all installed packages, by name.

    A name that two packages offer is left out; both are found by their full reference.
    """
    found: dict[str, set[str]] = {}
    for entry in entry_points(group=group):
        found.setdefault(entry.name, set()).add(entry.value.replace(" ", ""))
    return {name: values.pop() for name, values in sorted(found.items()) if len(values) == 1}


def import_named(reference: str, what: str, *, here: bool = True) -> object:
    """Return the object that `package.module:NAME` names, from the working folder first.

    With `here=False` the working folder is left out, as for entry points of installed packages.
    """
    reference = current_reference(reference)
    module, _, attribute = reference.partition(":")
    if not attribute.isidentifier() or not all(part.isidentifier() for part in module.split(".")):
        home, _, last = module.rpartition(".")
        meant = f"{home}:{last}" if home and last and not attribute else "package.module:NAME"
        raise CardlabError(f"{what} {reference!r} does not name an object; write {meant}")
    try:
        loaded = import_first_here(module) if here else import_module(module)
    except Exception as error:  # whatever a person's module raises is theirs to read
        top = module.partition(".")[0]
        if isinstance(error, ModuleNotFoundError) and error.name == top:
            files = [
                path.stem for path in Path().iterdir() if path.is_dir() or path.suffix == ".py"
            ]
            near = _close(top, files)
            meant = f"; did you mean {near[0]}{reference.removeprefix(top)}?" if near else ""
            raise CardlabError(
                f"{what} {reference!r} cannot be imported: there is no {top}.py in this folder "
                f"and no installed module {top}{meant}"
            ) from None
        raise CardlabError(
            f"{what} {reference!r} cannot be imported ({reason_of(error)})"
        ) from error
    if not hasattr(loaded, attribute):
        raise CardlabError(f"{what} {reference!r}: {_missing_text(loaded, attribute)}")
    return getattr(loaded, attribute)


def _missing_text(module: ModuleType, attribute: str) -> str:
    """Say that a module has no such name, and what may have been meant."""
    message = f"{module.__name__} has no {attribute!r}"
    found, here = getattr(module, "__file__", None), Path(f"{module.__name__}.py").absolute()
    if here.exists() and (found is None or Path(found).resolve() != here.resolve()):
        return (
            f"{message}: the module is {found or 'built into Python'}, not {here.name} in this "
            "folder; give the file another name"
        )
    near = _close(attribute, [name for name in vars(module) if name[0] != "_"])
    return f"{message}; did you mean {module.__name__}:{near[0]}?" if near else message


def _close(name: str, known: list[str]) -> list[str]:
    """Return the known name that is closest to a mistaken one, if one is close."""
    from difflib import get_close_matches  # loaded for a mistake only

    return get_close_matches(name, known, n=1)
