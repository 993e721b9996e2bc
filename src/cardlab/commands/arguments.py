"""Arguments that several commands take, and how they are read."""

from __future__ import annotations

from typing import Annotated

import typer

from cardlab.errors import CardlabError

__all__ = ["GameName", "Json", "OptionList", "Seed", "Workers", "read_options", "read_workers"]

GameName = Annotated[str, typer.Argument(help="a game, see `cardlab games`", metavar="GAME")]
OptionList = Annotated[
    list[str] | None,
    typer.Option("-o", "--option", help="an option of the game, such as seats=3; repeatable"),
]
Seed = Annotated[int, typer.Option(help="the same seed gives the same deals and the same result")]
Workers = Annotated[int, typer.Option(help="processes to use; 0: one for each core")]
Json = Annotated[bool, typer.Option("--json", help="print JSON instead of a table")]


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
