"""A small game with shown voids: High Card in which the second seat must follow suit.

Twelve cards in three suits (card % 3), four for each seat. Who cannot follow shows a void: both
seats know from then on that this hand has none of that suit, and the record keeps it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cardlab.engine.game import Game, record_type
from cardlab.engine.kernel import bit, count_bits, kernel, lowest_bit
from cardlab.engine.seeding import below
from tests.support import high_card
from tests.support.high_card import DEAL, FINISHED, NOTHING, PLAY

HAND = 4
ONE_SUIT = 0x249  # the cards 0, 3, 6, 9
STATE = record_type(
    [
        ("hands", "i8", (2,)),
        ("voids", "i8", (2,)),  # cards that a hand is known not to hold
        ("played", "i8"),
        ("led", "u1"),
        ("tricks", "u1", (2,)),
        ("phase", "u1"),
        ("seat", "u1"),
        ("seats", "u1"),
    ]
)


def fresh(*, seats: int) -> Any:
    state = np.zeros(1, dtype=STATE)
    state[0].seats = seats
    state[0].led = NOTHING
    return state


@kernel
def deal(s: Any, order: Any) -> None:
    for i in range(2 * HAND):
        s.hands[i % 2] |= bit(order[i])
    s.phase = PLAY


@kernel
def legal(s: Any, out: Any) -> int:
    count = 0
    if s.phase == PLAY:
        rest = s.hands[s.seat]
        if s.led != NOTHING and rest & (ONE_SUIT << (np.int64(s.led) % 3)):
            rest &= ONE_SUIT << (np.int64(s.led) % 3)
        while rest:
            out[count] = lowest_bit(rest)
            rest &= rest - 1
            count += 1
    return count


@kernel
def apply(s: Any, action: int) -> None:
    seat = np.int64(s.seat)
    s.hands[seat] &= ~bit(action)
    s.played |= bit(action)
    if s.led == NOTHING:
        s.led = action
        s.seat = 1 - seat
        return
    if action % 3 != s.led % 3:
        s.voids[seat] |= ONE_SUIT << (np.int64(s.led) % 3)
    winner = seat if action % 3 == s.led % 3 and action > s.led else 1 - seat
    s.led = NOTHING
    s.tricks[winner] += 1
    s.seat = winner
    if count_bits(s.played) == 2 * HAND:
        s.phase = FINISHED


@kernel
def returns(s: Any, seat: int) -> float:
    return (float(s.tricks[seat]) - float(s.tricks[1 - seat])) / HAND


@kernel
def conceal(s: Any, seat: int) -> None:
    s.hands[1 - seat] = 0


@kernel
def fill(s: Any, seat: int, barred: int, rng: Any) -> bool:
    """Give the other seat unseen cards that are none of `barred`."""
    other = 1 - seat
    need = HAND - count_bits(s.played) // 2
    if s.led != NOTHING and s.seat == seat:
        need -= 1
    unseen = 0xFFF & ~(s.hands[seat] | s.played | barred)
    s.hands[other] = 0
    while need:
        card = below(rng, 12)
        if unseen & bit(card):
            s.hands[other] |= bit(card)
            unseen &= ~bit(card)
            need -= 1
    return True


@kernel
def imagine(s: Any, seat: int, rng: Any) -> bool:
    return fill(s, seat, s.voids[1 - seat], rng)


@kernel
def audit(s: Any) -> int:
    if s.phase == DEAL:
        return 0
    return 0 if count_bits(s.hands[0] | s.hands[1] | s.played) == 2 * HAND else 1


GAME = Game.from_module(
    __name__,
    None,
    high_card,
    name="follow_suit",
    title="Follow Suit",
    summary="the higher card of the suit led takes the trick",
    options=high_card.GAME.options,
    rules_version=1,
    num_actions=12,
    deck=12,
    max_plies=2 * HAND,
    faults=high_card.GAME.faults,
    action_text=high_card.card_text,
    parse_action=high_card.parse_card,
)
