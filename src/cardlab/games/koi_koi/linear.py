"""A linear policy of Koi-Koi for play-outs: the worth of a choice is a sum of terms.

A network of a million weights takes a millisecond for a choice; a play-out of a round may take only
microseconds. Here every choice is a few entries of one table of weights, four to ten for most; its
worth is their sum.
`learning.linear` fits the weights to the values of a network.

A discard or a pick brings for every card that it moves the entries of its role

    0      it leaves the hand (or the stock) for the own pile
    1..3   it is captured from the field; of its month 0, 1, 2 or more other cards are unseen, with
           which it could have been captured later, or by the other seat
    4..7   it is laid on the field and stays there, with 0 to 3 cards of its month unseen

by the stage of the round (four turns each): one for the card itself, and for each group of cards
that it belongs to (`GROUPS`) one by how many of them are on the own pile and one by how many are
on the other's, or DEAD: a set of which the other pile has a card, and lights where too few are left
for a yaku. To these come one for the yaku points made at once and one for the cards of the month
that are unseen and left in the hand.

A call is koi-koi if its sum is above 0, otherwise stop. Its entries: turn and what a stop wins;
turn and the cards that would raise the other's yaku points, on the field and unseen; the same of
the own, within reach of the hand and elsewhere; what the other could have with such a card, what
it would bring oneself; rounds left and the lead after a stop; the calls of both.
"""

from __future__ import annotations

from typing import Any

from cardlab.engine.kernel import bit, count_bits, int64, kernel, lowest_bit
from cardlab.games.koi_koi.cards import (
    ALL_CARDS,
    BLUE,
    BOAR_DEER_BUTTERFLY,
    CUP,
    CURTAIN,
    DECK,
    DROSS,
    EACH_MONTH,
    LIGHTS,
    MOON,
    ONE_MONTH,
    RAINMAN,
    RED,
    RIBBONS,
    SEEDS,
)
from cardlab.games.koi_koi.rules import START
from cardlab.games.koi_koi.table import both_sets_worth, sake_worth, score
from cardlab.games.koi_koi.yaku import yaku_points

# Sets that count only when whole come first, then lights, seeds, ribbons, and dross by twos.
GROUPS = (
    BOAR_DEER_BUTTERFLY,
    CURTAIN | CUP,
    MOON | CUP,
    RED,
    BLUE,
    LIGHTS,
    SEEDS,
    RIBBONS,
    DROSS,
)
WHOLE = 5
NUM_GROUPS = len(GROUPS)
NUM_COUNTS = 2 * NUM_GROUPS  # of the own pile, then of the other's
DEAD = 5  # also the greatest count that is distinguished

STAGES, ROLES = 4, 8
FROM_HAND, CAPTURED, LAID = 0, 1, 4
OF_ROLE = DECK + NUM_COUNTS * (DEAD + 1)
MADE = STAGES * ROLES * OF_ROLE  # yaku points made at once
MONTH = MADE + STAGES * 16  # cards of the month unseen and left in the hand
CALLS = MONTH + STAGES * 32  # all terms from here on are of calls

TURNS_EACH = 8
STOP_NOW = CALLS
THEIR_CARDS = STOP_NOW + TURNS_EACH * 16
MY_CARDS = THEIR_CARDS + TURNS_EACH * 24
THEIR_BEST = MY_CARDS + TURNS_EACH * 24
MY_BEST = THEIR_BEST + 16
LEAD = MY_BEST + 16
MOST_LEAD = 15
CALLED = LEAD + 3 * (2 * MOST_LEAD + 1)
NUM_TERMS = CALLED + 12
MOST_TERMS = 4 * (1 + 2 * 4) + 2  # four cards of a month, each in four groups at most


@kernel
def count_group(pile: int, other: int, group: int) -> int:
    """Return how many cards of a group a pile has, DEAD where a set or lights cannot be whole."""
    cards = GROUPS[group]
    count = count_bits(pile & cards)
    if group < WHOLE:
        return DEAD if other & cards else count
    if cards == LIGHTS:
        return DEAD if count_bits(other & cards & ~RAINMAN) > 1 else count
    return min(count // 2 if cards == DROSS else count, DEAD)


@kernel
def count_groups(s: Any, seat: int, counts: Any) -> None:
    """Write how many cards of each group are on the own pile and on the other's."""
    mine, theirs = s.piles[seat], s.piles[1 - seat]
    for group in range(NUM_GROUPS):
        counts[group] = count_group(mine, theirs, group)
        counts[NUM_GROUPS + group] = count_group(theirs, mine, group)


@kernel
def move_terms(card: int, role: int, stage: int, counts: Any, out: Any, n: int) -> int:
    """Write the terms of a card that is moved behind the first n; return how many there are."""
    first = (role * STAGES + stage) * OF_ROLE
    out[n] = first + card
    n += 1
    for group in range(NUM_GROUPS):
        if GROUPS[group] & bit(card):
            place = first + DECK + group * (DEAD + 1)
            out[n] = place + counts[group]
            out[n + 1] = place + NUM_GROUPS * (DEAD + 1) + counts[NUM_GROUPS + group]
            n += 2
    return n


@kernel
def card_terms(s: Any, seat: int, card: int, taken: int, counts: Any, out: Any) -> int:
    """Write the terms of a card that is discarded, or drawn, and takes these field cards.

    `counts` is what `count_groups` wrote. Returns how many terms there are.
    """
    stage = int64(s.turn) >> 2
    month = int64(ONE_MONTH) << (card & ~3)
    seen = s.hands[seat] | s.piles[0] | s.piles[1] | s.field_cards | bit(card)
    unseen = count_bits(month & ~seen)
    left = count_bits(month & s.hands[seat] & ~bit(card))
    if taken == 0:
        n = move_terms(card, LAID + min(unseen, 3), stage, counts, out, 0)
        out[n] = MONTH + stage * 32 + 16 + min(unseen, 3) * 4 + left
        return n + 1
    n = move_terms(card, FROM_HAND, stage, counts, out, 0)
    rest = taken
    while rest:
        n = move_terms(lowest_bit(rest), CAPTURED + min(unseen, 2), stage, counts, out, n)
        rest &= rest - 1
    sake, both = sake_worth(s, s.calls[seat]), both_sets_worth(s)
    pile = s.piles[seat]
    made = yaku_points(pile | taken | bit(card), sake, both) - yaku_points(pile, sake, both)
    out[n] = MADE + stage * 16 + min(made, 15)
    out[n + 1] = MONTH + stage * 32 + min(unseen, 2) * 4 + left
    return n + 2


@kernel
def months_of(cards: int) -> int:
    """Return all cards of the months of some cards."""
    return ((cards | cards >> 1 | cards >> 2 | cards >> 3) & EACH_MONTH) * ONE_MONTH


@kernel
def count_raising(s: Any, seat: int, near: int, far: int, found: Any) -> None:
    """Write how many cards, near and far, raise a seat's yaku points, and the most one brings."""
    pile = s.piles[seat]
    sake, both = sake_worth(s, s.calls[seat]), both_sets_worth(s)
    now = yaku_points(pile, sake, both)
    found[0] = found[1] = found[2] = 0
    rest = near | far
    while rest:
        card = bit(lowest_bit(rest))
        rest &= rest - 1
        more = yaku_points(pile | card, sake, both) - now
        if more > 0:
            found[0 if near & card else 1] += 1
            found[2] = max(found[2], more)


@kernel
def call_terms(s: Any, seat: int, out: Any) -> int:
    """Write the terms of koi-koi where a seat may call it; return how many there are."""
    turn, other = int64(s.turn) >> 1, 1 - seat
    hand, field, won = s.hands[seat], s.field_cards, score(s, seat)
    unseen = ALL_CARDS & ~(hand | s.piles[0] | s.piles[1] | field)
    found = out[MOST_TERMS - 3 : MOST_TERMS]
    out[0] = STOP_NOW + turn * 16 + min(won, 15)
    count_raising(s, other, field & months_of(unseen), unseen, found)
    out[1] = THEIR_CARDS + turn * 24 + min(found[0], 3) * 6 + min(found[1], 5)
    out[2] = THEIR_BEST + min(score(s, other) + found[2], 15)
    reach = (field & months_of(hand)) | (hand & months_of(field))
    count_raising(s, seat, reach, (hand | field | unseen) & ~reach, found)
    out[3] = MY_CARDS + turn * 24 + min(found[0], 3) * 6 + min(found[1], 5)
    out[4] = MY_BEST + min(found[2], 15)
    rounds = int64(s.rounds) - int64(s.round_number)
    if won >= s.points_now[other]:
        rounds = 0
    lead = int64(s.points_now[seat]) - START + won
    place = min(rounds, 2) * (2 * MOST_LEAD + 1) + min(max(lead, -MOST_LEAD), MOST_LEAD) + MOST_LEAD
    out[5] = LEAD + place
    out[6] = CALLED + min(int64(s.calls[seat]), 3) * 3 + min(int64(s.calls[other]), 2)
    return 7
