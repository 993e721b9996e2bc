"""Arguments that several commands take, and how they are read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cardlab.errors import CardlabError

if TYPE_CHECKING:
    from cardlab.agents.outside import Limits

__all__ = [
    "AgentLogs",
    "AgentMemory",
    "GameName",
    "GameSeconds",
    "Json",
    "MoveSeconds",
    "OptionList",
    "Seed",
    "Workers",
    "read_limits",
    "read_options",
    "read_workers",
]

GameName = Annotated[str, typer.Argument(help="a game, see `cardlab games`", metavar="GAME")]
OptionList = Annotated[
    list[str] | None,
    typer.Option("-o", "--option", help="an option of the game, such as seats=3; repeatable"),
]
Seed = Annotated[int, typer.Option(help="the same seed gives the same deals and the same result")]
Workers = Annotated[int, typer.Option(help="processes to use; 0: one for each core")]
Json = Annotated[bool, typer.Option("--json", help="print JSON instead of a table")]
MoveSeconds = Annotated[float, typer.Option(help="seconds a move for agents given as cmd:...")]
GameSeconds = Annotated[float, typer.Option(help="seconds a game for agents given as cmd:...")]
AgentMemory = Annotated[int, typer.Option(help="megabytes for each agent given as cmd:...")]
AgentLogs = Annotated[
    Path | None, typer.Option(help="a folder for the standard error of agents given as cmd:...")
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
