"""What the seats of Crazy Eights know of each other's hands, and worlds that agree with it.

Whoever drew or passed held no eight and nothing of that suit or rank. A hidden hand is therefore a
list of groups of places, oldest first, each with the cards that cannot lie there. A card that is
played leaves the oldest group that could have held it: older places are barred from more cards, so
this keeps exactly the possible hands possible.
"""

from __future__ import annotations

from typing import Any

from cardlab.engine.cards import ALL_CARDS
from cardlab.engine.kernel import bit, int64, kernel, lowest_bit
from cardlab.engine.seeding import below

DECK = 52
NOBODY = 255
GROUPS = 10
MIX_SWEEPS = 8


@kernel
def bar(s: Any, seat: int, cards: int) -> None:
    """Note that a hand holds none of `cards` now."""
    for group in range(int64(s.groups[seat])):
        s.barred[seat, group] |= cards


@kernel
def occupy(s: Any, seat: int, barred: int) -> None:
    """Note that a hand has a new place, which holds none of `barred`."""
    last = int64(s.groups[seat]) - 1
    if last >= 0 and s.barred[seat, last] == barred:
        s.places[seat, last] += 1
        return
    if last == GROUPS - 1:  # forget a little: the two oldest groups become one
        s.barred[seat, 0] &= s.barred[seat, 1]
        s.places[seat, 0] += s.places[seat, 1]
        remove_group(s, seat, 1)
        last -= 1
    s.barred[seat, last + 1] = barred
    s.places[seat, last + 1] = 1
    s.groups[seat] = last + 2


@kernel
def vacate(s: Any, seat: int, card: int) -> None:
    """Note that a card has left the oldest place that could have held it."""
    for group in range(int64(s.groups[seat])):
        if not s.barred[seat, group] & bit(card):
            s.places[seat, group] -= 1
            if s.places[seat, group] == 0:
                remove_group(s, seat, group)
            return


@kernel
def remove_group(s: Any, seat: int, group: int) -> None:
    """Close the gap that a group leaves."""
    last = int64(s.groups[seat]) - 1
    for i in range(group, last):
        s.barred[seat, i] = s.barred[seat, i + 1]
        s.places[seat, i] = s.places[seat, i + 1]
    s.barred[seat, last] = 0
    s.places[seat, last] = 0
    s.groups[seat] = last


@kernel
def conceal(s: Any, seat: int) -> None:
    """Erase the other hands and the order of the stock."""
    for other in range(int64(s.seats)):
        if other != seat:
            s.hands[other] = 0
    for i in range(DECK):
        s.stock[i] = NOBODY


@kernel
def imagine(s: Any, seat: int, rng: Any) -> bool:
    """Lay the unseen cards into the hidden places and the stock, uniformly.

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
            may = ~s.barred[other, group]
            for _ in range(int64(s.places[other, group])):
                if not pool & may:
                    return False
                i = laid + below(rng, size - laid)
                while not bit(s.stock[i]) & may:
                    i = laid + below(rng, size - laid)
                pool &= ~bit(s.stock[i])
                swap(s, laid, i)
                laid += 1
    if seats > 2:
        mix(s, seat, laid, size, rng)
    at = 0
    for other in range(seats):
        if other != seat:
            s.hands[other] = 0
            for _ in range(int64(s.sizes[other])):
                s.hands[other] |= bit(s.stock[at])
                at += 1
    for i in range(size - 1, laid, -1):
        swap(s, i, laid + below(rng, i - laid + 1))
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


@kernel
def swap(s: Any, i: int, j: int) -> None:
    """Exchange two cards in the bag."""
    card = s.stock[i]
    s.stock[i] = s.stock[j]
    s.stock[j] = card


@kernel
def allowed_at(s: Any, seat: int, place: int) -> int:
    """Return the cards that a place in the bag may hold: hidden hands first, then the stock."""
    for other in range(int64(s.seats)):
        if other == seat:
            continue
        if place >= s.sizes[other]:
            place -= int64(s.sizes[other])
            continue
        for group in range(int64(s.groups[other])):
            if place < s.places[other, group]:
                return ~s.barred[other, group]
            place -= int64(s.places[other, group])
    return int64(-1)


@kernel
def mix(s: Any, seat: int, laid: int, size: int, rng: Any) -> None:
    """Exchange two cards, or turn three around, wherever their places allow it, many times.

    Every exchange can be undone with the same probability, so that no world is favoured.
    """
    for sweep in range(MIX_SWEEPS):
        for p in range(laid):
            q = below(rng, size)
            r = q if sweep % 3 else below(rng, size)
            if p in (q, r):
                continue
            at_p, at_q, at_r = bit(s.stock[p]), bit(s.stock[q]), bit(s.stock[r])
            # p takes from q, q from r, r from p; with q = r that is a plain exchange.
            if not (at_q & allowed_at(s, seat, p) and at_p & allowed_at(s, seat, r)):
                continue
            if q == r:
                swap(s, p, q)
            elif at_r & allowed_at(s, seat, q):
                swap(s, p, q)
                swap(s, q, r)
