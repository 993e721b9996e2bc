"""Names that a shell completes: games, agents, options, trainings, papers.

They come from `names.json`, which `make pages` writes from the catalogue: looking there costs a
shell no compiler. Names of installed packages come from their entry points.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from importlib.metadata import entry_points
from importlib.resources import files
from typing import Any

import typer

__all__ = [
    "complete_agent",
    "complete_game",
    "complete_option",
    "complete_paper",
    "complete_training",
]

Found = list[tuple[str, str]]  # a name, and what it means


@cache
def _names() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(
        files("cardlab.commands").joinpath("names.json").read_text(encoding="utf-8")
    )
    return loaded


def _beginning(incomplete: str, known: Iterable[tuple[str, str]]) -> Found:
    return [one for one in known if one[0].startswith(incomplete)]


def _installed(group: str) -> Found:
    return [(one.name, f"from {one.value}") for one in entry_points(group=group)]


def _of_game(ctx: typer.Context, kind: str) -> dict[str, str]:
    """Return what the game on the command line has of a kind, or what any game has."""
    games = _names()["games"]
    given = ctx.params.get("game") or next(iter(ctx.args), "")  # an option that still lacks its
    chosen = [games[given]] if given in games else games.values()  # value leaves words unread
    return {name: told for game in chosen for name, told in game[kind].items()}


def complete_game(incomplete: str) -> Found:
    """Return the games that a word may become."""
    ours = [(name, game["title"]) for name, game in _names()["games"].items()]
    return _beginning(incomplete, [*ours, *_installed("cardlab.games")])


def complete_agent(ctx: typer.Context, incomplete: str) -> Found:
    """Return the agents of the game that a word may become."""
    ours = _of_game(ctx, "agents").items()
    return _beginning(incomplete, [*ours, *_installed("cardlab.agents")])


def complete_option(ctx: typer.Context, incomplete: str) -> Found:
    """Return the options of the game that a word may become, up to the equals sign."""
    return _beginning(incomplete, _of_game(ctx, "options").items())


def complete_training(incomplete: str) -> Found:
    """Return the trainings that a word may become."""
    return _beginning(incomplete, [(name, "") for name in _names()["trainings"]])


def complete_paper(incomplete: str) -> Found:
    """Return the games of papers that a word may become."""
    return _beginning(incomplete, [(name, "") for name in _names()["papers"]])
