"""Names that a shell completes: games, agents, options, trainings, papers; all from manifests."""

from __future__ import annotations

from collections.abc import Iterable

import typer

from cardlab.engine.manifest import GamePackage
from cardlab.engine.registry import installed, known_packages

Found = list[tuple[str, str]]  # a name, and what it means


def _beginning(incomplete: str, known: Iterable[tuple[str, str]]) -> Found:
    return [entry for entry in dict(known).items() if entry[0].startswith(incomplete)]


def _chosen(ctx: typer.Context) -> list[GamePackage]:
    """Return the manifest of the game on the command line, or all of them."""
    known = known_packages()
    given = ctx.params.get("game") or next(iter(ctx.args), "")  # an option that still lacks its
    if given not in known and ctx.info_name == "check-agent":  # value leaves words unread
        given = next(iter(known))  # its default
    return [known[given]] if given in known else [*known.values()]


def complete_game(incomplete: str) -> Found:
    """Return the games that a word may become."""
    return _beginning(incomplete, [(name, one.title) for name, one in known_packages().items()])


def complete_agent(ctx: typer.Context, incomplete: str) -> Found:
    """Return the agents of the game that a word may become."""
    from cardlab.agents.entries import agents_in

    ours = [(entry.name, entry.summary) for one in _chosen(ctx) for entry in agents_in(one)]
    outside = [(name, f"from {value}") for name, value in installed("cardlab.agents").items()]
    return _beginning(incomplete, [*ours, *outside])


def complete_option(ctx: typer.Context, incomplete: str) -> Found:
    """Return the options of the game that a word may become, up to the equals sign."""
    known = [(f"{option.name}=", option.help) for one in _chosen(ctx) for option in one.options]
    return _beginning(incomplete, known)


def complete_training(incomplete: str) -> Found:
    """Return the trainings that a word may become."""
    from cardlab.learning import all_trainings

    return _beginning(incomplete, [(name, "") for name in all_trainings()])


def complete_paper(incomplete: str) -> Found:
    """Return the games of papers that a word may become."""
    return _beginning(
        incomplete, [(name, "") for name, one in known_packages().items() if one.paper]
    )
