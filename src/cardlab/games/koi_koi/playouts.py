"""Rounds of Koi-Koi played out in microseconds, in worlds in which the other seat acted sensibly.

`choose` adds up the terms of every choice (`linear`) and takes the greatest sum.
With it a round is played to its end from any position, in some microseconds.

Nothing that is played tells of the other hand by the rules alone, but by sense it does: who holds a
match for the curtain takes it. `likelihood` replays the round backwards and multiplies how likely
the same terms make each discard of the other seat. Of many imagined hands, worlds take theirs in
that proportion (importance resampling); the stock of each is then any order of what is left.
"""

from __future__ import annotations

from math import exp
from typing import Any, NamedTuple

import numpy as np

from cardlab.engine.game import Array
from cardlab.engine.kernel import bit, count_bits, int64, kernel, lowest_bit
from cardlab.engine.seeding import below
from cardlab.games.koi_koi.cards import ALL_CARDS
from cardlab.games.koi_koi.linear import (
    MOST_TERMS,
    NUM_COUNTS,
    call_terms,
    card_terms,
    count_groups,
)
from cardlab.games.koi_koi.rules import (
    GAME,
    KOI_KOI,
    START,
    STOP,
    TAKE,
    apply,
    imagine,
    imagine_stock,
    returns,
    round_points,
)
from cardlab.games.koi_koi.table import (
    CALL,
    CALLED,
    DEAL,
    DISCARD,
    FINISHED,
    HAND,
    NOBODY,
    dealer,
    field_matches,
)
from cardlab.games.koi_koi.win_chances import POINTS

__all__ = ["Desk", "choose", "end_worth", "finish_round", "likelihood", "try_actions"]

CARELESS = 0.1  # share of the discards that are made for no reason
FINE = 1 << 30


class Desk(NamedTuple):
    """Memory that the kernels work in."""

    states: Array  # where play goes on, the world that it began in
    counts: Array
    terms: Array
    sums: Array
    hands: Array  # imagined for the other seat; none where that hand is seen
    likely: Array  # how likely all hands up to each are together

    @classmethod
    def new(cls, hands: int = 0) -> Desk:
        """Return an empty desk for so many imagined hands."""
        return cls(
            np.zeros(2, dtype=GAME.state),
            np.zeros(NUM_COUNTS, dtype=np.int64),
            np.zeros(MOST_TERMS, dtype=np.int64),
            np.zeros(HAND),
            np.zeros(hands, dtype=np.int64),
            np.zeros(hands),
        )


@kernel
def add_up(weights: Any, terms: Any, count: int) -> float:
    """Return the sum of the weights of some terms."""
    total = 0.0
    for i in range(count):
        total += weights[terms[i]]
    return total


@kernel
def worth(s: Any, seat: int, card: int, taken: int, weights: Any, desk: Any) -> float:
    """Return the sum for a card that takes these field cards."""
    return add_up(weights, desk.terms, card_terms(s, seat, card, taken, desk.counts, desk.terms))


@kernel
def better_pick(s: Any, seat: int, card: int, weights: Any, desk: Any) -> int:
    """Return what a card takes from the field: of two that match the better one."""
    there = field_matches(s, card)
    if count_bits(there) != 2:
        return there
    one = bit(lowest_bit(there))
    other = there & ~one
    first = worth(s, seat, card, one, weights, desk)
    return one if first >= worth(s, seat, card, other, weights, desk) else other


@kernel
def discard_worth(s: Any, seat: int, card: int, weights: Any, desk: Any) -> float:
    """Return the sum for a discard, with the better pick where two cards match."""
    return worth(s, seat, card, better_pick(s, seat, card, weights, desk), weights, desk)


@kernel
def choose(s: Any, seat: int, weights: Any, desk: Any) -> int:
    """Return the action of the greatest sum, of equals the first."""
    if s.phase == CALL:
        total = add_up(weights, desk.terms, call_terms(s, seat, desk.terms))
        return KOI_KOI if total > 0 else STOP
    count_groups(s, seat, desk.counts)
    if s.phase != DISCARD:
        pending = int64(s.pending)
        return TAKE + lowest_bit(better_pick(s, seat, pending, weights, desk))
    rest = s.hands[seat]
    best = lowest_bit(rest)
    most = discard_worth(s, seat, best, weights, desk)
    rest &= rest - 1
    while rest:
        card = lowest_bit(rest)
        rest &= rest - 1
        total = discard_worth(s, seat, card, weights, desk)
        if total > most:
            most, best = total, card
    return best


@kernel
def finish_round(s: Any, weights: Any, desk: Any) -> None:
    """Play a round to its end, both seats by their sums."""
    while DEAL < s.phase < FINISHED:
        apply(s, choose(s, int64(s.seat), weights, desk))


@kernel
def end_worth(s: Any, seat: int, chances: Any) -> float:
    """Return what the end of a round is worth to a seat: of the game, or without chances in tens.

    `chances` is the chance to win by (rounds left, I deal, lead), empty where points are wanted.
    """
    if len(chances) == 0:
        return round_points(s, seat) / POINTS
    if s.phase == FINISHED:
        return returns(s, seat)
    lead = int64(s.points_now[seat]) - START
    left = int64(s.rounds) - int64(s.round_number)
    deals = int64(s.next_dealer == seat)
    return 2.0 * chances[left, deals, min(max(lead, -START), START) + START] - 1.0


@kernel
def lift(s: Any, who: int, card: int, took: int) -> None:
    """Take back that a card was laid on the field, where it took these cards."""
    if took:
        s.piles[who] &= ~(took | bit(card))
        s.field_cards |= took
    else:
        s.field_cards &= ~bit(card)


@kernel
def likelihood(s: Any, past: Any, seat: int, weights: Any, desk: Any) -> float:
    """Return how likely the other seat's discards of this round are with its hand in a world.

    `past` begins as a copy of the world and goes back to the start of the round.
    """
    now, first, other = int64(s.round_number) & 1, dealer(s), 1 - seat
    likely = 1.0
    for turn in range(int64(s.turn), -1, -1):
        who = first ^ (turn & 1)
        if s.answer[now, turn] == CALLED:
            past.calls[who] -= 1
        card = int64(s.drawn[now, turn])
        if card != NOBODY and card != s.pending:
            lift(past, who, card, int64(s.draw_took[now, turn]) << (card & ~3))
        card = int64(s.discarded[now, turn])
        if card == NOBODY:
            continue
        if card != s.pending:
            lift(past, who, card, int64(s.discard_took[now, turn]) << (card & ~3))
        past.hands[who] |= bit(card)
        past.turn = turn
        if who == other:
            likely *= share_of(past, other, card, weights, desk)
    return likely


@kernel
def share_of(s: Any, seat: int, card: int, weights: Any, desk: Any) -> float:
    """Return how likely a seat discards a card of its hand."""
    count_groups(s, seat, desk.counts)
    rest = s.hands[seat]
    count, place, most = 0, 0, 0.0
    while rest:
        one = lowest_bit(rest)
        rest &= rest - 1
        total = discard_worth(s, seat, one, weights, desk)
        desk.sums[count] = total
        most = total if count == 0 else max(most, total)
        if one == card:
            place = count
        count += 1
    whole = 0.0
    for i in range(count):
        whole += exp(desk.sums[i] - most)
    return CARELESS / count + (1.0 - CARELESS) * exp(desk.sums[place] - most) / whole


@kernel
def imagine_hands(views: Any, row: int, seat: int, weights: Any, desk: Any, rng: Any) -> None:
    """Write hands that the other seat may have, and how likely its discards make them."""
    total = 0.0
    for i in range(len(desk.hands)):
        desk.states[0] = views[row]
        while not imagine(desk.states[0], seat, rng):
            desk.states[0] = views[row]
        desk.states[1] = desk.states[0]
        total += likelihood(desk.states[0], desk.states[1], seat, weights, desk)
        desk.hands[i] = desk.states[0].hands[1 - seat]
        desk.likely[i] = total


@kernel
def imagine_world(views: Any, row: int, seat: int, desk: Any, rng: Any) -> None:
    """Write a world to the second state of the desk: a hand of those imagined, any stock."""
    desk.states[1] = views[row]
    s = desk.states[1]
    if len(desk.hands):
        point = below(rng, FINE) * desk.likely[-1] / FINE
        s.hands[1 - seat] = desk.hands[np.searchsorted(desk.likely, point, side="right")]
    unseen = ALL_CARDS & ~(s.hands[0] | s.hands[1] | s.piles[0] | s.piles[1] | s.field_cards)
    if s.pending != NOBODY:
        unseen &= ~bit(s.pending)
    imagine_stock(s, unseen, rng)


@kernel
def try_actions(
    views: Any,
    row: int,
    seat: int,
    actions: Any,
    count: int,
    worlds: int,
    weights: Any,
    chances: Any,
    desk: Any,
    rng: Any,
    out: Any,
) -> None:
    """Write what each of the first `count` actions is worth on average in the same worlds.

    Where the desk has no place for hands, the other hand is taken as it is.
    """
    imagine_hands(views, row, seat, weights, desk, rng)
    for i in range(count):
        out[i] = 0.0
    for _ in range(worlds):
        imagine_world(views, row, seat, desk, rng)
        for i in range(count):
            desk.states[0] = desk.states[1]
            s = desk.states[0]
            apply(s, int64(actions[i]))
            finish_round(s, weights, desk)
            out[i] += end_worth(s, seat, chances) / worlds
