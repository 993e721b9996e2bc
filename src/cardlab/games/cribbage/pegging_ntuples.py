"""An n-tuple network for the play at Cribbage: how the situation after a card selects its weights.

`weight_indices` turns a card that may be played into ten indices of a flat array of weights, one in
each of ten tables. A table is indexed by a tuple of these features and ignores all others:

    rest     ranks left in the own hand              last, second, ...  latest ranks of the count
    tally    the count, 0 after a 31                 left               cards that the other holds
    shown    ranks that the other has played         floor              what it said go at
    unseen   cards not seen yet: of the latest rank, of the value that makes 15 or 31

None of this says which situations are good. Tables with more combinations than entries are hashed
by a remainder.

Multisets of up to three ranks have numbers from 0 to 559: none, one, two, three ranks.
"""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np

from cardlab.engine.cards import ALL_CARDS
from cardlab.engine.kernel import bit, count_bits, int64, kernel, lowest_bit
from cardlab.games.cribbage.scoring import HAND_SIZE, LIMIT, card_value, follow

RANKS = 13
NONE_OR_RANK = RANKS + 1
FIFTEEN = 15
TALLIES = LIMIT + 1
LEFT = HAND_SIZE + 1
FLOORS = 11
TENS = 17  # unseen cards worth ten, and none
# What rank r adds to the number of a multiset as its i-th lowest, and the number of the first
# multiset of each size.
PLACES = np.array([[comb(r + i, i + 1) for r in range(RANKS)] for i in range(HAND_SIZE)])
FIRST = np.array([0, 1, 1 + 13, 1 + 13 + 91])
SETS = 1 + 13 + 91 + 455

# How many entries each table has: all its combinations, or a prime number of them.
TABLE_SIZES = np.array(
    [
        SETS * TALLIES * LEFT,  # rest, tally, left
        SETS * NONE_OR_RANK * NONE_OR_RANK,  # rest, last, second
        131_071,  # tally, left, last three
        131_071,  # shown, last, tally
        131_071,  # shown, rest
        262_139,  # rest, left, last four
        SETS * FLOORS * LEFT * 2,  # rest, floor, left, whether a count begins
        NONE_OR_RANK * HAND_SIZE * TALLIES * LEFT,  # last, unseen of it, tally, left
        TALLIES * TENS * LEFT * NONE_OR_RANK,  # tally, unseen that make 15 or 31, left, last
        131_071,  # shown, floor, tally, last two
    ]
)
STARTS = np.concatenate([[0], np.cumsum(TABLE_SIZES)[:-1]])
NUM_TUPLES = len(TABLE_SIZES)
NUM_WEIGHTS = int(TABLE_SIZES.sum())


@kernel
def rank_set(cards: int) -> int:
    """Return the number of the ranks of up to three cards."""
    number = FIRST[count_bits(cards)]
    place = 0
    while cards:
        number += PLACES[place, lowest_bit(cards) >> 2]
        cards &= cards - 1
        place += 1
    return number


@kernel
def unseen_cards(s: Any, seat: int) -> int:
    """Return the cards that a seat has not seen, once the cut is turned up."""
    seen = s.hands[seat] | s.laid[seat] | s.played[0] | s.played[1] | bit(s.starter)
    return ALL_CARDS & ~seen


@kernel
def unseen_of_value(unseen: int, value: int) -> int:
    """Return how many unseen cards are worth so much, none for a value that no card has."""
    if value < 1 or value > 10:
        return int64(0)
    cards = unseen >> (4 * (value - 1))
    return count_bits(cards & 15) if value < 10 else count_bits(cards)


@kernel
def weight_indices(s: Any, seat: int, card: int, out: Any) -> None:
    """Write the indices of the weights whose sum is the value of the situation after a card."""
    other = 1 - seat
    rest = rank_set(s.hands[seat] & ~bit(card))
    left = int64(s.sizes[other])
    shown = rank_set(s.played[other]) if left else int64(0)
    floor = int64(s.floors[other])
    unseen = unseen_cards(s, seat)
    tally = int64(s.tally) + card_value(card)
    series = follow(s.series, card)
    if tally == LIMIT:
        tally = int64(0)
        series = int64(0)
    last, second = series & 15, (series >> 4) & 15
    third, fourth = (series >> 8) & 15, (series >> 12) & 15
    alike = count_bits((unseen >> (4 * (last - 1))) & 15) if last else int64(0)
    making = int64(0)
    if tally:
        making = unseen_of_value(unseen, (FIFTEEN if tally < FIFTEEN else LIMIT) - tally)
    two = last * NONE_OR_RANK + second
    three = two * NONE_OR_RANK + third
    out[0] = (rest * TALLIES + tally) * LEFT + left
    out[1] = rest * (NONE_OR_RANK * NONE_OR_RANK) + two
    out[2] = ((three * TALLIES + tally) * LEFT + left) % TABLE_SIZES[2]
    out[3] = ((shown * NONE_OR_RANK + last) * TALLIES + tally) % TABLE_SIZES[3]
    out[4] = (shown * SETS + rest) % TABLE_SIZES[4]
    out[5] = (((three * NONE_OR_RANK + fourth) * SETS + rest) * LEFT + left) % TABLE_SIZES[5]
    out[6] = ((rest * FLOORS + floor) * LEFT + left) * 2 + (1 if tally == 0 else 0)
    out[7] = ((last * HAND_SIZE + alike) * TALLIES + tally) * LEFT + left
    out[8] = ((tally * TENS + making) * LEFT + left) * NONE_OR_RANK + last
    out[9] = (((shown * FLOORS + floor) * TALLIES + tally) * NONE_OR_RANK**2 + two) % TABLE_SIZES[9]
    for i in range(NUM_TUPLES):
        out[i] += STARTS[i]
