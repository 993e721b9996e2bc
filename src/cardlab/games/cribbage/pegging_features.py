"""Features of offence and defence in the play at Cribbage, for a linear policy.

`write_features` writes for a card that may be played

    points     that it pegs at once
    reply      that the other is expected to peg on it: over all ranks unseen cards times points,
               as if the other held any of them equally likely
    dread      the most that any unseen card would peg on it
    counter    the mean of what one can peg oneself on the reply, over all cards that fit
    height     its value, in tens: high cards first keeps the low ones
    lows       aces to fours left in the own hand
    trap       whether the count becomes 5 or 21, which a card worth ten takes to 15 or 31
    pair       whether another card of the rank is left in the own hand
    go         the chance that the other cannot play on it
    on         that chance if the own hand has a card to go on with

`stage_of` says where the game stands: whether either seat had, when the deal began, so few points
left to the target that this deal may be the last.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cardlab.engine.cards import ALL_CARDS
from cardlab.engine.kernel import bit, count_bits, int64, kernel, lowest_bit
from cardlab.games.cribbage.pegging_ntuples import unseen_cards
from cardlab.games.cribbage.rules import fitting
from cardlab.games.cribbage.scoring import LIMIT, card_value, follow, peg_points

FEATURES = (
    *("points", "reply", "dread", "counter", "height"),
    *("lows", "trap", "pair", "go", "on"),
)
NUM_FEATURES = len(FEATURES)
POINTS, REPLY, DREAD, COUNTER, HEIGHT, LOWS, TRAP, PAIR, GO, ON = range(NUM_FEATURES)
STAGES = ("far from the end", "own end near", "other's end near", "both near the end")
NUM_STAGES = len(STAGES)
NEAR = 15  # points to the target; a dealer gains 16 in a deal, a pone 10
RANKS = 13
LOW_CARDS = (1 << 16) - 1  # aces to fours
TRAPS = np.array([count in (5, 21) for count in range(LIMIT + 1)])


@kernel
def stage_of(s: Any, seat: int) -> int:
    """Return where the game stands for a seat, as a place in STAGES."""
    target = int64(s.target)
    own = target - int64(s.before[seat]) <= NEAR
    other = target - int64(s.before[1 - seat]) <= NEAR
    return (1 if own else 0) + (2 if other else 0)


@kernel
def best_answer(hand: int, series: int, tally: int) -> int:
    """Return the most that a card of a hand pegs, 0 if none can be played."""
    cards = hand & fitting(tally)
    most = int64(0)
    while cards:
        card = lowest_bit(cards)
        cards &= cards - 1
        most = max(most, peg_points(follow(series, card), tally + card_value(card)))
    return most


@kernel
def chance_of_none(size: int, fits: int, others: int) -> float:
    """Return the chance that `size` cards drawn from both kinds are all of the second."""
    chance = 1.0
    for i in range(size):
        chance *= max(others - i, 0) / max(fits + others - i, 1)
    return chance


@kernel
def write_features(s: Any, seat: int, card: int, out: Any) -> None:
    """Write the features of a card, in the order of FEATURES."""
    other = 1 - seat
    left = int64(s.sizes[other])
    tally = int64(s.tally) + card_value(card)
    series = follow(s.series, card)
    rest = s.hands[seat] & ~bit(card)
    out[:] = 0.0
    out[POINTS] = peg_points(series, tally)
    out[HEIGHT] = card_value(card) / 10
    out[LOWS] = count_bits(rest & LOW_CARDS)
    out[TRAP] = 1.0 if TRAPS[tally] else 0.0
    out[PAIR] = 1.0 if rest & (int64(15) << (card & ~3)) else 0.0
    if left == 0:
        return
    if tally == LIMIT:
        tally = int64(0)
        series = int64(0)
    unseen = unseen_cards(s, seat) & ALL_CARDS & ~(bit(4 * int64(s.floors[other])) - 1)
    able = unseen & fitting(tally)
    number, fits = count_bits(unseen), count_bits(able)
    out[GO] = chance_of_none(left, fits, number - fits)
    if rest & fitting(tally):
        out[ON] = out[GO]
    for rank in range(RANKS):
        cards = count_bits((able >> (4 * rank)) & 15)
        if cards:
            after = tally + card_value(4 * rank)
            then = follow(series, 4 * rank)
            points = peg_points(then, after)
            out[REPLY] += cards * points * left / number
            out[DREAD] = max(out[DREAD], points)
            if after != LIMIT:
                out[COUNTER] += cards * best_answer(rest, then, after) / fits
