"""The play at Cribbage: both hands open, solved to the last card; the other hand guessed by ranks.

Suits do not matter in the play, so hands are ranks. A world is one sample of the ranks that the
other seat still holds, solved by alpha-beta: every card that a seat can play, the one that pegs
most first, with gos and last cards as the rules have them. A world is worth the points pegged by
the own seat less those of the other, or the probability of winning the game once the hands and
the crib have been counted in their order: `finish` says which.

Samples are weighted. The weight of ranks R left in a hand that has shown P is

    keeps(P + R) * ways to take R from the unseen cards * likelihood of the plays so far

where `keeps` says how often a hand of such cards is kept, for one of its ways, and a seat that
could have pegged more at an earlier play with a card of R is unlikely to hold it: each point
passed over divides the likelihood by e to the power of SHREWDNESS. Where there are no more guesses
than samples all are solved; otherwise the samples are spread evenly over the weights.

A hand in the search is a number in base 16, ranks from 1, the lowest card in the lowest place.
"""

from __future__ import annotations

from math import exp
from typing import Any, NamedTuple

import numpy as np

from cardlab.engine.cards import ALL_CARDS
from cardlab.engine.game import Array
from cardlab.engine.kernel import bit, count_bits, int64, kernel, lowest_bit
from cardlab.engine.seeding import RANDOM_RESOLUTION, below
from cardlab.games.cribbage.rules import CARD_BITS, SEAT_BIT
from cardlab.games.cribbage.scoring import LIMIT, card_value, follow, hand_points, peg_points
from cardlab.games.cribbage.solvers.hand_statistics import (
    HAND_POINTS,
    NUMBERS,
    QUADS,
    RANKS,
    count_ranks,
    multisets,
    pair_number,
)
from cardlab.games.cribbage.solvers.knowledge import FULL

HAND, OTHER_HAND, SERIES, TALLY, SEAT, GAIN, OTHER_GAIN, COUNT, TRIED = range(9)
FIELDS = 9
ALPHA, BETA, BEST = range(3)
LEVELS = 10
MOST_CARDS = 4
NIBBLE = 4

# Places of `finish`: what a world needs to turn pegged points into a probability of winning.
BY_WINS, SCORE, OTHER_SCORE, SHOW, OTHER_SHOW, CRIB, DEALS, TARGET = range(8)
FINISH = 8


SHREWDNESS = 1.0
LIKELIHOODS = np.array([exp(-SHREWDNESS * points) for points in range(LIMIT)])
MOST_OFTEN = 5.0  # no pair is discarded this many times as often as by chance
TRIES = 16  # to draw such a pair; the last one is taken

# All ways to hold one to four ranks, in one table: FIRST[n] to FIRST[n + 1] are those of n ranks.
GUESSES = np.concatenate(
    [np.pad(multisets(size), ((0, 0), (0, MOST_CARDS - size))) for size in range(1, MOST_CARDS + 1)]
)
FIRST = np.array([0, 0, 13, 13 + 91, 13 + 91 + 455, 13 + 91 + 455 + len(QUADS)])


class PeggingScratch(NamedTuple):
    """Scratch arrays of a search of the play."""

    levels: Array
    values: Array
    moves: Array
    gains: Array
    finish: Array
    weights: Array
    counts: Array
    passed: Array

    @classmethod
    def new(cls) -> PeggingScratch:
        """Return scratch for one turn at a time."""
        return cls(
            np.zeros((LEVELS, FIELDS), dtype=np.int64),
            np.zeros((LEVELS, 3)),
            np.zeros((LEVELS, MOST_CARDS), dtype=np.int64),
            np.zeros((LEVELS, MOST_CARDS), dtype=np.int64),
            np.zeros(FINISH, dtype=np.int64),
            np.zeros(len(QUADS)),
            np.zeros(RANKS, dtype=np.int64),
            np.zeros((MOST_CARDS, RANKS), dtype=np.int64),
        )


@kernel
def pack(cards: int) -> int:
    """Return a set of cards as a hand of the search."""
    hand = int64(0)
    place = 0
    while cards:
        hand |= ((lowest_bit(cards) >> 2) + 1) << place
        cards &= cards - 1
        place += NIBBLE
    return hand


@kernel
def rank_value(rank: int) -> int:
    """Return what a rank from 1 adds to the count."""
    return min(int64(rank), 10)


@kernel
def fits(hand: int, tally: int) -> bool:
    """Return whether a hand holds a card that can be played."""
    return hand != 0 and tally + rank_value(hand & 15) <= LIMIT


@kernel
def list_moves(level: int, work: Any) -> None:
    """Write the places of the different ranks that can be played, the one that pegs most first."""
    levels, moves, gains = work.levels, work.moves, work.gains
    hand = levels[level, HAND + levels[level, SEAT]]
    series, tally = levels[level, SERIES], levels[level, TALLY]
    count = 0
    previous = int64(0)
    place = 0
    while hand:
        rank = hand & 15
        after = tally + rank_value(rank)
        if after > LIMIT:
            break
        if rank != previous:
            previous = rank
            gain = peg_points((series << NIBBLE) | rank, after)
            i = count
            while i and gains[level, i - 1] < gain:
                gains[level, i] = gains[level, i - 1]
                moves[level, i] = moves[level, i - 1]
                i -= 1
            gains[level, i] = gain
            moves[level, i] = place
            count += 1
        hand >>= NIBBLE
        place += NIBBLE
    levels[level, COUNT] = count
    levels[level, TRIED] = 0


@kernel
def advance(level: int, place: int, gain: int, levels: Any) -> bool:
    """Play a card of a level, write what follows one level deeper; False after the last card."""
    seat = levels[level, SEAT]
    hand = levels[level, HAND + seat]
    other = levels[level, HAND + 1 - seat]
    rank = (hand >> place) & 15
    low = (int64(1) << place) - 1
    hand = (hand & low) | ((hand >> NIBBLE) & ~low)
    tally = levels[level, TALLY] + rank_value(rank)
    series = (levels[level, SERIES] << NIBBLE) | rank
    turn = 1 - seat
    goes_on = (hand | other) != 0
    if tally == LIMIT or not goes_on:
        if tally != LIMIT:
            gain += 1
        tally = int64(0)
        series = int64(0)
        if other == 0:
            turn = seat
    elif not fits(other, tally):
        turn = seat
        if not fits(hand, tally):
            gain += 1
            tally = int64(0)
            series = int64(0)
            if other != 0:
                turn = 1 - seat
    below_it = level + 1
    levels[below_it, HAND + seat] = hand
    levels[below_it, HAND + 1 - seat] = other
    levels[below_it, SERIES] = series
    levels[below_it, TALLY] = tally
    levels[below_it, SEAT] = turn
    levels[below_it, GAIN + seat] = levels[level, GAIN + seat] + gain
    levels[below_it, GAIN + 1 - seat] = levels[level, GAIN + 1 - seat]
    return goes_on


@kernel
def worth(gain: int, other_gain: int, finish: Any, win: Any) -> float:
    """Return what a play is worth that ended with these gains."""
    if not finish[BY_WINS]:
        return float(gain - other_gain)
    own = finish[SCORE] + gain
    other = finish[OTHER_SCORE] + other_gain
    target = finish[TARGET]
    if finish[DEALS]:
        other += finish[OTHER_SHOW]
        if other >= target:
            return 0.0
        own += finish[SHOW] + finish[CRIB]
        if own >= target:
            return 1.0
    else:
        own += finish[SHOW]
        if own >= target:
            return 1.0
        other += finish[OTHER_SHOW] + finish[CRIB]
        if other >= target:
            return 0.0
    short = FULL - target
    return float(win[own + short, other + short, 1 - finish[DEALS]])


@kernel
def has_won(level: int, finish: Any, levels: Any) -> int:
    """Return 1 if the own seat has reached the target in the play, -1 if the other, else 0."""
    if finish[BY_WINS]:
        if finish[SCORE] + levels[level, GAIN] >= finish[TARGET]:
            return 1
        if finish[OTHER_SCORE] + levels[level, OTHER_GAIN] >= finish[TARGET]:
            return -1
    return 0


@kernel
def search(top: int, win: Any, work: Any) -> float:
    """Return what the position at level `top` is worth to seat 0 if both play it perfectly."""
    levels, values, moves, gains = work.levels, work.values, work.moves, work.gains
    level = top
    values[top, ALPHA] = -1e9
    values[top, BETA] = 1e9
    values[top, BEST] = -1e9 if levels[top, SEAT] == 0 else 1e9
    list_moves(top, work)
    while True:
        alpha, beta = values[level, ALPHA], values[level, BETA]
        if levels[level, TRIED] == levels[level, COUNT] or alpha >= beta:
            value = values[level, BEST]
            if level == top:
                return float(value)
            level -= 1
        else:
            at = levels[level, TRIED]
            levels[level, TRIED] += 1
            goes_on = advance(level, moves[level, at], gains[level, at], levels)
            won = has_won(level + 1, work.finish, levels)
            if won:
                value = 1.0 if won > 0 else 0.0
            elif goes_on:
                level += 1
                values[level, ALPHA] = alpha
                values[level, BETA] = beta
                values[level, BEST] = -1e9 if levels[level, SEAT] == 0 else 1e9
                list_moves(level, work)
                continue
            else:
                value = worth(
                    levels[level + 1, GAIN], levels[level + 1, OTHER_GAIN], work.finish, win
                )
        if levels[level, SEAT] == 0:
            values[level, BEST] = max(values[level, BEST], value)
            values[level, ALPHA] = max(values[level, ALPHA], value)
        else:
            values[level, BEST] = min(values[level, BEST], value)
            values[level, BETA] = min(values[level, BETA], value)


@kernel
def value_moves(weight: float, out: Any, win: Any, work: Any) -> None:
    """Add the weighted worth of each card that seat 0 can play at level 0, at the card's rank."""
    levels, moves, gains = work.levels, work.moves, work.gains
    list_moves(0, work)
    hand = levels[0, HAND]
    for i in range(levels[0, COUNT]):
        place = moves[0, i]
        goes_on = advance(0, place, gains[0, i], levels)
        won = has_won(1, work.finish, levels)
        if won:
            value = 1.0 if won > 0 else 0.0
        elif goes_on:
            value = search(1, win, work)
        else:
            value = worth(levels[1, GAIN], levels[1, OTHER_GAIN], work.finish, win)
        out[((hand >> place) & 15) - 1] += weight * value


@kernel
def quad_of(ranks: Any, size: int, shown: int) -> int:
    """Return the number of four ranks: `size` of a guess, ascending, and those of cards shown."""
    number = int64(0)
    i = 0
    for place in range(MOST_CARDS):
        rank = (lowest_bit(shown) >> 2) if shown else int64(RANKS)
        if i < size and ranks[i] <= rank:
            rank = int64(ranks[i])
            i += 1
        else:
            shown &= shown - 1
        number += NUMBERS[place, rank]
    return number


@kernel
def ways_to_take(ranks: Any, size: int, counts: Any) -> int:
    """Return in how many ways ascending ranks can be taken from so many cards of each."""
    ways = int64(1)
    alike = int64(0)
    for i in range(size):
        alike = alike + 1 if i and ranks[i] == ranks[i - 1] else int64(0)
        ways = ways * max(counts[ranks[i]] - alike, 0) // (alike + 1)
    return ways


@kernel
def list_passed(s: Any, other: int, passed: Any) -> int:
    """Write what each rank would have pegged more at the other seat's plays; return their number.

    A rank that did not fit, or pegged no more than the card played, passed nothing over.
    """
    series = tally = int64(0)
    count = 0
    for i in range(int64(s.play_count)):
        card = int64(s.plays[i]) & CARD_BITS
        if tally + card_value(card) > LIMIT:
            series = tally = int64(0)
        after = tally + card_value(card)
        then = follow(series, card)
        if int64(s.plays[i]) >> SEAT_BIT == other:
            pegged = peg_points(then, after)
            for rank in range(RANKS):
                made = tally + card_value(4 * rank)
                passed[count, rank] = 0
                if made <= LIMIT:
                    more = peg_points(follow(series, 4 * rank), made) - pegged
                    passed[count, rank] = max(more, 0)
            count += 1
        series, tally = then, after
        if tally == LIMIT:
            series = tally = int64(0)
    return count


@kernel
def weigh_guesses(s: Any, seat: int, keeps: Any, work: Any) -> float:
    """Write the weight of every guess at the ranks that the other seat holds; return their sum."""
    weights, counts, passed = work.weights, work.counts, work.passed
    other = 1 - seat
    size = int64(s.sizes[other])
    seen = s.hands[seat] | s.laid[seat] | s.played[0] | s.played[1] | bit(s.starter)
    count_ranks(ALL_CARDS & ~seen, counts)
    plays = list_passed(s, other, passed)
    floor = int64(s.floors[other])
    total = 0.0
    for i in range(FIRST[size + 1] - FIRST[size]):
        ranks = GUESSES[FIRST[size] + i]
        weights[i] = 0.0
        if ranks[0] < floor:
            continue
        ways = ways_to_take(ranks, size, counts)
        if ways == 0:
            continue
        weight = ways * keeps[quad_of(ranks, size, s.played[other])]
        for play in range(plays):
            more = int64(0)
            for k in range(size):
                more = max(more, passed[play, ranks[k]])
            weight *= LIKELIHOODS[more]
        weights[i] = weight
        total += weight
    return total


@kernel
def guess_crib(s: Any, seat: int, tosses: Any, rng: Any) -> int:
    """Return the points of the crib with two unseen cards as the other seat may have discarded."""
    seen = s.hands[seat] | s.laid[seat] | s.played[0] | s.played[1] | bit(s.starter)
    unseen = ALL_CARDS & ~seen
    low, high = int64(0), int64(0)
    for _ in range(TRIES):
        low = draw_card(unseen, rng)
        high = draw_card(unseen & ~bit(low), rng)
        if low > high:
            low, high = high, low
        suited = 1 if (low ^ high) & 3 == 0 else 0
        likely = tosses[suited, pair_number(low >> 2, high >> 2)] / MOST_OFTEN
        if below(rng, RANDOM_RESOLUTION) < likely * RANDOM_RESOLUTION:
            break
    return hand_points(s.laid[seat] | bit(low) | bit(high), int64(s.starter), True)


@kernel
def draw_card(cards: int, rng: Any) -> int:
    """Return one card of a set, each equally likely."""
    nth = below(rng, count_bits(cards))
    for _ in range(nth):
        cards &= cards - 1
    return lowest_bit(cards)


@kernel
def prepare(s: Any, seat: int, by_wins: bool, work: Any) -> None:
    """Write what all worlds of a turn have in common: the own hand, the count, the scores."""
    levels, finish = work.levels, work.finish
    own = s.hands[seat]
    levels[0, HAND] = pack(own)
    levels[0, OTHER_HAND] = 0
    levels[0, SERIES] = s.series
    levels[0, TALLY] = s.tally
    levels[0, SEAT] = 0
    levels[0, GAIN] = 0
    levels[0, OTHER_GAIN] = 0
    finish[BY_WINS] = 1 if by_wins else 0
    finish[SCORE] = s.scores[seat]
    finish[OTHER_SCORE] = s.scores[1 - seat]
    finish[SHOW] = hand_points(own | s.played[seat], int64(s.starter), False)
    finish[DEALS] = 1 if s.dealer == seat else 0
    finish[TARGET] = s.target


@kernel
def value_world(
    s: Any, seat: int, weight: float, guess: int, known: Any, rng: Any, out: Any, work: Any
) -> None:
    """Add the weighted worth of every card in the world of a guess, -1 for an empty other hand."""
    other = 1 - seat
    size = int64(s.sizes[other])
    cut = int64(s.starter)
    show = int64(0)
    if guess >= 0:
        ranks = GUESSES[guess]
        hand = int64(0)
        for i in range(size):
            hand |= (ranks[i] + 1) << (NIBBLE * i)
        work.levels[0, OTHER_HAND] = hand
        show = int64(HAND_POINTS[quad_of(ranks, size, s.played[other]), cut >> 2])
    else:
        show = hand_points(s.played[other], cut, False)
    if work.finish[BY_WINS]:
        work.finish[OTHER_SHOW] = show
        work.finish[CRIB] = guess_crib(s, seat, known.tosses[work.finish[DEALS] ^ 1], rng)
    value_moves(weight, out, known.win, work)


@kernel
def value_cards(
    s: Any, seat: int, samples: int, by_wins: bool, known: Any, rng: Any, out: Any, work: Any
) -> None:
    """Write, at the rank of each card that can be played, its mean worth over guessed worlds."""
    size = int64(s.sizes[1 - seat])
    out[:] = 0.0
    prepare(s, seat, by_wins, work)
    if size == 0:
        value_world(s, seat, 1.0, -1, known, rng, out, work)
        return
    weights = work.weights
    total = weigh_guesses(s, seat, known.keeps[1 if s.dealer != seat else 0], work)
    first, number = FIRST[size], FIRST[size + 1] - FIRST[size]
    possible = 0
    for i in range(number):
        if weights[i] > 0.0:
            possible += 1
    step = total / samples
    mark = step * below(rng, RANDOM_RESOLUTION) / RANDOM_RESOLUTION
    reached = 0.0
    for i in range(number):
        weight = weights[i] / total
        if possible > samples:
            weight = 0.0
            reached += weights[i]
            while mark < reached:
                mark += step
                weight += 1.0 / samples
        if weight > 0.0:
            value_world(s, seat, weight, first + i, known, rng, out, work)


def solve(hand: Any, other_hand: Any, *, series: int = 0, tally: int = 0) -> dict[int, int]:
    """Return by rank what the points of each card of `hand` come to, both hands open.

    Hands are ranks from 0; `series` and `tally` are those of the count so far.
    """
    work = PeggingScratch.new()
    levels = work.levels
    for place, ranks in ((HAND, hand), (OTHER_HAND, other_hand)):
        levels[0, place] = sum((rank + 1) << NIBBLE * i for i, rank in enumerate(sorted(ranks)))
    levels[0, SERIES], levels[0, TALLY] = series, tally
    out = np.zeros(RANKS)
    value_moves(1.0, out, np.zeros((1, 1, 1)), work)
    playable = {rank for rank in hand if tally + min(rank + 1, 10) <= LIMIT}
    return {rank: round(float(out[rank])) for rank in sorted(playable)}
