"""What all seats of an Uno game know of a hidden hand, and worlds that agree with it.

Hidden hands are groups of places, as `engine.hidden_hands` keeps them. What bars a place:

- kinds of cards: a seat that draws because nothing fits holds nothing that fits; a wild draw four
  shows that a hand has nothing of the colour (or, by the rules of RLCard, nothing else that fits);
- after a reshuffle, cards by where they have been: what was shuffled in lies in no place that was
  filled before (`SHUFFLED_IN`); if the stock was empty, all else lies in no place filled later and
  not in the stock (`KEPT_OUT`).

Where a card is played and a later group is barred from something that the oldest one is not, the
two become one that is barred from what both are: no possible hand is lost then, but some impossible
ones come in. The same is true of what else is forgotten: only the last reshuffle is remembered;
once a card is played of which one copy was shuffled in and another was not, and either could have
been it, their places are no longer distinguished, nor those of a seat's own two copies; and a hand
has GROUPS groups, the oldest two of which are joined when another is needed.
"""

from __future__ import annotations

from typing import Any

from cardlab.engine.hidden_hands import (
    MIX_SWEEPS,
    bars_at,
    free_place,
    join_groups,
    make_bag_kernels,
    shuffle_rest,
    swap,
    vacate,
)
from cardlab.engine.kernel import bit, int64, kernel
from cardlab.engine.seeding import below, branch
from cardlab.games.uno.cards import (
    ACTIONS,
    DECK,
    FOUR,
    KIND,
    KIND_END,
    TOTAL,
    WILD,
    add,
    count,
    remove,
)

MAX_SEATS = 10
PILE, RETURNED = MAX_SEATS, MAX_SEATS + 1  # rows of `cards` after the hands
GROUPS = 8
NOBODY = 255
KEPT_OUT, SHUFFLED_IN = 1 << 60, 1 << 61  # bars beside those of kinds
POOL = 64  # in the bag a card is its kind, + POOL if kept out, + 2 * POOL if shuffled in
TRIES = 32


@kernel
def leave_hand(s: Any, seat: int, kind: int) -> None:
    """Note that a card, not yet on the pile, has left the oldest place that could have held it."""
    if s.shuffled or (s.voluntary_draw and not s.keep_drawn):
        leave_hand_with_care(s, seat, kind)
        return
    vacate(s, seat, bit(kind))


@kernel
def may_hold(barred: int, kind: int, kept: int, shuffled: int) -> bool:
    """Return whether a place may hold one of so many cards of a kind kept out or shuffled in."""
    if barred & bit(kind):
        return False
    return (kept > 0 and not barred & KEPT_OUT) or (shuffled > 0 and not barred & SHUFFLED_IN)


@kernel
def leave_hand_with_care(s: Any, seat: int, kind: int) -> None:
    """Do the same where a later place may be barred from something that an older one is not."""
    shuffled = count(s.cards[RETURNED], kind)
    kept = int64(TOTAL[kind]) - count(s.cards[PILE], kind) - shuffled
    loose = s.loose & bit(kind) != 0
    if loose:  # then each copy may be either
        kept = shuffled = kept + shuffled
    first = -1
    was_kept = was_shuffled = False
    for group in range(int64(s.groups[seat])):
        barred = s.barred[seat, group]
        if may_hold(barred, kind, kept, shuffled):
            was_kept = was_kept or may_hold(barred, kind, kept, 0)
            was_shuffled = was_shuffled or may_hold(barred, kind, 0, shuffled)
            if first < 0:
                first = group
    group = first + 1
    while group < s.groups[seat]:
        barred = s.barred[seat, group]
        if may_hold(barred, kind, kept, shuffled) and barred & ~s.barred[seat, first]:
            join_groups(s, seat, first, group)
            group = first + 1  # it is barred from less now: look again
        else:
            group += 1
    free_place(s, seat, first)
    if not loose and was_shuffled:
        if was_kept:
            s.loose |= bit(kind)
        else:
            remove(s.cards[RETURNED], kind)


@kernel
def leave_stock(s: Any, kind: int) -> None:
    """Note that a card, not yet on the pile, has come from the stock to be played at once."""
    if s.shuffled and not s.loose & bit(kind):
        shuffled = count(s.cards[RETURNED], kind)
        kept = int64(TOTAL[kind]) - count(s.cards[PILE], kind) - shuffled
        if shuffled and kept and not s.stock_bar:
            s.loose |= bit(kind)
        elif shuffled:
            remove(s.cards[RETURNED], kind)


@kernel
def note_reshuffle(s: Any, all_kept_out: bool) -> None:
    """Note that the cards in RETURNED went into the stock, and whether they are all of it."""
    s.shuffled = 1
    s.loose = 0
    s.stock_bar = KEPT_OUT if all_kept_out else 0
    for seat in range(int64(s.seats)):
        for group in range(int64(s.groups[seat])):
            s.barred[seat, group] = (s.barred[seat, group] & ~KEPT_OUT) | SHUFFLED_IN


@kernel
def check_sum(order: Any, kinds: int) -> int:
    """Return a number that depends on where an order has cards of these kinds, and on that only."""
    sign = 1
    for i in range(DECK):
        if kinds & bit(KIND[order[i]]):
            sign = (sign * 109 + i) & 0xFFFFFFFFFFFF
    return sign


@kernel
def stack(s: Any, order: Any, ones: int, twos: int, top: int) -> int:
    """Make a stock of a set of cards in the sequence of an order.

    Where the order names a card more often than it is in the set, a check sum says which of its
    places count, so that no card comes early or late for being one of few. It is made of what
    all seats see, the set and the top card, and returned: no hidden card influences where others
    lie.
    """
    end = 0
    for i in range(DECK):
        s.stock[i] = NOBODY
    sign = check_sum(order, ones | bit(top))
    once = int64(0)  # kinds that the order has named so far; wilds by numbers
    wilds = fours = 0
    for i in range(DECK):
        kind = int64(KIND[order[i]])
        wanted = ((ones >> kind) & 1) + ((twos >> kind) & 1)
        if kind == WILD:
            wanted += ((ones >> (kind + ACTIONS)) & 1) + ((twos >> (kind + ACTIONS)) & 1)
            left = 4 - wilds
            wilds += 1
        elif kind == FOUR:
            wanted += ((ones >> (kind + ACTIONS)) & 1) + ((twos >> (kind + ACTIONS)) & 1)
            left = 4 - fours
            fours += 1
        else:
            left = int64(TOTAL[kind]) - ((once >> kind) & 1)
            once |= bit(kind)
        if wanted == 0:
            continue
        if wanted < left and (branch(sign, POOL * left + kind) >> 16) % left >= wanted:
            continue
        s.stock[end] = kind
        end += 1
        if twos & bit(kind):
            if kind in (WILD, FOUR) and twos & bit(kind + ACTIONS):
                twos ^= bit(kind + ACTIONS)
            elif kind in (WILD, FOUR) and ones & bit(kind + ACTIONS):
                ones ^= bit(kind + ACTIONS)
            else:
                twos ^= bit(kind)
        else:
            ones ^= bit(kind)
    s.stock_at = 0
    s.stock_end = end
    return sign


@kernel
def insert(s: Any, kind: int, sign: int) -> None:
    """Put a card into the stock at a place that a check sum gives."""
    at, end = int64(s.stock_at), int64(s.stock_end)
    place = at + (branch(sign, 4096 + end - at) >> 16) % (end - at + 1)
    if end < DECK:
        for i in range(end, place, -1):
            s.stock[i] = s.stock[i - 1]
        s.stock_end += 1
    else:  # there is room in front
        place -= 1
        for i in range(at - 1, place):
            s.stock[i] = s.stock[i + 1]
        s.stock_at -= 1
    s.stock[place] = kind


# Worlds


@kernel
def attributes(card: int) -> int:
    """Return the bars that keep a card of the bag from a place."""
    card = int64(card)
    return bit(card & (POOL - 1)) | ((card // POOL) << 60)


@kernel
def fill_bag(s: Any, seat: int) -> int:
    """Put all cards that a seat does not see into the stock array and return their number."""
    size = 0
    all_kept = True  # whether the seat has drawn nothing since the reshuffle
    for group in range(int64(s.groups[seat])):
        if not s.barred[seat, group] & SHUFFLED_IN:
            all_kept = False
    for kind in range(KIND_END):
        seen = count(s.cards[PILE], kind)
        own = count(s.cards[seat], kind)
        unseen = int64(TOTAL[kind]) - seen - own
        if unseen <= 0:
            continue
        kept = shuffled = 0
        if s.shuffled and not s.loose & bit(kind):
            shuffled = count(s.cards[RETURNED], kind)
            kept = int64(TOTAL[kind]) - seen - shuffled
            if shuffled == 0 or (kept and all_kept):
                kept -= own
            elif kept == 0:
                shuffled -= own
            elif own:
                kept = shuffled = 0
        for i in range(unseen):
            pool = 1 if i < kept else (2 if i < kept + shuffled else 0)
            s.stock[size] = kind + POOL * pool
            size += 1
    return size


@kernel
def place_bars(s: Any, seat: int, place: int) -> int:
    """Return the bars of a place in the part of the bag that is barred from something."""
    if s.stock_bar:
        stock = int64(s.stock_end) - int64(s.stock_at)
        if place < stock:
            return s.stock_bar
        place -= stock
    return bars_at(s, seat, place, False)


find_fitting, exchange = make_bag_kernels(attributes, place_bars)


@kernel
def lay(s: Any, laid: int, size: int, barred: int, places: int, rng: Any) -> bool:
    """Fill places with random cards from the rest of the bag; False if one has no card left."""
    for at in range(laid, laid + places):
        found = find_fitting(s.stock, at, size, barred, TRIES, rng)
        if found < 0:
            fitting = 0
            for i in range(at, size):
                if not attributes(s.stock[i]) & barred:
                    fitting += 1
            if fitting == 0:
                return False
            chosen = below(rng, fitting)
            for i in range(at, size):
                if not attributes(s.stock[i]) & barred:
                    if chosen == 0:
                        found = i
                        break
                    chosen -= 1
        swap(s.stock, at, found)
    return True


@kernel
def imagine_cards(s: Any, seat: int, drawer: int, rng: Any) -> bool:
    """Fill the hidden places and the stock with the unseen cards, uniformly.

    The last place of `drawer`, if that is another seat, holds the card it has just drawn.

    Places that are barred from something are filled first, one by one, each uniformly from the
    cards it may hold. If they belong to one hand and there was no reshuffle the number of choices
    never depends on earlier ones, so that all ways are equally likely; otherwise the result is
    mixed by exchanges. All other places get what is left in random order.
    """
    size = fill_bag(s, seat)
    stock = int64(s.stock_end) - int64(s.stock_at)
    laid = 0
    owners = 0
    if s.stock_bar:
        if not lay(s, 0, size, s.stock_bar, stock, rng):
            return False
        laid = stock
        owners = 1
    for other in range(int64(s.seats)):
        if other == seat:
            continue
        before = laid
        for group in range(int64(s.groups[other])):
            if s.barred[other, group]:
                places = int64(s.places[other, group])
                if not lay(s, laid, size, s.barred[other, group], places, rng):
                    return False
                laid += places
        if laid > before:
            owners += 1
    if owners > 1 or (s.shuffled and owners):
        for sweep in range(MIX_SWEEPS):
            exchange(s, s.stock, seat, laid, size, sweep % 3 == 0, rng)
    shuffle_rest(s.stock, laid, size, rng)
    barred_at = stock if s.stock_bar else 0
    free_at = laid
    for other in range(int64(s.seats)):
        if other == seat:
            continue
        s.cards[other, 0] = 0
        s.cards[other, 1] = 0
        for group in range(int64(s.groups[other])):
            for _ in range(int64(s.places[other, group])):
                if s.barred[other, group]:
                    card = int64(s.stock[barred_at])
                    barred_at += 1
                else:
                    card = int64(s.stock[free_at])
                    free_at += 1
                add(s.cards[other], card & (POOL - 1))
                if other == drawer:
                    s.drawn = card & (POOL - 1)
    move_stock(s, 0 if s.stock_bar else size - stock, stock)
    return True


@kernel
def move_stock(s: Any, source: int, stock: int) -> None:
    """Move the stock to its place in the array and clear the rest of the bag."""
    target = int64(s.stock_at)
    for k in range(stock):
        i = k if source > target else stock - 1 - k
        s.stock[target + i] = int64(s.stock[source + i]) & (POOL - 1)
    for i in range(DECK):
        if i < target or i >= target + stock:
            s.stock[i] = NOBODY
