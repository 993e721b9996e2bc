"""Random play at compiled speed: finish one game, or play many new games."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from cardlab.engine import seeding
from cardlab.engine.arguments import options_in_a_dict, read_count
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import DEALER, MOST_DEALS_IN_A_ROW, OVER, Array, Game, endless_deals
from cardlab.engine.kernel import int64, kernel
from cardlab.engine.registry import find_game
from cardlab.engine.seeding import SEAT, below, branch, shuffle

__all__ = ["Playouts", "Policy", "Scratch", "choose_any", "make_playouts", "play_randomly"]

Policy = Callable[[Any, int, Any, int, Any], int]  # state, seat, actions, count, rng -> action


class Scratch(NamedTuple):
    """Scratch memory for kernels, which allocate nothing."""

    work: Array  # records
    order: Array  # a deck order
    buffer: Array  # action ids

    @classmethod
    def of(cls, game: Game, rows: int = 1) -> Scratch:
        """Return scratch memory for a game, with `rows` records."""
        return cls(
            np.empty(rows, dtype=game.state),
            np.empty(game.deck, dtype=np.uint8),
            np.empty(game.num_actions, dtype=np.int16),
        )


class Playouts(NamedTuple):
    """The kernels of random play for one game."""

    finish: Callable[[Any, Any, Any, Any], None]  # state, rng, order, buffer: plays to the end
    play_one: Callable[[Any, int, Any, Any, Any], int]  # one game from its deal
    play_many: Callable[..., int]  # many games from their deals


@kernel
def choose_any(s: Any, seat: int, actions: Any, count: int, rng: Any) -> int:
    """Return any action with equal probability: the policy of random play-outs."""
    return int64(actions[below(rng, count)])


@functools.cache
def make_playouts(game: Game, policy: Policy | None = None) -> Playouts:
    """Return the kernels of play-outs for a game in which every seat follows a policy."""
    choose = policy or choose_any
    mover, deal, legal, apply = game.mover, game.deal, game.legal, game.apply
    returns, deck_order = game.returns, game.shuffle
    most_deals = game.max_plies + MOST_DEALS_IN_A_ROW  # so that nothing compiled is endless

    @kernel
    def finish(s: Any, rng: Any, order: Any, buffer: Any) -> None:
        who = mover(s)
        deals = 0
        while who != OVER:
            if who == DEALER:
                if deals == most_deals:
                    return  # a table raises when play comes here
                deals += 1
                shuffle(order, rng)
                deal(s, order)
            else:
                apply(s, choose(s, who, buffer, legal(s, buffer), rng))
            who = mover(s)

    @kernel
    def play_one(s: Any, seed: int, order: Any, buffer: Any, rng: Any) -> int:
        decisions = 0
        deals = 0
        choices = branch(seed, SEAT)
        who = mover(s)
        while who != OVER:
            if who == DEALER:
                if deals == most_deals:
                    return -1
                deck_order(seed, deals, order, rng)
                deals += 1
                deal(s, order)
                rng[0] = branch(choices, deals)
            else:
                apply(s, choose(s, who, buffer, legal(s, buffer), rng))
                decisions += 1
            who = mover(s)
        return decisions

    @kernel
    def play_many(fresh: Any, start: int, count: int, totals: Any, scratch: Any, rng: Any) -> int:
        work, order, buffer = scratch
        decisions = 0
        for i in range(count):
            work[0] = fresh[0]
            s = work[0]
            made = play_one(s, branch(start, i), order, buffer, rng)
            if made < 0:
                return -1
            decisions += made
            for seat in range(len(totals)):
                totals[seat] += returns(s, seat)
        return decisions

    return Playouts(finish, play_one, play_many)


@options_in_a_dict
def play_randomly(
    game: str | Game, games: int, *, seed: int = 0, options: dict[str, Any] | None = None
) -> tuple[int, Array]:
    """Play new games at random; return the number of decisions and the sum of returns by seat."""
    game, games = find_game(game), read_count(games, "games")
    fresh = game.fresh(**game.read_options(options))
    totals = np.zeros(int(fresh[0].seats))
    start, rng = seeding.stream(seed, "game"), np.zeros(1, dtype=np.int64)
    decisions = make_playouts(game).play_many(fresh, start, games, totals, Scratch.of(game), rng)
    if decisions < 0:
        raise CardlabError(endless_deals(game))
    return int(decisions), totals
