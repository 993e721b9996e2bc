"""The checks of the command `check`: many random games, and hidden cards in a few of them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from cardlab.engine import seeding
from cardlab.engine.arguments import read_count
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import DEALER, MOST_DEALS_IN_A_ROW, OVER, Array, Game, endless_deals
from cardlab.engine.kernel import int64, kernel
from cardlab.engine.playouts import Scratch
from cardlab.engine.registry import find_game
from cardlab.engine.seeding import SEAT, below, branch
from cardlab.testing.games import check_description
from cardlab.testing.leaks import compare_exchanges, require_secrets
from cardlab.testing.random_games import Options, random_table, retrace
from cardlab.testing.worlds import compare_worlds

MOST_DESCRIBED = 30  # positions of a game whose descriptions `audit_hidden_cards` checks
MOST_EXCHANGED = 200  # plies of a game in which it exchanges hidden cards


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
                    if not 0 <= who < int64(s.seats):
                        return -5
                    if options < 1:
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
    """Play random games; the first fault raises.

    At every step it checks what `audit` checks, legal actions and the seat to move; at the end the
    number of plies and the returns.
    """
    game = find_game(game)
    count, first = read_count(count, "count", lowest=0), read_count(first, "first", lowest=0)
    fresh: Array = game.fresh(**game.read_options(options))
    out = np.zeros(3, dtype=np.int64)
    start = seeding.stream(seed, "game")
    fault = _make_audit(game)(fresh, start, first, count, Scratch.of(game), out)
    if fault == -4:
        raise CardlabError(endless_deals(game))
    if fault:
        general = (
            "",
            "the legal actions must ascend, be below num_actions, and be none exactly when nobody "
            "is to move; fix `legal`",
            f"the game has more than max_plies={game.max_plies} actions",
            "the returns must be from -1 to 1 and sum to zero (or declare zero_sum=False)",
            "",
            f"`mover` returns a seat that does not exist; the seats are 0 to {fresh[0].seats - 1}",
        )
        reason = general[-fault] if fault < 0 else game.faults[fault]
        raise CardlabError(
            f"{game.name}: game {out[0]} of seed {seed} (deal seed {branch(start, int(out[0]))}), "
            f"ply {out[1]}: {reason}"
        )


class HiddenCards(NamedTuple):
    """What `audit_hidden_cards` has checked."""

    games: int
    hidden: bool  # whether any view hides anything
    views: int  # compared before and after exchanging hidden cards
    positions: int  # in which sampled worlds were compared with reached worlds
    skipped: int  # positions with too few reached worlds to compare


def audit_hidden_cards(
    game: str | Game,
    count: int,
    *,
    seed: int = 0,
    first: int = 0,
    options: Options | None = None,
    positions: int = 10,
) -> HiddenCards:
    """Check descriptions, leaks and sampled worlds in random games; the first fault raises.

    In up to `positions` positions of each game sampled worlds are compared with worlds reached by
    replaying what a seat has witnessed (`cardlab.testing.worlds.compare_worlds`). To bound the cost
    of long games, the leak test ends after 200 plies, and the descriptions of about 30
    positions are checked.
    """
    game, count = find_game(game), read_count(count, "count", lowest=0)
    options = game.read_options(options or {})
    hidden, views, compared, skipped = False, 0, 0, 0
    try:
        for number in range(first, first + count):
            deal_seed = seeding.stream(seed, "hidden cards", number)
            played = random_table(game, options, deal_seed)
            step = 1 + len(played.actions) // MOST_DESCRIBED
            for table in retrace(played):
                looked_at = table.over or len(table.actions) % step == 0
                for seat in range(table.seats if looked_at else 0):
                    check_description(table, seat, deal_seed)
            exchanged = compare_exchanges(game, options, deal_seed, MOST_EXCHANGED)
            worlds = compare_worlds(game, options, deal_seed, positions)
            hidden |= exchanged.hidden
            views += exchanged.compared
            compared += worlds.positions
            skipped += worlds.skipped
        require_secrets(game, options, hidden, views)
    except AssertionError as fault:
        raise CardlabError(str(fault)) from fault
    return HiddenCards(count, hidden, views, compared, skipped)
