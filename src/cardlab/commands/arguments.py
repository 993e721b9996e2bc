"""Arguments that several commands share, and functions that read them."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cardlab.commands.completion import complete_agent, complete_game, complete_option
from cardlab.engine.errors import CardlabError

if TYPE_CHECKING:
    from cardlab.agents.outside import Limits

GameName = Annotated[
    str,
    typer.Argument(
        help="a game, see `cardlab games`", metavar="GAME", autocompletion=complete_game
    ),
]
AnyGame = Annotated[
    str | None,
    typer.Argument(
        help="a game, see `cardlab games`; default: all games",
        metavar="GAME",
        autocompletion=complete_game,
    ),
]
AgentNames = Annotated[
    list[str],
    typer.Argument(
        help="two or more agents, see `cardlab agents GAME`",
        metavar="AGENT",
        autocompletion=complete_agent,
    ),
]
OptionList = Annotated[
    list[str] | None,
    typer.Option(
        "-o",
        "--option",
        help="an option of the game, such as seats=3, see `cardlab games`; repeatable",
        metavar="NAME=VALUE",
        autocompletion=complete_option,
    ),
]
Seed = Annotated[int, typer.Option(help="seed of all random numbers", metavar="N")]
Workers = Annotated[int, typer.Option(help="number of processes; 0: one per core", metavar="N")]
Json = Annotated[bool, typer.Option("--json", help="print JSON instead of text")]
Trust = Annotated[
    bool, typer.Option("--trust", help="run code of games from outside that a file names")
]
SaveFile = Annotated[
    Path | None,
    typer.Option("--save", help="append the record of every game to this file", metavar="FILE"),
]
StoreAddress = Annotated[
    str | None,
    typer.Option(
        "--store",
        help="a file, or postgresql://user@host/database; default: the store in your data folder",
        metavar="ADDRESS",
    ),
]
LimitList = Annotated[
    list[str] | None,
    typer.Option(
        "--limits",
        help="limits of agents given as cmd:..., comma-separated: seconds per move (default: "
        "move=10), seconds per game (default: game=300), MB of memory (default: memory=2048), a "
        "folder for standard error (logs=FOLDER)",
        metavar="NAME=VALUE",
    ),
]
Salt = Annotated[
    str | None,
    typer.Option(
        "--salt",
        help="a secret that the deals depend on; default: none, or if an agent is a program a "
        "random one, shown at the end",
        metavar="TEXT",
    ),
]
FreshProcess = Annotated[
    bool,
    typer.Option(
        "--fresh-process",
        help="restart agents given as cmd:... for every game; default: one process per seating",
    ),
]
LIMITS: dict[str, tuple[str, Callable[[str], Any]]] = {  # name -> field of Limits, how it is read
    "move": ("move_seconds", float),
    "game": ("game_seconds", float),
    "memory": ("memory_mb", int),
    "logs": ("log_folder", lambda text: str(Path(text).absolute())),
}
NEXT_LIMIT = re.compile(rf",(?=(?:{'|'.join(LIMITS)})=)")  # a folder's name may have commas


def print_json(data: Any) -> None:
    """Print the result of a command as JSON; a path becomes text."""
    typer.echo(json.dumps(data, indent=2, default=str))


def read_limits(given: list[str] | None, fresh_process: bool = False) -> Limits:
    """Return the limits of agents given as `cmd:...`."""
    from cardlab.agents.outside import Limits

    fields: dict[str, Any] = {}
    for pair in itertools.chain(*(NEXT_LIMIT.split(text) for text in given or ())):
        name, equals, value = pair.partition("=")
        if name not in LIMITS or not equals:
            raise CardlabError(
                f"--limits must be NAME=VALUE with one of {', '.join(LIMITS)}, got {pair}; write "
                "--limits move=10,memory=2048"
            )
        field, read = LIMITS[name]
        try:
            fields[field] = read(value)
        except ValueError:
            kind = "a whole number" if read is int else "a number"
            raise CardlabError(f"--limits {name} must be {kind}, got {value}") from None
    return Limits(**fields, fresh_process=fresh_process).check()


def read_options(given: list[str] | None) -> dict[str, str]:
    """Return the options of a game from `name=value` texts."""
    options: dict[str, str] = {}
    for text in given or ():
        name, equals, value = text.partition("=")
        if not equals:
            raise CardlabError(f"option {text!r} has no value; write it as name=value")
        if name in options:
            raise CardlabError(f"option {name} is given twice")
        options[name] = value
    return options


def read_workers(asked: int) -> int:
    """Return the number of processes to use."""
    from cardlab.arena.workers import default_workers

    if asked < 0:
        raise CardlabError(f"--workers must be at least 0, got {asked}")
    return asked or default_workers()
