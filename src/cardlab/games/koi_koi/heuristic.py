"""The heuristic of Koi-Koi: take what makes yaku, keep it from the other seat, stop in time."""

from __future__ import annotations

from typing import Any

from cardlab.engine.kernel import bit, count_bits, int64, kernel, lowest_bit
from cardlab.games.koi_koi.cards import (
    ALL_CARDS,
    BLUE,
    BOAR_DEER_BUTTERFLY,
    CUP,
    LIGHTS,
    ONE_MONTH,
    RAINMAN,
    RED,
    RIBBONS,
    SEEDS,
)
from cardlab.games.koi_koi.rules import KOI_KOI, STOP, TAKE
from cardlab.games.koi_koi.table import (
    CALL,
    DISCARD,
    both_sets_worth,
    field_matches,
    sake_worth,
    score,
)
from cardlab.games.koi_koi.yaku import yaku_points

YAKU_POINT = 24  # against the worth of single cards below
ENOUGH = 7  # points that are worth stopping for


@kernel
def choose(s: Any, seat: int, actions: Any, count: int) -> int:
    """Return the capture worth most to both seats, the discard that gives least, a careful call."""
    if s.phase == CALL:
        return call(s, seat)
    best = -1_000_000
    choice = int64(actions[0])
    for i in range(count):
        action = int64(actions[i])
        if s.phase == DISCARD:
            worth = discard_worth(s, seat, action)
        else:
            worth = capture_worth(s, seat, bit(action - TAKE) | bit(s.pending))
        if worth > best:
            best = worth
            choice = action
    return choice


@kernel
def discard_worth(s: Any, seat: int, card: int) -> int:
    """Return what a discard captures, or less than nothing for what it leaves to the other seat."""
    there = field_matches(s, card)
    if there == 0:
        known = s.hands[seat] | s.piles[0] | s.piles[1] | s.field_cards
        month = ONE_MONTH << (card & ~3)
        unseen = count_bits(month & ALL_CARDS & ~known)
        return -1 - cards_worth(s, 1 - seat, bit(card)) * unseen // 2
    if count_bits(there) != 2:
        return capture_worth(s, seat, there | bit(card))
    first = bit(lowest_bit(there))
    return max(
        capture_worth(s, seat, first | bit(card)),
        capture_worth(s, seat, (there & ~first) | bit(card)),
    )


@kernel
def capture_worth(s: Any, seat: int, cards: int) -> int:
    """Return what captured cards are worth, half of it for what the other seat now lacks."""
    return cards_worth(s, seat, cards) + cards_worth(s, 1 - seat, cards) // 2


@kernel
def cards_worth(s: Any, seat: int, cards: int) -> int:
    """Return what cards would be worth on a seat's pile: the yaku they complete, and themselves."""
    pile = s.piles[seat]
    sake, both = sake_worth(s, s.calls[seat]), both_sets_worth(s)
    worth = yaku_points(pile | cards, sake, both) - yaku_points(pile, sake, both)
    single = (
        15 * count_bits(cards & LIGHTS & ~RAINMAN)
        + 8 * count_bits(cards & RAINMAN)
        + 14 * count_bits(cards & CUP)
        + 7 * count_bits(cards & (BOAR_DEER_BUTTERFLY | RED | BLUE))
        + 4 * count_bits(cards & (SEEDS | RIBBONS))
        + count_bits(cards)
    )
    return YAKU_POINT * worth + single


@kernel
def call(s: Any, seat: int) -> int:
    """Stop for enough points or where the other seat is close; at the end of the game to win."""
    won = score(s, seat)
    lead = int64(s.points_now[seat]) - int64(s.points_now[1 - seat]) + 2 * won
    if s.round_number == s.rounds or won >= s.points_now[1 - seat]:
        return STOP if lead > 0 else KOI_KOI
    return STOP if won >= ENOUGH or is_close(s, 1 - seat) else KOI_KOI


@kernel
def is_close(s: Any, seat: int) -> bool:
    """Return whether one more card could raise a seat's yaku points."""
    pile = s.piles[seat]
    sake, both = sake_worth(s, s.calls[seat]), both_sets_worth(s)
    now = yaku_points(pile, sake, both)
    rest = ALL_CARDS & ~(s.piles[0] | s.piles[1])
    while rest:
        card = bit(lowest_bit(rest))
        rest &= rest - 1
        if yaku_points(pile | card, sake, both) > now:
            return True
    return False
