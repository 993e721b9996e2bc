"""Millions of random games, compiled, with every invariant checked at every step."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from cardlab.engine import seeding
from cardlab.engine.arguments import read_count
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import DEALER, MOST_DEALS_IN_A_ROW, OVER, Array, Game, endless_deals
from cardlab.engine.kernel import int64, kernel
from cardlab.engine.playouts import Scratch
from cardlab.engine.registry import find_game
from cardlab.engine.seeding import SEAT, below, branch
from cardlab.testing.games import Options


@functools.cache
def _make_audit(game: Game) -> Callable[..., int]:
    mover, deal, legal, apply = game.mover, game.deal, game.legal, game.apply
    returns, audit, zero_sum, shuffle = game.returns, game.audit, game.zero_sum, game.shuffle
    max_plies, num_actions = game.max_plies, game.num_actions

    @kernel
    def audit_games(fresh: Any, start: int, first: int, count: int, scratch: Any, out: Any) -> int:
        """Play games from fresh deals; stop at the first fault, with game and ply in `out`."""
        work, order, buffer = scratch
        rng = out[2:]
        for number in range(first, first + count):
            work[0] = fresh[0]
            s = work[0]
            seed = branch(start, number)
            deals = 0
            row = 0  # deals without a decision between
            ply = 0
            out[0] = number
            who = mover(s)
            while who != OVER:
                out[1] = ply
                if who == DEALER:
                    if legal(s, buffer) != 0:
                        return -1
                    if row == MOST_DEALS_IN_A_ROW:
                        return -4
                    row += 1
                    shuffle(seed, deals, order, rng)
                    deals += 1
                    deal(s, order)
                    rng[0] = branch(branch(seed, SEAT), deals)
                else:
                    options = legal(s, buffer)
                    if options < 1 or not 0 <= who < int64(s.seats):
                        return -1
                    for i in range(options):
                        if not 0 <= buffer[i] < num_actions or (i and buffer[i] <= buffer[i - 1]):
                            return -1
                    apply(s, int64(buffer[below(rng, options)]))
                    ply += 1
                    row = 0
                if ply > max_plies:
                    return -2
                fault = audit(s)
                if fault:
                    return fault
                who = mover(s)
            total = 0.0
            for seat in range(int64(s.seats)):
                value = returns(s, seat)
                if not -1.0 <= value <= 1.0:
                    return -3
                total += value
            if zero_sum and abs(total) > 1e-9:
                return -3
            if legal(s, buffer) != 0:
                return -1
        return 0

    return audit_games


def audit_random_games(
    game: str | Game,
    count: int,
    *,
    seed: int = 0,
    first: int = 0,
    options: Options | None = None,
) -> None:
    """Play random games with every invariant checked at every step; the first fault raises."""
    game = find_game(game)
    count, first = read_count(count, "count", lowest=0), read_count(first, "first", lowest=0)
    fresh: Array = game.fresh(**game.read_options(options))
    out = np.zeros(3, dtype=np.int64)
    start = seeding.stream(seed, "game")
    fault = _make_audit(game)(fresh, start, first, count, Scratch.of(game), out)
    if fault == -4:
        raise CardlabError(endless_deals(game))
    if fault:
        general = ("", "legal actions are wrong", "the bound on plies is passed", "wrong returns")
        reason = general[-fault] if fault < 0 else game.faults[fault]
        raise CardlabError(
            f"{game.name}: game {out[0]} of seed {seed} (deal seed {branch(start, int(out[0]))}), "
            f"ply {out[1]}: {reason}"
        )
