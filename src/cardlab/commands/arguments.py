"""Arguments that several commands take, and how they are read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cardlab.commands.completion import complete_agent, complete_game, complete_option
from cardlab.engine.errors import CardlabError

if TYPE_CHECKING:
    from cardlab.agents.outside import Limits

__all__ = [
    "AgentLogs",
    "AgentMemory",
    "AgentNames",
    "AnyGame",
    "GameName",
    "GameSeconds",
    "Json",
    "MoveSeconds",
    "OptionList",
    "SaveFile",
    "Seed",
    "StoreAddress",
    "Trust",
    "Workers",
    "read_limits",
    "read_options",
    "read_workers",
]

GameName = Annotated[
    str,
    typer.Argument(
        help="a game, see `cardlab games`", metavar="GAME", autocompletion=complete_game
    ),
]
AnyGame = Annotated[
    str | None,
    typer.Argument(help="a game; without it all", metavar="GAME", autocompletion=complete_game),
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
        help="an option of the game, such as seats=3; repeatable",
        metavar="NAME=VALUE",
        autocompletion=complete_option,
    ),
]
Seed = Annotated[int, typer.Option(help="the same seed gives the same result", metavar="N")]
Workers = Annotated[int, typer.Option(help="processes; 0: one for each core", metavar="N")]
Json = Annotated[bool, typer.Option("--json", help="print JSON instead of text")]
Trust = Annotated[bool, typer.Option("--trust", help="import games from outside that records name")]
SaveFile = Annotated[
    Path | None, typer.Option("--save", help="append every game's record here", metavar="FILE")
]
StoreAddress = Annotated[
    str | None,
    typer.Option(
        "--store",
        help="a file, or postgresql://user@host/database; without it the user's own",
        metavar="ADDRESS",
    ),
]
MoveSeconds = Annotated[
    float, typer.Option(help="seconds for each move of agents given as cmd:...", metavar="SECONDS")
]
GameSeconds = Annotated[
    float, typer.Option(help="seconds for each game of agents given as cmd:...", metavar="SECONDS")
]
AgentMemory = Annotated[
    int, typer.Option(help="memory for each agent given as cmd:...", metavar="MB")
]
AgentLogs = Annotated[
    Path | None,
    typer.Option(help="keep the standard error of agents given as cmd:...", metavar="FOLDER"),
]


def read_limits(
    move_seconds: float, game_seconds: float, agent_memory: int, agent_logs: Path | None
) -> Limits:
    """Return what agents given as `cmd:...` may take."""
    from cardlab.agents.outside import Limits

    folder = None if agent_logs is None else str(agent_logs.absolute())
    return Limits(move_seconds, game_seconds, memory_mb=agent_memory, log_folder=folder).check()


def read_options(given: list[str] | None) -> dict[str, str]:
    """Return the options that `name=value` texts mean."""
    options: dict[str, str] = {}
    for one in given or ():
        name, equals, value = one.partition("=")
        if not equals:
            raise CardlabError(f"option {one!r} has no value; write it as name=value")
        if name in options:
            raise CardlabError(f"option {name} is given twice")
        options[name] = value
    return options


def read_workers(asked: int) -> int:
    """Return how many processes to use."""
    from cardlab.arena.workers import default_workers

    if asked < 0:
        raise CardlabError(f"--workers {asked} is not possible; give 0 or more")
    return asked or default_workers()
