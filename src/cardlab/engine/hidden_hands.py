"""What all seats know about hidden hands, and how unseen cards are sampled into them.

A hidden hand is a list of groups of places, oldest first. Each group has a set of bits, defined by
the game, for the cards that it cannot hold. A card that is played leaves the oldest group that
could have held it. Older groups exclude at least as much as newer ones, so no possible hand is
excluded and no impossible hand is allowed.

Kernels over a record need its fields `seats`, `groups` (by seat), `places` and `barred` (both by
seat and group). `make_bag_kernels` makes the kernels that put cards from a bag into places, for one
way to number cards; a bag is an array whose first cards are in places.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from cardlab.engine.kernel import int64, kernel
from cardlab.engine.seeding import below

__all__ = [
    "MIX_SWEEPS",
    "BagKernels",
    "bar",
    "bars_at",
    "free_place",
    "join_groups",
    "make_bag_kernels",
    "occupy",
    "shuffle_rest",
    "swap",
    "vacate",
]

MIX_SWEEPS = 8


@kernel
def bar(s: Any, seat: int, bars: int) -> None:
    """Note that a hand now holds none of these cards."""
    for group in range(int64(s.groups[seat])):
        s.barred[seat, group] |= bars


@kernel
def occupy(s: Any, seat: int, bars: int) -> None:
    """Add a place to a hand; its card is none of these."""
    last = int64(s.groups[seat]) - 1
    if last >= 0 and s.barred[seat, last] == bars:
        s.places[seat, last] += 1
        return
    if last == len(s.barred[seat]) - 1:  # there is room for no more groups
        join_groups(s, seat, 0, 1)
        last -= 1
    s.barred[seat, last + 1] = bars
    s.places[seat, last + 1] = 1
    s.groups[seat] = last + 2


@kernel
def join_groups(s: Any, seat: int, group: int, other: int) -> None:
    """Join two groups into one that excludes what both exclude."""
    s.barred[seat, group] &= s.barred[seat, other]
    s.places[seat, group] += s.places[seat, other]
    remove_group(s, seat, other)


@kernel
def remove_group(s: Any, seat: int, group: int) -> None:
    """Remove a group and move the later ones up."""
    last = int64(s.groups[seat]) - 1
    for i in range(group, last):
        s.barred[seat, i] = s.barred[seat, i + 1]
        s.places[seat, i] = s.places[seat, i + 1]
    s.barred[seat, last] = 0
    s.places[seat, last] = 0
    s.groups[seat] = last


@kernel
def free_place(s: Any, seat: int, group: int) -> None:
    """Remove one place from a group."""
    s.places[seat, group] -= 1
    if s.places[seat, group] == 0:
        remove_group(s, seat, group)


@kernel
def vacate(s: Any, seat: int, bars: int) -> None:
    """Remove the oldest place that could have held a card, which is given by its bars."""
    for group in range(int64(s.groups[seat])):
        if not s.barred[seat, group] & bars:
            free_place(s, seat, group)
            return


# Bags


@kernel
def bars_at(s: Any, seat: int, place: int, every_group: bool) -> int:
    """Return the bars of a place in the hands of the others, 0 for a place beyond them.

    Places are counted seat by seat and group by group, with or without groups that exclude nothing.
    """
    for other in range(int64(s.seats)):
        if other != seat:
            for group in range(int64(s.groups[other])):
                if every_group or s.barred[other, group]:
                    if place < s.places[other, group]:
                        return int64(s.barred[other, group])
                    place -= int64(s.places[other, group])
    return int64(0)


@kernel
def swap(cards: Any, i: int, j: int) -> None:
    """Exchange two cards in a bag."""
    card = cards[i]
    cards[i] = cards[j]
    cards[j] = card


@kernel
def shuffle_rest(cards: Any, laid: int, size: int, rng: Any) -> None:
    """Shuffle the cards of a bag from position `laid` on."""
    for i in range(size - 1, laid, -1):
        swap(cards, i, laid + below(rng, i - laid + 1))


class BagKernels(NamedTuple):
    """Kernels that put cards from a bag into places."""

    find_fitting: Callable[[Any, int, int, int, int, Any], int]
    exchange: Callable[[Any, Any, int, int, int, bool, Any], None]


def make_bag_kernels(
    bars_of: Callable[[int], int], place_bars: Callable[[Any, int, int], int]
) -> BagKernels:
    """Return kernels for cards with the bars `bars_of(card)`.

    `place_bars(s, seat, place)` returns the bars of a place that `seat` does not see; a card cannot
    be in a place if they share a bit.
    """

    @kernel
    def find_fitting(cards: Any, first: int, size: int, barred: int, tries: int, rng: Any) -> int:
        """Return the position of a random card from `first` on that fits a place, or -1."""
        for _ in range(tries):
            i = first + below(rng, size - first)
            if not bars_of(cards[i]) & barred:
                return i
        return int64(-1)

    @kernel
    def exchange(
        s: Any, cards: Any, seat: int, laid: int, size: int, in_threes: bool, rng: Any
    ) -> None:
        """Exchange two random cards, or rotate three, wherever their places allow it.

        Every exchange has the same probability as its reverse, so no world is favoured. Places from
        `laid` on may hold every card.
        """
        for p in range(laid):
            q = below(rng, size)
            r = below(rng, size) if in_threes else q
            if p in (q, r):
                continue
            # p takes from q, q from r, r from p; with q = r that is a plain exchange.
            if bars_of(cards[q]) & place_bars(s, seat, p):
                continue
            if r < laid and bars_of(cards[p]) & place_bars(s, seat, r):
                continue
            if q == r:
                swap(cards, p, q)
            elif q >= laid or not bars_of(cards[r]) & place_bars(s, seat, q):
                swap(cards, p, q)
                swap(cards, q, r)

    return BagKernels(find_fitting, exchange)
