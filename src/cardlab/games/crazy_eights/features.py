"""Crazy Eights as the paper's Q-learner sees it: six small numbers and five actions.

features, in the order of the index      values
  cards in the own hand                  0 ... 8, more counts as 8
  cards in the other's hand              0 ... 8, more counts as 8 (the next seat's, if several)
  suit in force                          0 ... 3: clubs, diamonds, hearts, spades
  eights in hand                         0 ... 4
  other cards of the top card's rank     0 ... 4
  other cards of the suit in force       0 ... 4, more counts as 4

Together 9 * 9 * 4 * 5 * 5 * 5 = 40,500 states, of which many cannot occur.

actions: play a card of clubs, diamonds, hearts or spades that is no eight, or play an eight. The
paper does not say which card or which suit that means; here the card worth most in hand, of equals
the highest, and the suit of which most other cards are held, of equals the first.
"""

from __future__ import annotations

from typing import Any

from cardlab.engine.kernel import bit, count_bits, int64, kernel, lowest_bit
from cardlab.games.crazy_eights.rules import (
    EIGHT_ACTIONS,
    EIGHTS,
    FIRST_EIGHT,
    ONE_RANK,
    ONE_SUIT,
    playable,
)

NUM_STATES = 9 * 9 * 4 * 5 * 5 * 5
EIGHT = 4
NUM_CHOICES = 5


@kernel
def state_index(s: Any, seat: int) -> int:
    """Return the number of the state that a seat is in, from 0 to NUM_STATES - 1."""
    other = (seat + 1) % int64(s.seats)
    hand = s.hands[seat]
    plain = hand & ~EIGHTS
    index = min(int64(s.sizes[seat]), 8) * 9 + min(int64(s.sizes[other]), 8)
    index = index * 4 + int64(s.suit)
    index = index * 5 + count_bits(hand & EIGHTS)
    index = index * 5 + count_bits(plain & ONE_RANK << (int64(s.top) & ~3))
    return index * 5 + min(count_bits(plain & ONE_SUIT << int64(s.suit)), 4)


@kernel
def choices(s: Any, seat: int) -> int:
    """Return which of the five actions are possible, as a set of bits; none if the seat passes."""
    cards = s.hands[seat] & playable(s)
    plain = cards & ~EIGHTS
    possible = int64(0)
    for suit in range(4):
        if plain & ONE_SUIT << suit:
            possible |= bit(suit)
    if cards & EIGHTS:
        possible |= bit(EIGHT)
    return possible


@kernel
def action_of(s: Any, seat: int, choice: int) -> int:
    """Return the action that one of the five possible ones means."""
    hand = s.hands[seat]
    if choice == EIGHT:
        eight = lowest_bit(hand & EIGHTS)
        most = -1
        declared = 0
        for suit in range(4):
            held = count_bits(hand & ~EIGHTS & ONE_SUIT << suit)
            if held > most:
                most = held
                declared = suit
        return EIGHT_ACTIONS + 4 * (eight - FIRST_EIGHT) + declared
    cards = hand & playable(s) & ~EIGHTS & ONE_SUIT << choice
    card = lowest_bit(cards)
    while cards:
        card = lowest_bit(cards)  # ascending ranks: the last is the highest, and none is worth more
        cards &= cards - 1
    return card if card < FIRST_EIGHT else card - 4
