"""Counting at cribbage: a hand or a crib with the cut card, and a card played to the count.

Rules: American Cribbage Congress. Cards are ids and sets as in `engine.cards`. A hand of four and
the cut card together count 2 for every set of cards that makes fifteen (ace 1, court cards 10), 2
for every pair, the length of every run of three or more, and 1 for the jack of the cut card's suit
in the hand (nobs). Four cards of one suit in the hand count 4, with the cut card 5; a crib counts
only all five. No run goes round from the king to the ace.

In the play a card scores 2 for a count of fifteen, 2 for thirty-one, 2, 6 or 12 for a pair, three
or four of a kind among the last cards, or the length of the longest run that the last cards form
in any order. The point for a go or for the last card belongs to the rules of the game.

Kernels `hand_points`, `peg_points` and `follow` for rules and search; `explain`, `score_text` and
`explain_deal` for people.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, pairwise
from typing import NamedTuple

from cardlab.engine.arguments import read_count, read_text, shorten
from cardlab.engine.cards import RANKS, SUITS, card_text, cards_text, parse_card
from cardlab.engine.errors import CardlabError
from cardlab.engine.kernel import bit, count_bits, int64, kernel, lowest_bit

__all__ = [
    "HAND_SIZE",
    "JACKS",
    "LIMIT",
    "Pegged",
    "Row",
    "card_value",
    "explain",
    "explain_deal",
    "explain_in_words",
    "explain_play",
    "follow",
    "hand_points",
    "peg_points",
    "score_text",
]

HAND_SIZE = 4
LIMIT = 31
LAST_CARD = len(RANKS) * len(SUITS) - 1
FIRST_JACK = 40
JACKS = 0xF << FIRST_JACK
ONE_SUIT = 0x1111111111111
# Which of the four cards of a rank have a second one of that rank 1, 2 or 3 places higher.
PAIRS_AT_1, PAIRS_AT_2, PAIRS_AT_3 = 0x7777777777777, 0x3333333333333, 0x1111111111111
NO_CARD_YET = 1 << 60
ONE_CARD = 4  # bits that a rank takes in a series


@kernel
def card_value(card: int) -> int:
    """Return what a card adds to a count: ace 1, court cards 10."""
    rank = int64(card) >> 2
    return rank + 1 if rank < 9 else int64(10)


@kernel
def hand_points(hand: int, cut: int, crib: bool) -> int:
    """Return the points of a set of four cards with the cut card, counted as hand or as crib."""
    cards = hand | bit(cut)
    # Digit 15 - n of `ways` (base 16) is the number of sets of cards worth n: 15 ends up lowest,
    # and no digit exceeds 10.
    ways = int64(NO_CARD_YET)
    rest = cards
    while rest:
        ways += ways >> (4 * card_value(lowest_bit(rest)))
        rest &= rest - 1
    points = 2 * (ways & 15)
    pairs = count_bits(cards & (cards >> 1) & PAIRS_AT_1)
    pairs += count_bits(cards & (cards >> 2) & PAIRS_AT_2)
    pairs += count_bits(cards & (cards >> 3) & PAIRS_AT_3)
    points += 2 * pairs
    held = (cards | (cards >> 1) | (cards >> 2) | (cards >> 3)) & ONE_SUIT
    run = held & (held >> 4) & (held >> 8)
    if run:
        first = lowest_bit(run)
        length = 2 + count_bits(run)  # five cards hold no two separate runs of three
        ways = int64(1)
        for i in range(length):
            ways *= count_bits((cards >> (first + 4 * i)) & 15)
        points += length * ways
    if hand & ~(ONE_SUIT << (lowest_bit(hand) & 3)) == 0:
        if (lowest_bit(hand) ^ int64(cut)) & 3 == 0:
            points += 5
        elif not crib:
            points += 4
    if hand & bit(FIRST_JACK + (int64(cut) & 3)):
        points += 1
    return points


@kernel
def follow(series: int, card: int) -> int:
    """Return a series of played cards with one more: ranks from 1 in base 16, the latest lowest."""
    return (int64(series) << ONE_CARD) | ((int64(card) >> 2) + 1)


@kernel
def peg_points(series: int, count: int) -> int:
    """Return what the latest card of a series scores, with the count that it has made."""
    points = 2 if count in (15, LIMIT) else 0
    last = series & 15
    alike = 1
    rest = series >> ONE_CARD
    while rest & 15 == last:
        alike += 1
        rest >>= ONE_CARD
    if alike > 1:
        return points + alike * (alike - 1)
    return points + run_length(series)


@kernel
def run_length(series: int) -> int:
    """Return how many of the last cards form a run in some order, 0 if fewer than three do."""
    best = int64(0)
    seen = int64(0)
    length = 0
    while series:
        card = int64(1) << (series & 15)
        if seen & card:
            break
        seen |= card
        length += 1
        series >>= ONE_CARD
        # Different ranks are consecutive if adding the lowest carries through to a single bit.
        if length > 2 and (seen + (seen & -seen)) & seen == 0:
            best = int64(length)
    return best


# For people


class Row(NamedTuple):
    """One reason for points: in words, with the cards that make it."""

    reason: str
    cards: tuple[int, ...]
    points: int


KINDS = {2: "pair", 3: "three of a kind", 4: "four of a kind"}


def explain(hand: str | Iterable[int], cut: str | int, crib: bool = False) -> list[Row]:
    """Return every reason for points of four cards with the cut card, one row for each.

    Cards are texts such as `5H 5C 5S JD` and `5D`, or ids.
    """
    held, cut = _read_cards(hand, cut, crib)
    cards = sorted([*held, cut])
    rows = [
        Row("fifteen", some, 2)
        for size in range(2, 6)
        for some in combinations(cards, size)
        if sum(min((card >> 2) + 1, 10) for card in some) == 15
    ]
    for rank in range(13):
        alike = tuple(card for card in cards if card >> 2 == rank)
        if len(alike) > 1:
            rows.append(Row(KINDS[len(alike)], alike, len(alike) * (len(alike) - 1)))
    for size in (5, 4, 3):
        runs = [
            some
            for some in combinations(cards, size)
            if all(b // 4 - a // 4 == 1 for a, b in pairwise(some))
        ]
        if runs:
            rows += [Row(f"run of {size}", some, size) for some in runs]
            break
    if len({card & 3 for card in cards}) == 1:
        rows.append(Row("flush with the cut card", tuple(cards), 5))
    elif len({card & 3 for card in held}) == 1 and not crib:
        rows.append(Row("flush in the hand", tuple(held), 4))
    nobs = FIRST_JACK + (cut & 3)
    if nobs in held:
        rows.append(Row("jack of the cut suit", (nobs,), 1))
    return rows


def _read_cards(
    hand: str | Iterable[int], cut: str | int, crib: bool
) -> tuple[tuple[int, ...], int]:
    """Return four cards in ascending order and the cut card, after checking that all differ."""
    what = "crib" if crib else "hand"
    held = _read_some(hand, what)
    turned = _read_some(cut if isinstance(cut, str) else (cut,), "cut")
    if len(held) != HAND_SIZE:
        raise CardlabError(f"the {what} has {_count(len(held))}; give four, such as 5H 5C 5S JD")
    if len(turned) != 1:
        raise CardlabError(f"the cut has {_count(len(turned))}; give one, such as 5D")
    for place, card in enumerate(held):
        if card in held[:place]:
            raise CardlabError(f"{card_text(card)} is twice in the {what}; give four cards")
    if turned[0] in held:
        raise CardlabError(f"{card_text(turned[0])} is both in the {what} and the cut card")
    return tuple(sorted(held)), turned[0]


def _read_some(cards: object, what: str) -> list[int]:
    """Return cards that are given as text or as ids."""
    if isinstance(cards, str):
        return [parse_card(text) for text in cards.replace(",", " ").split()]
    if not isinstance(cards, Iterable):
        raise CardlabError(f"the {what} must be a text such as 5H 5C 5S JD, got {shorten(cards)}")
    return [read_count(card, f"a card of the {what}", 0, LAST_CARD) for card in cards]


def score_text(hand: str, cut: str, *, crib: bool = False) -> tuple[list[Row], int]:
    """Return every reason for points, and their sum, of cards written as `5H 5C 5S JD` and `5D`."""
    rows = explain(read_text(hand, "hand", "5H 5C 5S JD"), read_text(cut, "cut", "5D"), crib)
    return rows, sum(row.points for row in rows)


def explain_in_words(
    hand: str | Iterable[int], cut: str | int, crib: bool = False
) -> tuple[int, str]:
    """Return the points of four cards with the cut card, and a few words on them."""
    return _in_words(*_read_cards(hand, cut, crib), bool(crib))


@functools.lru_cache(maxsize=4096)
def _in_words(cards: tuple[int, ...], cut: int, crib: bool) -> tuple[int, str]:
    parts: dict[str, int] = {}
    for row in explain(cards, cut, crib):
        parts[row.reason] = parts.get(row.reason, 0) + row.points
    why = ", ".join(f"{reason} for {points}" for reason, points in parts.items())
    words = f"{cards_text(cards)} with {card_text(cut)}"
    return sum(parts.values()), f"{words}: {why}" if why else words


class Pegged(NamedTuple):
    """Something that a seat did in a deal: in words, with the points that it gave."""

    seat: int
    text: str
    points: int


def explain_play(
    plays: Sequence[tuple[int, int]], *, count_over: bool = True, leads: int | None = None
) -> Iterator[Pegged]:
    """Yield every card played, as (seat, card), and the gos between them, with their points.

    After the last one, `count_over` says whether the count is over, `leads` who is next to play.
    """
    series = tally = 0
    left = [HAND_SIZE, HAND_SIZE]
    said_go = False
    for i, (seat, card) in enumerate(plays):
        series, tally = int(follow(series, card)), tally + int(card_value(card))
        left[seat] -= 1
        points, why = peg_in_words(series, tally)
        yield Pegged(seat, f"played {card_text(card)}, count {tally}{why}", points)
        ends, follower = count_over, leads
        if i + 1 < len(plays):
            follower = plays[i + 1][0]
            ends = tally + int(card_value(plays[i + 1][1])) > LIMIT
        if tally < LIMIT:
            if left[1 - seat] and not said_go and (ends or follower == seat):
                said_go = True
                yield Pegged(1 - seat, "said go", 0)
            if ends:
                what = "the go" if any(left) else "the last card"
                yield Pegged(seat, f"pegged 1 for {what}", 1)
        if ends:
            series, tally, said_go = 0, 0, False


def explain_deal(
    dealer: int,
    starter: int,
    plays: Sequence[tuple[int, int]],
    crib: Iterable[int],
    *,
    count_over: bool = True,
    leads: int | None = None,
) -> Iterator[Pegged]:
    """Yield what happened in a deal so far, discards included.

    The caller stops where the game is won; the crib is read only when it is counted.
    """
    yield Pegged(dealer, "dealt", 0)
    for seat in (1 - dealer, dealer):
        yield Pegged(seat, "discarded two cards", 0)
    jack = bool(1 << starter & JACKS)
    words = f"turned up {card_text(starter)}"
    yield Pegged(dealer, f"{words} and pegged 2 for the jack" if jack else words, 2 * jack)
    yield from explain_play(plays, count_over=count_over, leads=leads)
    if len(plays) == 2 * HAND_SIZE:
        for seat in (1 - dealer, dealer):
            points, why = explain_in_words([card for who, card in plays if who == seat], starter)
            yield Pegged(seat, f"counted {points} in hand, {why}", points)
        points, why = explain_in_words(crib, starter, crib=True)
        yield Pegged(dealer, f"counted {points} in the crib, {why}", points)


def peg_in_words(series: int, count: int) -> tuple[int, str]:
    """Return what the latest card of a series scores, with words such as `, pair for 2`."""
    points, why = int(peg_points(series, count)), ""
    rest = points
    if count in (15, LIMIT):
        why = f", {'fifteen' if count == 15 else 'thirty-one'} for 2"
        rest -= 2
    if rest:
        run = int(run_length(series))
        alike = next((n for n in KINDS if n * (n - 1) == rest), 0)
        why += f", {f'run of {run}' if run else KINDS[alike]} for {rest}"
    return points, why


def _count(cards: int) -> str:
    return f"{cards} card{'' if cards == 1 else 's'}"
