"""The manifest of a game: everything that belongs to it, by name and import string.

A game's package holds one `PACKAGE = GamePackage(...)` in its `__init__.py`. The catalogue of
agents, the command line, the web table and the documentation read manifests and nothing else, so a
game from outside appears in all of them. A manifest imports no rules: reading all manifests takes a
few milliseconds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from cardlab.engine.arguments import read_text
from cardlab.engine.errors import CardlabError

__all__ = ["AgentEntry", "GamePackage", "Level", "Option", "Parameter", "load"]

DEFAULT_ADVISER = "monte_carlo:1000"


@dataclass(frozen=True)
class Option:
    """A variant of the rules that can be chosen: name, default, allowed values and meaning."""

    name: str  # as in options={name: value}
    default: Any  # value where none is given
    allowed: Sequence[Any]  # all values, or a range
    help: str  # meaning, in words

    def read(self, value: Any, game: str) -> Any:
        """Return `value`, from code or from text, as one of the allowed values."""
        meant = value
        if isinstance(value, str) and not isinstance(self.default, str):
            words = dict.fromkeys(("true", "yes", "on"), True)
            words |= dict.fromkeys(("false", "no", "off"), False)
            try:
                meant = words.get(value.lower()) if isinstance(self.default, bool) else int(value)
            except ValueError:
                meant = None
        if type(meant) is type(self.default) and meant in self.allowed:
            return meant
        raise CardlabError(
            f"option {self.name}={value!s:.60} of {game} is not allowed; use {self.allowed_text}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the option as plain data; `kind` is bool, range or choice."""
        data = {"name": self.name, "default": self.default, "help": self.help}
        if isinstance(self.allowed, range):
            bounds = {"from": self.allowed[0], "to": self.allowed[-1]}
            return {**data, "kind": "range", "allowed": bounds}
        kind = "bool" if isinstance(self.default, bool) else "choice"
        return {**data, "kind": kind, "allowed": list(self.allowed)}

    @property
    def allowed_text(self) -> str:
        """The allowed values in words."""
        if isinstance(self.default, bool):
            return "true or false"
        if isinstance(self.allowed, range):
            return f"a whole number from {self.allowed[0]} to {self.allowed[-1]}"
        return " or ".join(str(value) for value in self.allowed)


@dataclass(frozen=True)
class Parameter:
    """A number that an agent takes; the first of an entry may be given without its name."""

    name: str  # as in agent:name=value
    default: int | float  # value where none is given
    low: float  # least value
    help: str  # meaning, in words
    high: float = 10_000_000  # greatest value

    def read(self, text: str, agent: str) -> int | float:
        """Return the number that `text` stands for, after checking its range."""
        kind = type(self.default)
        try:
            value = kind(text)
        except ValueError:
            value = None
        if value is None or not self.low <= value <= self.high:
            what = "a whole number" if kind is int else "a number"
            raise CardlabError(
                f"{self.name}={text} of agent {agent!r} is not allowed; use {what} from "
                f"{self.low:g} to {self.high:,.0f}"
            )
        return value


@dataclass(frozen=True)
class AgentEntry:
    """A kind of agent: its name, what it does, and the class or function that makes it."""

    name: str  # as in find_agent(name, game)
    summary: str  # what it does, in one line
    maker: str  # import string of a class or function; it takes the parameters and a `name`
    parameters: tuple[Parameter, ...] = ()  # the first may be given without its name

    @property
    def fair(self) -> bool:
        """Whether the agent sees only what its seat has seen; other names end in `_open`."""
        return not self.name.endswith("_open")

    @property
    def usage(self) -> str:
        """The name with the default of the first parameter, such as `monte_carlo:1000`."""
        return f"{self.name}:{self.parameters[0].default:g}" if self.parameters else self.name


@dataclass(frozen=True)
class Level:
    """An opponent for people: the name of the level, the agent that plays, and its picture."""

    name: str  # such as "Easy"
    agent: str  # name of the agent that plays
    portrait: str = ""  # a file in the folder of the page; empty: none


@dataclass(frozen=True)
class GamePackage:
    """Everything that belongs to one game; every part but the game itself may be left out."""

    module: str  # the package that holds this manifest: its `__name__`
    game: str  # import string of the `Game`
    name: str = ""  # empty: the last part of `module`
    place: int = 100  # in lists of games: lower comes first
    title: str = ""  # name for people; empty: made from the name
    summary: str = ""  # one line about the game
    rules_version: int = 1  # raised when an older record would replay differently
    options: tuple[Option, ...] = ()  # variants that can be chosen
    agents: tuple[AgentEntry, ...] = ()  # of this game alone
    heuristic: str = ""  # module with a kernel `choose(view, seat, actions, count)`
    observation: str = ""  # import string of an `Observation`
    tokens: str = ""  # module that writes a decision as tokens, for card transformers
    levels: tuple[Level, ...] = ()  # from the weakest to the strongest, at most five
    adviser: str = DEFAULT_ADVISER  # the agent that explains and gives hints
    trainings: Mapping[str, str] = field(default_factory=dict)  # method -> module
    paper: str = ""  # import string of a `Report`
    commands: Mapping[str, str] = field(default_factory=dict)  # command -> import string
    page: str = ""  # folder with page.js and page.css for the web table
    page_data: str = ""  # import string of a `PageData`
    terminal: str = ""  # import string of the `TerminalTexts`
    deck: str = ""  # name of a general deck, or import string of a `Deck`
    rules: str = ""  # file with the rules as text, for people
    data: str = "data"  # folder of weights, tables and logs

    def __post_init__(self) -> None:
        """Complete the names."""
        if not self.name:
            object.__setattr__(self, "name", self.module.rpartition(".")[2])
        if not self.title:
            object.__setattr__(self, "title", self.name.replace("_", " ").title())
        if len(self.levels) > MOST_LEVELS:
            raise CardlabError(
                f"{self.module} has {len(self.levels)} levels; use at most {MOST_LEVELS}"
            )

    @property
    def folder(self) -> Path:
        """The folder of the game's files."""
        found = import_module(self.module).__file__
        if found is None:
            raise CardlabError(f"package {self.module} has no folder; give it an __init__.py")
        return Path(found).parent

    def lazy_attribute(self, name: str) -> Any:
        """Return `GAME` for `module:GAME`; a manifest's module uses this as its `__getattr__`."""
        if name == "GAME":
            return load(self.game)
        raise AttributeError(f"module {self.module!r} has no attribute {name!r}")

    def file(self, *parts: str) -> Path:
        """Return the path of a file in the game's folder."""
        return self.folder.joinpath(*parts)

    def shipped(self, *parts: str) -> Path:
        """Return the path of a shipped file: weights, tables or logs."""
        return self.folder.joinpath(self.data, *parts)


MOST_LEVELS = 5


def load(reference: str) -> Any:
    """Return the module or object that an import string names: `module` or `module:NAME`.

    The working folder is searched last, and only if a person has named code in it.
    """
    reference = read_text(reference, "import string", "package.module:NAME")
    module, _, attribute = reference.partition(":")
    found = import_module(module)
    return getattr(found, attribute) if attribute else found
