"""Deals and games of Cribbage in which two players differ in the play alone.

Both discard in the same way, so a difference in pegs or wins comes from the play. Every deal is
played twice, with the roles exchanged; the mean of the two is one observation.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cardlab.engine import seeding
from cardlab.engine.game import DEALER, OVER, Array
from cardlab.engine.kernel import int64, kernel
from cardlab.engine.seeding import branch, deck_order
from cardlab.engine.statistics import mean_and_margin
from cardlab.games.cribbage.agents.expert import Scratch
from cardlab.games.cribbage.agents.pegging import (
    CardScratch,
    Pegger,
    lay_best_hand,
    peg_by_worth,
)
from cardlab.games.cribbage.rules import DEAL, DECK, GAME, LAY_AWAY, PLAYS, apply, deal, mover
from cardlab.games.cribbage.scoring import LIMIT, card_value, follow, peg_points


class DealScratch(NamedTuple):
    """What deals are played with."""

    fresh: Array
    states: Array  # a deal before the play, and the play
    order: Array
    rng: Array
    expert: Scratch
    pegging: CardScratch

    @classmethod
    def new(cls) -> DealScratch:
        """Return scratch for one deal at a time."""
        return cls(
            GAME.fresh(**GAME.read_options({})),
            np.zeros(2, dtype=GAME.state),
            np.zeros(DECK, dtype=np.uint8),
            np.zeros(1, dtype=np.int64),
            Scratch.new(),
            CardScratch.new(),
        )


@kernel
def deal_and_lay(seed: int, work: Any) -> None:
    """Deal to scores of nothing and keep the best hands: seat 0 is the pone and leads."""
    deck_order(seed, 0, work.order, work.rng)
    work.states[0] = work.fresh[0]
    s = work.states[0]
    s.phase = DEAL
    s.dealer = 1
    deal(s, work.order)
    while s.phase == LAY_AWAY:
        apply(s, lay_best_hand(s, work.expert))


@kernel
def peg_card(s: Any, card: int) -> int:
    """Play a card and return what it pegs; the last one is not put down, so nothing is shown."""
    seat = int64(s.seat)
    if s.play_count == PLAYS - 1:
        tally = int64(s.tally) + card_value(card)
        s.play_count += 1
        return peg_points(follow(s.series, card), tally) + (0 if tally == LIMIT else 1)
    before = int64(s.scores[seat])
    apply(s, card)
    return int64(s.scores[seat]) - before


@kernel
def play_deals(start: int, first: Any, second: Any, work: Any, out: Any) -> None:
    """Write what the first player pegs more than the other, as pone and as dealer, deal by deal."""
    for number in range(len(out)):
        deal_and_lay(branch(start, number), work)
        for side in range(2):
            work.states[1] = work.states[0]
            s = work.states[1]
            more = int64(0)
            while s.play_count < PLAYS:
                seat = int64(s.seat)
                if seat == side:
                    more += peg_card(s, peg_by_worth(s, seat, first, work.pegging))
                else:
                    more -= peg_card(s, peg_by_worth(s, seat, second, work.pegging))
            out[number, side] = more


@kernel
def play_games(start: int, first: Any, second: Any, work: Any, out: Any) -> None:
    """Write whether the first player wins, on seat 0 and on seat 1 of the same deals."""
    for number in range(len(out)):
        seed = branch(start, number)
        for side in range(2):
            work.states[1] = work.fresh[0]
            s = work.states[1]
            deals = 0
            while mover(s) != OVER:
                seat = mover(s)
                if seat == DEALER:
                    deck_order(seed, deals, work.order, work.rng)
                    deal(s, work.order)
                    deals += 1
                elif s.phase == LAY_AWAY:
                    apply(s, lay_best_hand(s, work.expert))
                elif seat == side:
                    apply(s, peg_by_worth(s, seat, first, work.pegging))
                else:
                    apply(s, peg_by_worth(s, seat, second, work.pegging))
            out[number, side] = 1 if s.winner == side else 0


# For Python


class Measured(NamedTuple):
    """A mean over pairs of deals or games, and half its 95 % interval."""

    mean: float
    margin: float
    number: int  # of deals or games, both roles or seats counted


def _measured(out: Array) -> Measured:
    pairs = out.mean(axis=1)
    return Measured(*mean_and_margin(pairs), out.size)


def measure_deals(first: Pegger, second: Pegger, pairs: int, start: int) -> Measured:
    """Return what the first pegs more than the other in a deal, each deal played in both roles."""
    out = np.zeros((pairs, 2))
    play_deals(start, first, second, DealScratch.new(), out)
    return _measured(out)


def measure_games(first: Pegger, second: Pegger, pairs: int, seed: int) -> Measured:
    """Return the share of games that the first wins, the deals of each pair in both seatings."""
    out = np.zeros((pairs, 2))
    play_games(seeding.stream(seed, "pegging_games"), first, second, DealScratch.new(), out)
    return _measured(out)
