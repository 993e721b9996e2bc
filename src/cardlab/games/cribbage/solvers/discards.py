"""Discards at Cribbage: expected points against a sensible other seat, and chances to win.

Expected points of a choice are the mean of the hand, plus the mean of the crib for the dealer or
minus it for the pone, plus what hands of these ranks peg less what they let the other peg. The
other two cards of the crib are weighted by how often the other seat discards such a pair, suited or
not (`Knowledge.tosses`), among the cards that can be unseen.

Chances to win follow the order of counting from the current score to the next deal: the pegs, the
pone's hand, the dealer's hand, the crib. The own hand and the crib have the distributions of the
choice; the pegs and the other hand those of all deals. `outlook` needs that only once for a score;
a choice then is a weighted sum, corrected in first order for what its ranks peg more or less than
all. Hand and crib are taken as independent given the choice, although they share the cut card.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from cardlab.engine.cards import ALL_CARDS
from cardlab.engine.game import Array
from cardlab.engine.kernel import count_bits, int64, kernel
from cardlab.games.cribbage.solvers.hand_statistics import (
    CHOICES,
    CRIB_POINTS,
    CUTS,
    DEALT,
    JACK,
    MOST,
    ONE_SUIT,
    PAIRS,
    PLACES,
    RANKS,
    SUITS,
    TRIPLES,
    count_ranks,
    hand_counts,
    list_cards,
    pair_number,
    quad_number,
    split,
)
from cardlab.games.cribbage.solvers.knowledge import FULL, MOST_PEGS, PONE, THE_DEALER, Knowledge

POINTS = MOST + 1
NEAR = 40  # points to the end of a game from which on chances to win decide


def _triple_with(pairs: Array, triples: Array) -> Array:
    """Return the number of every pair of ranks with every third rank."""
    numbers = {tuple(row): number for number, row in enumerate(triples.tolist())}
    rows = [
        [numbers[tuple(sorted((*pair, rank)))] for rank in range(RANKS)] for pair in pairs.tolist()
    ]
    return np.array(rows, dtype=np.int64)


TRIPLE_WITH = _triple_with(PAIRS, TRIPLES)


class DiscardScratch(NamedTuple):
    """Scratch arrays of the evaluation of a hand of six."""

    cards: Array
    counts: Array
    unseen: Array
    cut_counts: Array
    pair_weights: Array
    triple_weights: Array
    suit_weights: Array
    crib: Array
    hand: Array
    chances: Array
    stage: Array
    crib_shares: Array

    @classmethod
    def new(cls) -> DiscardScratch:
        """Return scratch for one turn at a time."""
        return cls(
            np.zeros(DEALT, dtype=np.int64),
            np.zeros(RANKS, dtype=np.int64),
            np.zeros(CUTS, dtype=np.int64),
            np.zeros(POINTS, dtype=np.int64),
            np.zeros(len(PAIRS)),
            np.zeros(len(TRIPLES)),
            np.zeros((3, SUITS)),
            np.zeros(CHOICES),
            np.zeros(CHOICES),
            np.zeros((3, POINTS, POINTS)),
            np.zeros((FULL + 1, MOST_PEGS)),
            np.zeros(POINTS),
        )


@kernel
def weigh_cribs(hand: int, tosses: Any, work: Any) -> float:
    """Write the weights of the three other cards of the crib by ranks, and what suits need.

    The sum of the triples' weights is returned. Rows of `suit_weights`, by suit: the weight of all
    cuts of that suit, of those that meet a jack of that suit discarded by the other, and of those
    that complete a suited pair.
    """
    list_cards(ALL_CARDS & ~hand, work.unseen)
    count_ranks(ALL_CARDS & ~hand, work.counts)
    work.pair_weights[:] = 0.0
    work.triple_weights[:] = 0.0
    suits = work.suit_weights
    suits[:] = 0.0
    total = 0.0
    for i in range(CUTS):
        low = work.unseen[i]
        one = low & 3
        for j in range(i + 1, CUTS):
            high = work.unseen[j]
            two = high & 3
            same = 1 if one == two else 0
            pair = pair_number(low >> 2, high >> 2)
            weight = tosses[same, pair]
            work.pair_weights[pair] += weight
            total += weight
            suits[0, one] -= weight
            suits[0, two] -= weight
            if same:
                suits[2, one] += weight * (11 - count_suit(hand, one))
            if low >> 2 == JACK:
                suits[1, one] += weight * (12 - same - count_suit(hand, one))
            if high >> 2 == JACK:
                suits[1, two] += weight * (12 - same - count_suit(hand, two))
    for suit in range(SUITS):
        suits[0, suit] += total * (13 - count_suit(hand, suit))
    for pair in range(len(PAIRS)):
        weight = work.pair_weights[pair]
        if weight > 0.0:
            for rank in range(RANKS):
                left = work.counts[rank]
                if rank == PAIRS[pair, 0]:
                    left -= 1
                if rank == PAIRS[pair, 1]:
                    left -= 1
                if left > 0:
                    work.triple_weights[TRIPLE_WITH[pair, rank]] += weight * left
    return total * (CUTS - 2)


@kernel
def count_suit(hand: int, suit: int) -> int:
    """Return how many cards of a suit a set holds."""
    return count_bits(hand & (ONE_SUIT << suit))


@kernel
def suit_points(low: int, high: int, suit_weights: Any) -> float:
    """Return the weighted points that suits give a crib with these two cards."""
    points = 0.0
    for suit in range(SUITS):
        jack = 4 * JACK + suit
        if low == jack or high == jack:
            points += suit_weights[0, suit]
        points += suit_weights[1, suit]  # 0 for a jack of the own hand
    if (low ^ high) & 3 == 0:
        points += 5.0 * suit_weights[2, low & 3]
    return points


@kernel
def expected_points(hand: int, role: int, known: Any, out: Any, work: Any) -> None:
    """Write the expected points of the 15 choices of six cards, and the means of hand and crib."""
    list_cards(hand, work.cards)
    total = weigh_cribs(hand, known.tosses[1 - role], work)
    for choice in range(CHOICES):
        low, high = work.cards[PLACES[choice, 0]], work.cards[PLACES[choice, 1]]
        pair = pair_number(low >> 2, high >> 2)
        points = suit_points(low, high, work.suit_weights)
        for i in range(len(TRIPLES)):
            points += work.triple_weights[i] * CRIB_POINTS[pair, i]
        crib = points / total
        kept = split(hand, choice, work.cards)
        hand_counts(kept, ALL_CARDS & ~hand, work.counts, work.cut_counts)
        show = int64(0)
        for points_of_cut in range(POINTS):
            show += points_of_cut * work.cut_counts[points_of_cut]
        quad = quad_number(kept)
        work.crib[choice] = crib
        work.hand[choice] = show / CUTS
        out[choice] = show / CUTS + (crib if role == THE_DEALER else -crib)
        out[choice] += known.gained[role, quad] - known.given[role, quad]


@kernel
def chances_after_pegs(role: int, pegs: Any, own: int, other: int, ahead: int, stage: Any) -> float:
    """Return the chance to win if the own seat counts `ahead` points before `stage` is asked.

    `stage[x, j]` is the chance once the own seat stands at x and the other has pegged j. Where the
    pegs take both home, each is first half of the time.
    """
    chance = 0.0
    for mine in range(MOST_PEGS):
        for theirs in range(MOST_PEGS):
            share = pegs[mine, theirs] if role == PONE else pegs[theirs, mine]
            if share > 0.0:
                home, other_home = own + mine >= FULL, other + theirs >= FULL
                if home or other_home:
                    chance += share * (0.5 if home and other_home else 1.0 if home else 0.0)
                else:
                    chance += share * stage[min(own + mine + ahead, FULL), theirs]
    return chance


@kernel
def outlook(own: int, other: int, role: int, known: Any, stage: Any, out: Any) -> None:
    """Write the chance to win by the points of the own hand and of the crib."""
    win, pegs, shows = known.win, known.pegs, known.shows
    for crib in range(POINTS):
        if role == THE_DEALER and crib > 0:  # the own hand and crib count as one
            break
        for theirs in range(MOST_PEGS):
            for at in range(own, FULL + 1):
                chance = 0.0
                for hand in range(POINTS):
                    against = other + theirs + hand
                    if against >= FULL:
                        break
                    if role == THE_DEALER:
                        then = 1.0 if at == FULL else win[at, against, PONE]
                    elif against + crib >= FULL:
                        break
                    else:
                        then = win[min(at, FULL - 1), against + crib, THE_DEALER]
                    chance += shows[1 - role, hand] * then
                stage[at, theirs] = 1.0 if role == PONE and at == FULL else chance
        for show in range(POINTS):
            out[show, crib] = chances_after_pegs(role, pegs, own, other, show, stage)
    if role == THE_DEALER:
        for crib in range(1, POINTS):
            for show in range(POINTS - 1):
                out[show, crib] = out[show + 1, crib - 1]
            out[MOST, crib] = chances_after_pegs(role, pegs, own, other, MOST + crib, stage)


@kernel
def winning_chances(
    hand: int, role: int, own: int, other: int, known: Any, out: Any, work: Any
) -> None:
    """Write the chance to win a game to 121 with each of the 15 choices of six cards."""
    list_cards(hand, work.cards)
    total = weigh_cribs(hand, known.tosses[1 - role], work)
    outlook(own, other, role, known, work.stage, work.chances[0])
    outlook(own + 1, other, role, known, work.stage, work.chances[1])
    outlook(own, other + 1, role, known, work.stage, work.chances[2])
    usual_gain, usual_gift = mean_pegs(role, known.pegs)
    for choice in range(CHOICES):
        low, high = work.cards[PLACES[choice, 0]], work.cards[PLACES[choice, 1]]
        kept = split(hand, choice, work.cards)
        hand_counts(kept, ALL_CARDS & ~hand, work.counts, work.cut_counts)
        spread_crib(low, high, total, work)
        as_it_is = one_more = one_against = 0.0
        for show in range(POINTS):
            if work.cut_counts[show]:
                for crib in range(POINTS):
                    share = work.crib_shares[crib] * work.cut_counts[show] / CUTS
                    as_it_is += share * work.chances[0, show, crib]
                    one_more += share * work.chances[1, show, crib]
                    one_against += share * work.chances[2, show, crib]
        quad = quad_number(kept)
        chance = as_it_is + (known.gained[role, quad] - usual_gain) * (one_more - as_it_is)
        chance += (known.given[role, quad] - usual_gift) * (one_against - as_it_is)
        out[choice] = min(max(chance, 0.0), 1.0)


@kernel
def spread_crib(low: int, high: int, total: float, work: Any) -> None:
    """Write the distribution of the crib with two discards.

    What suits give is nobs nearly always, so it is spread as a point that comes or does not.
    """
    shares = work.crib_shares
    shares[:] = 0.0
    pair = pair_number(low >> 2, high >> 2)
    for i in range(len(TRIPLES)):
        if work.triple_weights[i] > 0.0:  # five cards of a rank would count more than any crib
            shares[CRIB_POINTS[pair, i]] += work.triple_weights[i] / total
    extra = suit_points(low, high, work.suit_weights) / total
    for points in range(MOST, 0, -1):
        shares[points] += extra * (shares[points - 1] - shares[points])
    shares[0] -= extra * shares[0]


@kernel
def mean_pegs(role: int, pegs: Any) -> tuple[float, float]:
    """Return what a role pegs on average in a deal, and what it lets the other peg."""
    gain = gift = 0.0
    for i in range(MOST_PEGS):
        for j in range(MOST_PEGS):
            gain += (i if role == PONE else j) * pegs[i, j]
            gift += (j if role == PONE else i) * pegs[i, j]
    return gain, gift


@kernel
def value_choices(
    hand: int, role: int, own: int, other: int, known: Any, out: Any, work: Any
) -> bool:
    """Write what the 15 choices are worth at a score of a game to 121, far from its end in points.

    Return whether these are chances to win, because a seat is near the end, or points.
    """
    if max(own, other) < FULL - NEAR:
        expected_points(hand, role, known, out, work)
        return False
    winning_chances(hand, role, own, other, known, out, work)
    return True


class Judgement(NamedTuple):
    """What the 15 choices of six cards promise, in the order of the legal actions."""

    points: Array  # expected, of hand, crib and pegging together
    hand: Array
    crib: Array  # whoever owns it


def judge(cards: Iterable[int], dealer: bool, known: Knowledge) -> Judgement:
    """Return the expected points of the 15 choices, with the means of hand and crib."""
    work, points = DiscardScratch.new(), np.zeros(CHOICES)
    expected_points(sum(1 << card for card in cards), int(dealer), known, points, work)
    return Judgement(points, work.hand, work.crib)


def chances(cards: Iterable[int], dealer: bool, own: int, other: int, known: Knowledge) -> Array:
    """Return the chance to win a game to 121 from a score with each of the 15 choices."""
    out = np.zeros(CHOICES)
    hand = sum(1 << card for card in cards)
    winning_chances(hand, int(dealer), own, other, known, out, DiscardScratch.new())
    return out
