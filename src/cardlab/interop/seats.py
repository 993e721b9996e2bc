"""What all environments share: the learner's seat, the agents in the other seats, seeds."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from cardlab.agents.catalog import find_agent
from cardlab.engine import seeding
from cardlab.engine.arguments import shorten
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Agent, Array, Game, OpenAgent
from cardlab.engine.play import Table
from cardlab.engine.registry import find_game
from cardlab.engine.seeding import GAME, branch, word

__all__ = [
    "Opponents",
    "agent_generators",
    "check_choice",
    "check_seat",
    "choose_seat",
    "dealt",
    "find_opponents",
    "following_seed",
    "mask_of",
    "new_table",
    "read_action",
    "read_game",
    "seat_learner",
]

Opponents = str | Agent | OpenAgent | Sequence[str | Agent | OpenAgent]
LEARNER = word("learner")
Dealt = TypeVar("Dealt")


def find_opponents(given: Opponents, game: Game, seats: int) -> list[Agent | OpenAgent]:
    """Return the agents of the other seats, in the order in which they follow the learner.

    One agent takes all other seats, a list has one agent for each of them.
    """
    several = [given] if isinstance(given, str) or not isinstance(given, Sequence) else list(given)
    found = [find_agent(agent, game) for agent in several]
    if len(found) == 1:
        found *= seats - 1
    if len(found) != seats - 1:
        raise CardlabError(
            f"{game.name} with {seats} seats needs 1 opponent for all other seats or a list of "
            f"{seats - 1}, got {len(found)}"
        )
    return found


def seat_learner(
    game: str | Game, opponents: Opponents, seat: int | None, options: dict[str, Any] | None
) -> tuple[Game, dict[str, Any], int, list[Agent | OpenAgent]]:
    """Return a game, all its options, its number of seats, and the agents of the other seats."""
    found, values, seats = read_game(game, options)
    check_seat(seat, seats, found)
    return found, values, seats, find_opponents(opponents, found, seats)


def choose_seat(asked: int | None, seats: int, seed: int) -> int:
    """Return the learner's seat in the game of a seed: the one asked for, or a random one."""
    return asked if asked is not None else int(branch(seed, LEARNER)) % seats


def check_seat(asked: int | None, seats: int, game: Game) -> None:
    """Raise unless the game has the seat that is asked for; None is any seat."""
    whole = isinstance(asked, (int, np.integer)) and not isinstance(asked, bool)
    if asked is not None and not (whole and 0 <= asked < seats):
        raise CardlabError(
            f"{game.name} has no seat {shorten(asked)}; its seats are 0 to {seats - 1}"
        )


def check_choice(name: str, given: object, allowed: Sequence[object]) -> None:
    """Raise unless a setting has one of the allowed values."""
    if not any(given is value or (isinstance(given, str) and given == value) for value in allowed):
        raise CardlabError(
            f"{name} must be {' or '.join(map(repr, allowed))}, got {shorten(given)}"
        )


def dealt(found: Dealt | None, game: Game) -> Dealt:
    """Return what `reset` has dealt, or raise if it has not been called."""
    if found is None:
        raise CardlabError(f"no game of {game.name} has been dealt yet; call reset first")
    return found


def read_action(action: Any, game: Game) -> int:
    """Return an action id; an array without dimensions, as policies return it, is one as well."""
    try:
        return operator.index(action)
    except TypeError:
        raise CardlabError(
            f"an action of {game.name} must be a whole number from 0 to {game.num_actions - 1}, "
            f"got {shorten(action)}"
        ) from None


def following_seed(seed: int) -> int:
    """Return the seed of the game that follows the game of this seed, as in a batch."""
    return int(branch(seed, GAME))


def agent_generators(seed: int, seats: int) -> list[np.random.Generator]:
    """Return a generator for the agent of every seat, the same as in `play_game`."""
    return [seeding.generator(seed, "seat", seat) for seat in range(seats)]


def mask_of(num_actions: int, legal: Array, *, over: bool) -> Array:
    """Return the legal actions as 0 and 1; in a finished game, where none counts, all are 1.

    From a mask of zeros most learners would compute probabilities of zero divided by zero.
    """
    mask: Array = np.zeros(num_actions, dtype=np.int8)
    mask[slice(None) if over else legal] = 1
    return mask


def new_table(
    game: Game, seed: int, options: dict[str, Any], deals: Sequence[Any] = ()
) -> tuple[Table, int]:
    """Return the game of a seed and that seed.

    If its deal leaves nothing to play, it is the game of the first following seed that does.
    """
    table = Table(game, seed=seed, deals=deals, options=options)
    while table.over:
        if deals:
            raise CardlabError(f"the deal of {game.name} leaves nothing to play; give another one")
        seed = following_seed(seed)
        table = Table(game, seed=seed, options=options)
    return table, seed


def read_game(game: str | Game, given: dict[str, Any] | None) -> tuple[Game, dict[str, Any], int]:
    """Return a game, all its options, and its number of seats with these options."""
    found = find_game(game)
    options = found.read_options(given)
    return found, options, int(found.fresh(**options)[0].seats)
