"""What each of the 15 discards of six cards is worth at Cribbage, exactly.

For every choice: least, mean, median and greatest points of the hand over the 46 cuts, and the mean
of the crib over the 45,540 combinations of two discards of the other and a cut.

Fifteens, pairs and runs depend on ranks alone, so a crib's sum is one weighted sum over the 455
multisets of three more ranks. What suits add has a closed form. With n the number of cards of a
suit among the six:

    a jack of that suit discarded    (13 - n) * 990     cuts of the suit, pairs of other cards
    an unseen jack of that suit      (12 - n) * 44      discarded by the other, with any card
    both discards of that suit       15 * C(13 - n, 3)  five points, any of three cards is the cut

The sum over ranks is shared by all hands of the same ranks, and hands that differ by a renaming of
suits are one class: 18,395 and 962,988 instead of 20,358,520.

Multisets of ranks a <= b <= c ... have numbers: C(a, 1) + C(b + 1, 2) + C(c + 2, 3) + ...
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement
from math import comb
from typing import Any, NamedTuple

import numpy as np

from cardlab.engine.cards import ALL_CARDS
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Array
from cardlab.engine.kernel import bit, count_bits, int64, kernel, lowest_bit
from cardlab.games.cribbage.scoring import JACKS

RANKS, SUITS = 13, 4
DEALT, KEPT = 6, 4
CHOICES = 15
CUTS = 52 - DEALT
CRIBS = comb(CUTS, 2) * (CUTS - 2)
MOST = 29  # points
CLASSES = 962_988
MANY = 1000  # hands for which keeping sums over ranks pays
JACK = 10
ONE_SUIT = 0x1111111111111
# The pairs of places in a hand of six, in the order of legal actions.
PLACES = np.array(list(combinations(range(DEALT), 2)), dtype=np.int64)
# NUMBERS[i, r] is what rank r adds to the number of a multiset as its i-th lowest.
NUMBERS = np.array([[comb(r + i, i + 1) for r in range(RANKS)] for i in range(DEALT)])
RANK_HANDS = int(NUMBERS[:, -1].sum()) + 1  # hands of six ranks


def multisets(size: int) -> Array:
    """Return all multisets of so many ranks, ascending, in the order of their numbers."""
    rows = np.array(list(combinations_with_replacement(range(RANKS), size)))
    return rows[np.argsort(NUMBERS[np.arange(size), rows].sum(axis=1))]


def rank_points(ranks: Array) -> Array:
    """Return the points for fifteens, pairs and runs of rows of five ranks."""
    values = np.minimum(ranks + 1, 10)
    points = np.zeros(len(ranks), dtype=np.int64)
    for size in range(2, 6):
        for some in combinations(range(5), size):
            points += 2 * (values[:, some].sum(axis=1) == 15)
    for one, other in combinations(range(5), 2):
        points += 2 * (ranks[:, one] == ranks[:, other])
    counts = np.stack([(ranks == rank).sum(axis=1) for rank in range(RANKS)], axis=1)
    found = np.zeros(len(ranks), dtype=bool)
    for length in (5, 4, 3):
        ways = np.stack(
            [counts[:, low : low + length].prod(axis=1) for low in range(RANKS - length + 1)]
        ).sum(axis=0)
        points += np.where(found, 0, length * ways)
        found |= ways > 0
    return points


def _points_with(some: Array, others: Array) -> Array:
    """Return the rank points of every row of one table with every row of another."""
    left = np.repeat(some, len(others), axis=0)
    right = np.tile(others, (len(some), 1))
    points = rank_points(np.concatenate([left, right], axis=1))
    return points.reshape(len(some), len(others)).astype(np.uint8)


PAIRS, TRIPLES, QUADS = multisets(2), multisets(3), multisets(KEPT)
CRIB_POINTS = _points_with(PAIRS, TRIPLES)  # two discards, three others
HAND_POINTS = _points_with(QUADS, np.arange(RANKS)[:, None])  # a hand of four, the cut


# Kernels


@kernel
def pair_number(low: int, high: int) -> int:
    """Return the number of two ranks, the lower first."""
    return int64(low) + NUMBERS[1, high]


@kernel
def quad_number(cards: int) -> int:
    """Return the number of the ranks of a set of four cards."""
    number = int64(0)
    for i in range(KEPT):
        number += NUMBERS[i, lowest_bit(cards) >> 2]
        cards &= cards - 1
    return number


@kernel
def count_ranks(cards: int, counts: Any) -> None:
    """Write how many cards of every rank a set holds."""
    for rank in range(RANKS):
        counts[rank] = count_bits((cards >> (4 * rank)) & 15)


@kernel
def triple_ways(counts: Any, ways: Any) -> None:
    """Write in how many ways each multiset of three ranks can be drawn from the cards left."""
    for i in range(len(TRIPLES)):
        a, b, c = TRIPLES[i, 0], TRIPLES[i, 1], TRIPLES[i, 2]
        x, y, z = int64(counts[a]), int64(counts[b]), int64(counts[c])
        if a == b and b == c:
            ways[i] = x * (x - 1) * (x - 2) // 6
        elif a == b:
            ways[i] = x * (x - 1) // 2 * z
        elif b == c:
            ways[i] = x * (y * (y - 1) // 2)
        else:
            ways[i] = x * y * z


@kernel
def crib_rank_sum(pair: int, ways: Any) -> int:
    """Return the sum of rank points of a discarded pair, over all cribs that the ways count."""
    total = int64(0)
    for i in range(len(TRIPLES)):
        total += ways[i] * int64(CRIB_POINTS[pair, i])
    return 3 * total


@kernel
def crib_suit_sum(hand: int, low: int, high: int) -> int:
    """Return what suits add to the sum of a crib's points: nobs and flushes."""
    total = int64(0)
    for suit in range(SUITS):
        held = count_bits(hand & (ONE_SUIT << suit))
        jack = 4 * JACK + suit
        if low == jack or high == jack:
            total += (13 - held) * 990
        elif not hand & bit(jack):
            total += (12 - held) * 44
        if low & 3 == suit and high & 3 == suit:
            total += 15 * ((13 - held) * (12 - held) * (11 - held) // 6)
    return total


@kernel
def hand_counts(kept: int, unseen: int, counts: Any, out: Any) -> None:
    """Write for every number of points how many unseen cuts give it to four kept cards.

    `counts` says how many unseen cards each rank has.
    """
    out[:] = 0
    number = quad_number(kept)
    first = lowest_bit(kept) & 3
    flush = kept & ~(ONE_SUIT << first) == 0
    jacks = (kept & JACKS) >> (4 * JACK)
    if not flush and not jacks:
        for rank in range(RANKS):
            out[HAND_POINTS[number, rank]] += counts[rank]
        return
    for rank in range(RANKS):
        rest = (unseen >> (4 * rank)) & 15
        points = int64(HAND_POINTS[number, rank])
        if flush:
            points += 4
        while rest:
            suit = lowest_bit(rest)
            rest &= rest - 1
            out[points + ((jacks >> suit) & 1) + (1 if flush and suit == first else 0)] += 1


@kernel
def summarise_hand(cut_counts: Any) -> tuple[int, int, int, int]:
    """Return least, sum, twice the median and greatest points of a hand over the 46 cuts."""
    seen = int64(0)
    total = int64(0)
    least = int64(-1)
    lower_middle = int64(-1)
    upper_middle = int64(-1)
    most = int64(0)
    for points in range(MOST + 1):
        count = int64(cut_counts[points])
        if count:
            if least < 0:
                least = int64(points)
            most = int64(points)
            seen += count
            total += points * count
            if lower_middle < 0 and 2 * seen >= CUTS:
                lower_middle = int64(points)
            if upper_middle < 0 and 2 * seen > CUTS:
                upper_middle = int64(points)
    return least, total, lower_middle + upper_middle, most


@kernel
def split(hand: int, choice: int, cards: Any) -> int:
    """Return the four cards that a choice keeps, with the hand's cards in ascending `cards`."""
    return hand & ~(bit(cards[PLACES[choice, 0]]) | bit(cards[PLACES[choice, 1]]))


@kernel
def list_cards(hand: int, cards: Any) -> None:
    """Write the cards of a set in ascending order."""
    place = 0
    while hand:
        cards[place] = lowest_bit(hand)
        hand &= hand - 1
        place += 1


@kernel
def write_rank_sums(cards: Any, counts: Any, ways: Any, out: Any) -> None:
    """Write the rank sums of the cribs of six cards, one for each choice."""
    triple_ways(counts, ways)
    for choice in range(CHOICES):
        low, high = int64(cards[PLACES[choice, 0]]), int64(cards[PLACES[choice, 1]])
        out[choice] = crib_rank_sum(pair_number(low >> 2, high >> 2), ways)


@kernel
def analyse_hand(hand: int, row: int, table: Any, work: Any) -> None:
    """Write the statistics of the 15 choices of a hand into a row of a table."""
    cards, counts, cut_counts = work.cards, work.counts, work.cut_counts
    list_cards(hand, cards)
    unseen = ALL_CARDS & ~hand
    count_ranks(unseen, counts)
    number = int64(0)
    for i in range(DEALT):
        number += NUMBERS[i, cards[i] >> 2]
    place = number % len(work.known)
    if work.known[place] != number:
        write_rank_sums(cards, counts, work.ways, work.rank_sums[place])
        work.known[place] = number
    for choice in range(CHOICES):
        kept = split(hand, choice, cards)
        hand_counts(kept, unseen, counts, cut_counts)
        least, total, median, most = summarise_hand(cut_counts)
        table.least[row, choice] = least
        table.total[row, choice] = total
        table.median[row, choice] = median
        table.most[row, choice] = most
        low, high = cards[PLACES[choice, 0]], cards[PLACES[choice, 1]]
        table.crib[row, choice] = work.rank_sums[place, choice] + crib_suit_sum(hand, low, high)


@kernel
def fill_table(table: Any, work: Any) -> None:
    """Write the statistics of every hand of a table."""
    for row in range(len(table.hands)):
        analyse_hand(int64(table.hands[row]), row, table, work)


@kernel
def list_classes(spread: Any, by_size: Any, sizes: Any, hands: Any, weights: Any) -> int:
    """Write one hand of every suit class and how many hands it stands for; return their number.

    A class is four sets of ranks, one a suit, in descending order as numbers.
    """
    count = 0
    for first in range(1 << RANKS):
        one = count_bits(first)
        if one > DEALT:
            continue
        for second in range(first + 1):
            two = one + count_bits(second)
            if two > DEALT:
                continue
            for size in range(DEALT - two + 1):
                for i in range(sizes[size]):
                    third = by_size[size, i]
                    if third > second:
                        break
                    left = DEALT - two - size
                    for j in range(sizes[left]):
                        fourth = by_size[left, j]
                        if fourth > third:
                            break
                        hands[count] = (
                            spread[first]
                            | spread[second] << 1
                            | spread[third] << 2
                            | spread[fourth] << 3
                        )
                        alike = 2 if second == first else 1
                        orders = alike  # in which equal sets can stand
                        alike = alike + 1 if third == second else 1
                        orders *= alike
                        alike = alike + 1 if fourth == third else 1
                        weights[count] = 24 // (orders * alike)
                        count += 1
    return count


# For Python


@dataclass(frozen=True)
class Choices:
    """The 15 discards of six cards, in the order of the legal actions."""

    kept: Array  # sets of four cards
    laid: Array  # the two cards of each choice
    least: Array
    mean: Array
    median: Array
    most: Array
    crib: Array  # mean over all pairs of the other and all cuts


class ClassTable(NamedTuple):
    """The statistics of many hands: a row for each, a column for each of the 15 choices."""

    hands: Array  # sets of six cards
    weights: Array  # how many hands each one stands for
    least: Array
    total: Array  # of the hand's points over the 46 cuts
    median: Array  # doubled, so that it is whole
    most: Array
    crib: Array  # the sum of the crib's points over the 45,540 combinations

    @classmethod
    def new(cls, hands: Array, weights: Array | None = None) -> ClassTable:
        """Return a table of these hands that is not filled yet."""
        if weights is None:
            weights = np.ones(len(hands), dtype=np.uint8)
        kinds = ("u1", "u2", "u1", "u1", "i4")
        return cls(hands, weights, *(np.empty((len(hands), CHOICES), dtype=k) for k in kinds))


class HandScratch(NamedTuple):
    """Scratch arrays of the analysis of hands."""

    cards: Array
    counts: Array
    cut_counts: Array
    ways: Array
    known: Array  # the six ranks that each row of `rank_sums` belongs to
    rank_sums: Array  # of cribs: found once for hands of the same ranks while they are remembered

    @classmethod
    def new(cls, remembered: int) -> HandScratch:
        """Return scratch that remembers the crib sums of so many hands of six ranks."""
        return cls(
            np.zeros(DEALT, dtype=np.int64),
            np.zeros(RANKS, dtype=np.int64),
            np.zeros(MOST + 1, dtype=np.int64),
            np.zeros(len(TRIPLES), dtype=np.int64),
            np.full(remembered, -1, dtype=np.int64),
            np.zeros((remembered, CHOICES), dtype=np.int64),
        )


def analyse(cards: Iterable[int]) -> Choices:
    """Return the exact statistics of the 15 choices that six cards allow."""
    held = sorted(cards)
    if len(set(held)) != DEALT or len(held) != DEALT:
        raise CardlabError(f"a hand has 6 different cards before the discard, got {len(set(held))}")
    table = analyse_hands(np.array([sum(1 << card for card in held)], dtype=np.int64))
    laid = np.array(held)[PLACES]
    return Choices(
        int(table.hands[0]) & ~((1 << laid[:, 0]) | (1 << laid[:, 1])),
        laid,
        table.least[0].astype(np.int64),
        table.total[0] / CUTS,
        table.median[0] / 2,
        table.most[0].astype(np.int64),
        table.crib[0] / CRIBS,
    )


def analyse_hands(hands: Array, weights: Array | None = None) -> ClassTable:
    """Return the exact statistics of sets of six cards, as whole numbers.

    Where there are many, the sums over ranks are found once for all hands of the same ranks.
    """
    table = ClassTable.new(hands, weights)
    fill_table(table, HandScratch.new(1 if len(hands) < MANY else RANK_HANDS))
    return table


def every_class() -> tuple[Array, Array]:
    """Return one hand of each of the 962,988 suit classes and how many hands it stands for."""
    masks = np.arange(1 << RANKS)
    sizes = sum((masks >> rank) & 1 for rank in range(RANKS))
    spread = sum(((masks >> rank) & 1) << (4 * rank) for rank in range(RANKS))
    lists = [masks[sizes == size] for size in range(DEALT + 1)]
    by_size = np.zeros((DEALT + 1, max(map(len, lists))), dtype=np.int64)
    for size, some in enumerate(lists):
        by_size[size, : len(some)] = some
    hands, weights = np.empty(CLASSES, dtype=np.int64), np.empty(CLASSES, dtype=np.uint8)
    list_classes(spread, by_size, np.array([len(some) for some in lists]), hands, weights)
    return hands, weights


class Means(NamedTuple):
    """What a discard rule brings on average over all deals."""

    hand: float
    crib: float  # against two random cards of the other seat
    ties: float  # the share of deals on which the rule does not decide


def means_of(table: ClassTable, worth: Array) -> Means:
    """Return the means of a rule that takes a choice of the greatest worth, ties broken evenly."""
    best = worth == worth.max(axis=1, keepdims=True)
    count = best.sum(axis=1)
    shares = table.weights / table.weights.sum(dtype=np.int64)
    hand, crib = (
        float(np.where(best, sums, 0).sum(axis=1) / count @ shares)
        for sums in (table.total, table.crib)
    )
    return Means(hand / CUTS, crib / CRIBS, float((count > 1) @ shares))
