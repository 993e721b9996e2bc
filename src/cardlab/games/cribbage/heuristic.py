"""The heuristic of Cribbage: keep the hand that counts most, peg without helping the other seat."""

from __future__ import annotations

from typing import Any

import numpy as np

from cardlab.engine.cards import ALL_CARDS
from cardlab.engine.kernel import bit, count_bits, int64, kernel
from cardlab.games.cribbage.rules import DECK, LAY, PAIRS
from cardlab.games.cribbage.scoring import LIMIT, card_value, follow, hand_points, peg_points

# A hundred times the mean points of a crib with a card of each rank, of different suits, over all
# choices of two other cards and the cut card; the rows and columns are ranks from the ace.
CRIB_MEANS = np.array(
    [
        (553, 443, 455, 546, 573, 425, 407, 412, 403, 395, 419, 385, 374),
        (443, 583, 683, 484, 576, 436, 428, 423, 413, 406, 430, 396, 385),
        (455, 683, 616, 549, 642, 427, 435, 428, 411, 414, 438, 404, 393),
        (546, 484, 549, 614, 699, 496, 417, 430, 420, 414, 437, 403, 393),
        (573, 576, 642, 699, 899, 709, 641, 575, 573, 702, 726, 692, 681),
        (425, 436, 427, 496, 709, 629, 553, 489, 557, 383, 407, 373, 362),
        (407, 428, 435, 417, 641, 553, 611, 676, 435, 372, 402, 368, 357),
        (412, 423, 428, 430, 575, 489, 676, 563, 493, 430, 394, 366, 355),
        (403, 413, 411, 420, 573, 557, 435, 493, 553, 484, 448, 355, 350),
        (395, 406, 414, 414, 702, 383, 372, 430, 484, 546, 504, 411, 341),
        (419, 430, 438, 437, 726, 407, 402, 394, 448, 504, 593, 501, 430),
        (385, 396, 404, 403, 692, 373, 368, 366, 355, 411, 501, 525, 396),
        (374, 385, 393, 393, 681, 362, 357, 355, 350, 341, 430, 396, 503),
    ],
    dtype=np.int16,
)


@kernel
def choose(s: Any, seat: int, actions: Any, count: int) -> int:
    """Return the action that promises most, the first in a tie."""
    best = -1e9
    choice = int64(actions[0])
    lays = choice >= LAY
    unseen = ALL_CARDS & ~(s.hands[seat] | s.laid[seat] | s.played[0] | s.played[1])
    if not lays:
        unseen &= ~bit(s.starter)
    for i in range(count):
        action = int64(actions[i])
        worth = (
            worth_of_laying(s, seat, action, unseen)
            if lays
            else worth_of_play(s, seat, action, unseen)
        )
        if worth > best:
            best = worth
            choice = action
    return choice


@kernel
def worth_of_laying(s: Any, seat: int, action: int, unseen: int) -> float:
    """Return the mean points of the hand kept, and of the crib to the seat that owns it."""
    first, second = int64(PAIRS[action - LAY, 0]), int64(PAIRS[action - LAY, 1])
    kept = s.hands[seat] & ~(bit(first) | bit(second))
    total = 0
    for cut in range(DECK):
        if bit(cut) & unseen:
            total += hand_points(kept, cut, False)
    crib = CRIB_MEANS[first >> 2, second >> 2] / 100.0
    return total / count_bits(unseen) + (crib if seat == s.dealer else -crib)


@kernel
def worth_of_play(s: Any, seat: int, card: int, unseen: int) -> float:
    """Return the points of a card less what the other is likely to score on it."""
    tally = int64(s.tally) + card_value(card)
    series = follow(s.series, card)
    other = 1 - seat
    unseen &= ~(bit(4 * int64(s.floors[other])) - 1)
    total = 0
    for rank in range(13):
        reply = tally + card_value(4 * rank)
        if reply <= LIMIT:
            left = count_bits((unseen >> (4 * rank)) & 15)
            total += left * peg_points(follow(series, 4 * rank), reply)
    threat = total * int64(s.sizes[other]) / max(count_bits(unseen), 1)
    return peg_points(series, tally) - threat + card_value(card) / 100.0
