"""Rounds of Koi-Koi played out in microseconds, in worlds in which the other seat acted sensibly.

`choose` adds up the terms of every choice (`linear`) and takes the greatest sum.
With it a round is played to its end from any position, in some microseconds.

By the rules alone a discard says nothing of the other hand, but a sensible seat that holds a match
for the curtain takes it. `likelihood` replays the round backwards and multiplies how likely the
same terms make each discard of the other seat. Worlds take their hand from many sampled ones in
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

CARELESS = 0.1  # share of the discards that are made for no reason
FINE = 1 << 30


class Model(NamedTuple):
    """What play-outs follow, and what the end of a round is worth."""

    weights: Array  # of the linear policy
    chances: Array  # to win by (rounds left, I deal, lead); empty where points are wanted


class Scratch(NamedTuple):
    """Arrays that the kernels work in."""

    states: Array  # where play goes on, the world that it began in
    counts: Array
    terms: Array
    sums: Array
    actions: Array  # those that are tried
    hands: Array  # sampled for the other seat; none where that hand is seen
    likely: Array  # how likely all hands up to each are together

    @classmethod
    def new(cls, hands: int = 0) -> Scratch:
        """Return scratch for so many sampled hands."""
        return cls(
            np.zeros(2, dtype=GAME.state),
            np.zeros(NUM_COUNTS, dtype=np.int64),
            np.zeros(MOST_TERMS, dtype=np.int64),
            np.zeros(HAND),
            np.zeros(HAND, dtype=np.int64),
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
def worth(s: Any, seat: int, card: int, taken: int, weights: Any, scratch: Any) -> float:
    """Return the sum for a card that takes these field cards."""
    return add_up(
        weights, scratch.terms, card_terms(s, seat, card, taken, scratch.counts, scratch.terms)
    )


@kernel
def better_pick(s: Any, seat: int, card: int, weights: Any, scratch: Any) -> int:
    """Return what a card takes from the field: of two that match the better one."""
    there = field_matches(s, card)
    if count_bits(there) != 2:
        return there
    lower = bit(lowest_bit(there))
    higher = there & ~lower
    worth_lower = worth(s, seat, card, lower, weights, scratch)
    return lower if worth_lower >= worth(s, seat, card, higher, weights, scratch) else higher


@kernel
def discard_worth(s: Any, seat: int, card: int, weights: Any, scratch: Any) -> float:
    """Return the sum for a discard, with the better pick where two cards match."""
    return worth(s, seat, card, better_pick(s, seat, card, weights, scratch), weights, scratch)


@kernel
def choose(s: Any, seat: int, weights: Any, scratch: Any) -> int:
    """Return the action of the greatest sum, the first in a tie."""
    if s.phase == CALL:
        total = add_up(weights, scratch.terms, call_terms(s, seat, scratch.terms))
        return KOI_KOI if total > 0 else STOP
    count_groups(s, seat, scratch.counts)
    if s.phase != DISCARD:
        pending = int64(s.pending)
        return TAKE + lowest_bit(better_pick(s, seat, pending, weights, scratch))
    rest = s.hands[seat]
    best = lowest_bit(rest)
    most = discard_worth(s, seat, best, weights, scratch)
    rest &= rest - 1
    while rest:
        card = lowest_bit(rest)
        rest &= rest - 1
        total = discard_worth(s, seat, card, weights, scratch)
        if total > most:
            most, best = total, card
    return best


@kernel
def finish_round(s: Any, weights: Any, scratch: Any) -> None:
    """Play a round to its end, both seats by their sums."""
    while DEAL < s.phase < FINISHED:
        apply(s, choose(s, int64(s.seat), weights, scratch))


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
def likelihood(s: Any, past: Any, seat: int, weights: Any, scratch: Any) -> float:
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
            likely *= share_of(past, other, card, weights, scratch)
    return likely


@kernel
def share_of(s: Any, seat: int, card: int, weights: Any, scratch: Any) -> float:
    """Return how likely a seat discards a card of its hand."""
    count_groups(s, seat, scratch.counts)
    rest = s.hands[seat]
    count, place, most = 0, 0, 0.0
    while rest:
        other = lowest_bit(rest)
        rest &= rest - 1
        total = discard_worth(s, seat, other, weights, scratch)
        scratch.sums[count] = total
        most = total if count == 0 else max(most, total)
        if other == card:
            place = count
        count += 1
    whole = 0.0
    for i in range(count):
        whole += exp(scratch.sums[i] - most)
    return CARELESS / count + (1.0 - CARELESS) * exp(scratch.sums[place] - most) / whole


@kernel
def sample_hands(views: Any, seat: int, weights: Any, scratch: Any, rng: Any) -> None:
    """Write hands that the other seat may have, and how likely its discards make them."""
    total = 0.0
    for i in range(len(scratch.hands)):
        scratch.states[0] = views[0]
        while not imagine(scratch.states[0], seat, rng):
            scratch.states[0] = views[0]
        scratch.states[1] = scratch.states[0]
        total += likelihood(scratch.states[0], scratch.states[1], seat, weights, scratch)
        scratch.hands[i] = scratch.states[0].hands[1 - seat]
        scratch.likely[i] = total


@kernel
def sample_world(views: Any, seat: int, scratch: Any, rng: Any) -> None:
    """Write a world to the second state of the scratch: one of the sampled hands, any stock."""
    scratch.states[1] = views[0]
    s = scratch.states[1]
    if len(scratch.hands):
        point = below(rng, FINE) * scratch.likely[-1] / FINE
        s.hands[1 - seat] = scratch.hands[np.searchsorted(scratch.likely, point, side="right")]
    unseen = ALL_CARDS & ~(s.hands[0] | s.hands[1] | s.piles[0] | s.piles[1] | s.field_cards)
    if s.pending != NOBODY:
        unseen &= ~bit(s.pending)
    imagine_stock(s, unseen, rng)


@kernel
def try_actions(
    views: Any, seat: int, actions: Any, worlds: int, model: Any, scratch: Any, rng: Any, out: Any
) -> None:
    """Write what each action in the first of `views` is worth on average in the same worlds.

    Where the scratch has no place for hands, the other hand is taken as it is.
    """
    sample_hands(views, seat, model.weights, scratch, rng)
    for i in range(len(actions)):
        out[i] = 0.0
    for _ in range(worlds):
        sample_world(views, seat, scratch, rng)
        for i in range(len(actions)):
            scratch.states[0] = scratch.states[1]
            s = scratch.states[0]
            apply(s, int64(actions[i]))
            finish_round(s, model.weights, scratch)
            out[i] += end_worth(s, seat, model.chances) / worlds
