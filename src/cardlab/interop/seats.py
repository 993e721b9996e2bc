"""What all environments share: whose turn it is to learn, who sits in the other seats, seeds."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from cardlab.agents.catalog import find_agent
from cardlab.engine import seeding
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
    "read_options",
    "seat_learner",
]

Opponents = str | Agent | OpenAgent | Sequence[str | Agent | OpenAgent]
LEARNER = word("learner")
Dealt = TypeVar("Dealt")


def find_opponents(given: Opponents, game: Game, seats: int) -> list[Agent | OpenAgent]:
    """Return the agents of the other seats, in the order in which they follow the learner.

    One agent takes all seats; several are given one for each.
    """
    several = [given] if isinstance(given, str) or not isinstance(given, Sequence) else list(given)
    found = [find_agent(item, game) if isinstance(item, str) else item for item in several]
    for agent in found:
        if not isinstance(agent, (Agent, OpenAgent)):
            raise CardlabError(
                f"opponent {agent!r} cannot play {game.name}; give the name of an agent, such as "
                "'random', or an object with a name and a method act"
            )
    if len(found) == 1:
        found *= seats - 1
    if len(found) != seats - 1:
        raise CardlabError(
            f"{len(found)} opponents for {seats - 1} other seats of {game.name}; "
            "give one for all of them, or one for each"
        )
    return found


def seat_learner(
    game: str | Game, opponents: Opponents, seat: int | None, options: dict[str, Any]
) -> tuple[Game, dict[str, Any], int, list[Agent | OpenAgent]]:
    """Return a game, all its options, its number of seats, and the agents of the other seats."""
    found = find_game(game) if isinstance(game, str) else game
    values, seats = read_options(found, options)
    check_seat(seat, seats, found)
    return found, values, seats, find_opponents(opponents, found, seats)


def choose_seat(asked: int | None, seats: int, seed: int) -> int:
    """Return the learner's seat in the game of this seed: the one asked for, or one by chance."""
    return asked if asked is not None else int(branch(seed, LEARNER)) % seats


def check_seat(asked: int | None, seats: int, game: Game) -> None:
    """Refuse a seat that is not at the table."""
    whole = isinstance(asked, (int, np.integer))
    if asked is not None and not (whole and 0 <= asked < seats):
        raise CardlabError(f"{game.name} has no seat {asked!r}; it has 0 to {seats - 1}")


def check_choice(name: str, given: object, allowed: Sequence[object]) -> None:
    """Refuse a setting that is none of those allowed."""
    if given not in allowed:
        raise CardlabError(f"{name}={given} is not possible; use {' or '.join(map(str, allowed))}")


def dealt(found: Dealt | None, game: Game) -> Dealt:
    """Return what reset has dealt, or say that it has not been called."""
    if found is None:
        raise CardlabError(f"no game of {game.name} has been dealt yet; call reset first")
    return found


def read_action(action: Any, game: Game) -> int:
    """Return an action id, which may be an array of no dimension, as a policy returns it."""
    try:
        return operator.index(action)
    except TypeError:
        raise CardlabError(
            f"{action!r} is no action of {game.name}; "
            f"give a whole number from 0 to {game.num_actions - 1}"
        ) from None


def following_seed(seed: int) -> int:
    """Return the seed of the game that comes after this one, as in a batch."""
    return int(branch(seed, GAME))


def agent_generators(seed: int, seats: int) -> list[np.random.Generator]:
    """Return a generator for the agent of every seat, as `play_game` has them."""
    return [seeding.generator(seed, "seat", seat) for seat in range(seats)]


def mask_of(num_actions: int, legal: Array, *, over: bool) -> Array:
    """Return the legal actions as 0 and 1; all are 1 in a finished game, where none counts.

    A mask without a single 1 would turn into probabilities of zero over zero in most learners.
    """
    mask: Array = np.zeros(num_actions, dtype=np.int8)
    mask[slice(None) if over else legal] = 1
    return mask


def new_table(
    game: Game, seed: int, options: dict[str, Any], deals: Sequence[Any] = ()
) -> tuple[Table, int]:
    """Return the game of this seed, or of one that follows: a deal may leave nothing to play.

    The seed that it has comes with it.
    """
    table = Table(game, seed=seed, deals=deals, options=options)
    while table.over:
        if deals:
            raise CardlabError(f"the deal of {game.name} leaves nothing to play; give another one")
        seed = following_seed(seed)
        table = Table(game, seed=seed, options=options)
    return table, seed


def read_options(game: Game, given: dict[str, Any]) -> tuple[dict[str, Any], int]:
    """Return all options of a game, and how many seats it has with them."""
    options = game.read_options(given)
    return options, int(game.fresh(**options)[0].seats)
