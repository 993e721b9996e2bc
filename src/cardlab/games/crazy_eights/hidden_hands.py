"""What the seats of Crazy Eights know of each other's hands, and worlds that agree with it.

A seat that drew or passed held no eight and no card of that suit or rank. `engine.hidden_hands`
keeps hidden hands as groups of places; here a place is barred from a set of cards.
"""

from __future__ import annotations

from typing import Any

from cardlab.engine.cards import ALL_CARDS
from cardlab.engine.hidden_hands import (
    MIX_SWEEPS,
    bars_at,
    join_groups,
    make_bag_kernels,
    shuffle_rest,
    swap,
)
from cardlab.engine.kernel import bit, int64, kernel, lowest_bit

DECK = 52
NOBODY = 255
GROUPS = 10
ENDLESS = 1 << 60


@kernel
def conceal(s: Any, seat: int) -> None:
    """Erase the other hands and the order of the stock."""
    for other in range(int64(s.seats)):
        if other != seat:
            s.hands[other] = 0
    for i in range(DECK):
        s.stock[i] = NOBODY


@kernel
def make_room(s: Any, seat: int, barred: int) -> None:
    """Join two groups of a hand if another place, barred from `barred`, finds no room.

    Of two joined groups the later may hold all that the earlier may: then what one group may hold
    stays a part of what another may, or apart from it, also after reshuffles.
    """
    last = int64(s.groups[seat]) - 1
    if last < GROUPS - 1 or s.barred[seat, last] == barred:
        return
    for group in range(last):
        if not s.barred[seat, group + 1] & ~s.barred[seat, group]:
            join_groups(s, seat, group, group + 1)
            return
    while s.groups[seat] > 1:
        join_groups(s, seat, 0, 1)


@kernel
def place_bars(s: Any, seat: int, place: int) -> int:
    """Return what a place in the bag cannot hold: hidden hands first, then the stock."""
    return bars_at(s, seat, place, True)


find_fitting, exchange = make_bag_kernels(bit, place_bars)


@kernel
def lay_unseen(s: Any, seat: int, rng: Any) -> bool:
    """Fill the hidden places and the stock with the unseen cards, uniformly.

    Places are filled one by one, each uniformly from the cards it may hold. Inside one hand the
    number of choices never depends on earlier choices, so that all ways are equally likely. Between
    hands it may; with three or four seats the result is therefore mixed by exchanges.
    """
    unseen = ALL_CARDS & ~(s.hands[seat] | s.discards)
    pool = unseen
    size = 0
    while pool:  # the stock array is the bag: places laid so far first, then what is left
        s.stock[size] = lowest_bit(pool)
        pool &= pool - 1
        size += 1
    pool = unseen
    laid = 0
    seats = int64(s.seats)
    for other in range(seats):
        if other == seat:
            continue
        for group in range(int64(s.groups[other])):
            barred = s.barred[other, group]
            for _ in range(int64(s.places[other, group])):
                if not pool & ~barred:
                    return False
                i = find_fitting(s.stock, laid, size, barred, ENDLESS, rng)
                pool &= ~bit(s.stock[i])
                swap(s.stock, laid, i)
                laid += 1
    if seats > 2:
        for sweep in range(MIX_SWEEPS):
            exchange(s, s.stock, seat, laid, size, sweep % 3 == 0, rng)
    at = 0
    for other in range(seats):
        if other != seat:
            s.hands[other] = 0
            for _ in range(int64(s.sizes[other])):
                s.hands[other] |= bit(s.stock[at])
                at += 1
    shuffle_rest(s.stock, laid, size, rng)
    end = int64(s.stock_end)
    shift = int64(s.stock_at) - laid
    if shift > 0:
        for i in range(end - 1, int64(s.stock_at) - 1, -1):
            s.stock[i] = s.stock[i - shift]
    else:
        for i in range(int64(s.stock_at), end):
            s.stock[i] = s.stock[i - shift]
    for i in range(DECK):
        if i < s.stock_at or i >= end:
            s.stock[i] = NOBODY
    return True
