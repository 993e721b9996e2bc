"""The agents of a match, given by name or as objects, and whether other processes can play them."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Iterable, Sequence

from cardlab.agents.catalog import find_agents
from cardlab.engine.errors import CardlabError, CardlabWarning
from cardlab.engine.game import Agent, Game, OpenAgent
from cardlab.engine.registry import find_game

__all__ = ["Player", "find_named_game", "read_players", "require_sendable", "usable_workers"]

Player = Agent | OpenAgent
HERE = b"__main__"  # the module of a notebook or script, which other processes do not have


def find_named_game(game: str | Game) -> tuple[str, Game]:
    """Return the name under which a match keeps a game, and the game."""
    found = find_game(game)
    if isinstance(game, str):
        return game, found
    name = found.identifier
    try:
        same = find_game(name) is found
    except CardlabError:
        same = False
    if not same:
        raise CardlabError(
            f"game {name!r} must be importable by this name, but the name leads to another object; "
            "assign the game to this name in its module"
        )
    return name, found


def read_players(
    agents: Sequence[str | Player], game: Game
) -> tuple[tuple[str, ...], tuple[Player | None, ...], list[Player]]:
    """Return the names of agents, those given as objects (None for the others), and all of them."""
    found = find_agents(agents, game)
    names = [
        given if isinstance(given, str) else agent.name
        for given, agent in zip(agents, found, strict=True)
    ]
    objects = [
        None if isinstance(given, str) else agent
        for given, agent in zip(agents, found, strict=True)
    ]
    for place, name in enumerate(names):
        first = names.index(name)
        if objects[place] is not objects[first]:
            raise CardlabError(
                f"two agents are named {name!r}; give each agent a name of its own, as records and "
                "tables name agents"
            )
    return tuple(names), tuple(objects), found


def usable_workers(agents: Iterable[Player | None], workers: int) -> int:
    """Return how many processes can play: 1, with a warning, if an agent cannot leave this one."""
    name = _stays(agents) if workers > 1 else None
    if name is None:
        return workers
    warnings.warn(
        f"agent {name!r} cannot be sent to other processes, so this one plays all games; define "
        f"its class in a module to use {workers} workers",
        CardlabWarning,
        stacklevel=3,
    )
    return 1


def require_sendable(agents: Iterable[Player | None]) -> None:
    """Raise a sentence unless all agents can be sent to other machines."""
    name = _stays(agents)
    if name is not None:
        raise CardlabError(
            f"agent {name!r} cannot be sent to other machines; define its class in a module that "
            "is installed on every one"
        )


def _stays(agents: Iterable[Player | None]) -> str | None:
    """Return the name of the first agent that cannot be sent to another process."""
    for agent in agents:
        if agent is not None:
            try:
                sendable = HERE not in pickle.dumps(agent)
            except Exception:  # whatever the object raises, it stays
                sendable = False
            if not sendable:
                return agent.name
    return None
