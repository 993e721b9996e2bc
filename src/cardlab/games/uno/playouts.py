"""Uno played out fast: the rules without the log and without what seats know of each other.

`finish` keeps the hands, the pile and the stock of a record, and all else in local numbers, which
makes a game three to four times as fast as the rules do; a test plays both side by side. One seat,
the searching one, always follows `prefer`; the others do too, or take anything.

`prefer` takes the action with the highest sum of a few weights. They are fitted by least squares to
what play-outs against random seats won, action by action, in positions that the policy came to:
`benchmarks/uno_weights.py` does it again. So a sum is in hundredths of a game won, and `expect`
can tell a search what to think of actions before it has tried them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cardlab.engine.kernel import bit, count_bits, int64, kernel, lowest_bit
from cardlab.engine.seeding import below, shuffle
from cardlab.games.uno.cards import (
    ACTIONS,
    DRAW,
    DRAW_TWO,
    FOUR,
    FOUR_BIT,
    KEEP,
    NAME,
    ONE_COLOUR,
    ONE_TRAIT,
    REVERSE,
    SKIP,
    WILD,
    WILD_BIT,
    add,
    remove,
)
from cardlab.games.uno.hidden_hands import NOBODY, PILE
from cardlab.games.uno.kernels import (
    ALL_DRAW_TWOS,
    ALL_FOURS,
    ALL_WILDS,
    DEAL,
    DRAWN,
    FITTING,
    PLAY,
    RLCARD,
    deal,
    hands_value,
)

# What counts for an action. The first five are for a hand of more than FEW cards, the next five
# for a smaller one.
(
    OWN_COLOUR,  # for each card left in hand of the colour that will be in force
    OWN_TRAIT,  # for each kind left in hand of the same trait
    LAST_OF_COLOUR,  # if no card of the colour is left in hand
    SEEN_COLOUR,  # for each card of the colour on the pile
    LACKING,  # if the next seat has drawn for want of the colour
) = range(5)
(
    SKIPS,  # three each: with more than four, three or four, one or two cards in the next hand
    REVERSES,
    DRAW_TWOS,
    WILDS,
    FOURS,
) = range(10, 25, 3)
WILD_OF_FEW = 25  # more for a wild from a hand of FEW cards
TO_LARGER = 26  # a reverse, for each card that the seat before has more than the next one
KEEPING = 27  # for keeping a wild just drawn
FEW = 3
AT_WILL = -10.0  # for a draw where something fits
NUM_WEIGHTS = 28

WEIGHTS = np.array(  # by rule set (official, rlcard), for two seats and for more
    [
        [
            [
                0.47, -1.05, -2.88, 0.23, 6.25,
                7.5, -6.36, -1.9, 0.18, 2.44,
                -0.47, 0.21, 2.12,  -0.34, 0.3, 1.69,  -1.24, -0.49, 5.76,
                -11.16, -10.27, -7.62,  -12.16, -10.14, 0.93,  -8.43, 0, -4.52,
            ],
            [
                0.23, -0.35, -2.81, 0.18, 2.39,
                7.47, -1.33, -2.17, 0.52, 1.58,
                0.11, 0.08, 0.63,  -0.08, -0.27, 0.54,  -0.23, 0.57, 4.65,
                -12.86, -11.45, -6.89,  -14.38, -12.41, -2.99,  -12.74, 0.3, -5.77,
            ],
        ],
        [
            [
                0.39, -1.23, -3.02, 0.22, 6.04,
                10.59, -8.49, -1.16, 0.16, 5.52,
                0.08, -0.25, 2.37,  -0.01, 0.09, -0.17,  -2.02, 0.13, 7.03,
                -13.79, -11.66, -7.51,  0, 0, 0,  -16.73, 0, 0,
            ],
            [
                0.34, -0.23, -2.26, 0.2, 1.98,
                2.21, -1.57, -9.97, 0.46, 2.01,
                -0.13, -0.27, 0.99,  -0.11, -0.45, -0.33,  -0.48, 0.4, 3.68,
                -13.67, -11.77, -7.78,  0, 0, 0,  -23.79, 0.27, 0,
            ],
        ],
    ]
)  # fmt: skip


@kernel
def weights_for(s: Any) -> Any:
    """Return the weights for the rules and seats of a record."""
    return WEIGHTS[int64(s.rules), int64(s.seats > 2)]


@kernel
def pick(found: int, last: int, rng: Any) -> int:
    """Return any of a set of actions, or `last` (if that is one), with equal probability."""
    count = count_bits(found) + (last >= 0)
    i = below(rng, count) if count > 1 else 0
    while i > 0:
        found &= found - 1
        i -= 1
    return lowest_bit(found) if found else last


@kernel
def colour_worth(s: Any, seat: int, colour: int, lacking: int, weights: Any, less: int) -> float:
    """Return how good a colour is to have in force for a seat that parts with `less` cards."""
    first = 5 if s.sizes[seat] <= FEW else 0
    kinds = int64(ONE_COLOUR) << (ACTIONS * colour)
    own = count_bits(s.cards[seat, 0] & kinds) + count_bits(s.cards[seat, 1] & kinds) - less
    seen = count_bits(s.cards[PILE, 0] & kinds) + count_bits(s.cards[PILE, 1] & kinds)
    worth = weights[first + OWN_COLOUR] * own + weights[first + SEEN_COLOUR] * seen
    if own == 0:
        worth += weights[first + LAST_OF_COLOUR]
    if (lacking >> colour) & 1:
        worth += weights[first + LACKING]
    return worth


@kernel
def card_worth(
    s: Any, seat: int, following: int, before: int, card: int, lacking: int, weights: Any
) -> float:
    """Return how good it is to play a coloured card."""
    colour = card // ACTIONS
    trait = card - ACTIONS * colour
    same = (int64(ONE_TRAIT) << trait) & ~bit(card)
    first = 5 if s.sizes[seat] <= FEW else 0
    worth = colour_worth(s, seat, colour, lacking, weights, 1)
    worth += weights[first + OWN_TRAIT] * count_bits(s.cards[seat, 0] & same)
    if trait >= SKIP:
        worth += weights[SKIPS + 3 * (trait - SKIP) + danger(s, following)]
        if trait == REVERSE:
            more = int64(s.sizes[before]) - int64(s.sizes[following])
            worth += weights[TO_LARGER] * min(5, max(-5, more))
    return worth


@kernel
def danger(s: Any, following: int) -> int:
    """Return how near the next seat is to its end: 0, 1 or 2."""
    size = int64(s.sizes[following])
    return 2 if size <= 2 else (1 if size <= 4 else 0)


@kernel
def wild_worth(s: Any, seat: int, following: int, trait: int, weights: Any) -> float:
    """Return how good it is to play a wild, without the colour that it calls."""
    worth = weights[WILDS + 3 * (trait - WILD) + danger(s, following)]
    if s.sizes[seat] <= FEW:
        worth += weights[WILD_OF_FEW]
    return worth


@kernel
def prefer(s: Any, seat: int, step: int, found: int, last: int, voids: int, weights: Any) -> int:
    """Return the action of a set that the weights like best, or `last` if the set is empty.

    `voids` has the colours that seats are thought not to hold, four bits a seat.
    """
    if found & (found - 1) == 0:
        return lowest_bit(found) if found else last
    following = turn_on(seat, step, int64(s.seats))
    before = turn_on(seat, -step, int64(s.seats))
    lacking = (voids >> (4 * following)) & 15
    best = -1e9
    choice = last
    cards = found & ~(ALL_WILDS | ALL_FOURS)
    rest = cards
    while rest:
        card = lowest_bit(rest)
        rest &= rest - 1
        worth = card_worth(s, seat, following, before, card, lacking, weights)
        if worth > best:
            best = worth
            choice = card
    if found != cards:
        called = 0
        most = -1e9
        for colour in range(4):
            worth = colour_worth(s, seat, colour, lacking, weights, 0)
            if worth > most:
                most = worth
                called = colour
        for trait in range(WILD, FOUR + 1):
            if found & (ALL_WILDS if trait == WILD else ALL_FOURS):
                worth = most + wild_worth(s, seat, following, trait, weights)
                if worth > best:
                    best = worth
                    choice = ACTIONS * called + trait
        if last == KEEP and weights[KEEPING] > best:
            choice = last
    return choice


@kernel
def refill(s: Any, at: int, end: int, top: int, rng: Any) -> int:
    """Make a new stock, which begins at 0, and return where it ends."""
    size = 0
    if s.rules == RLCARD:
        for i in range(at, end):
            s.stock[size] = s.stock[i]
            size += 1
    else:
        remove(s.cards[PILE], top)
    for copy in range(2):
        rest = s.cards[PILE, copy]
        s.cards[PILE, copy] = 0
        while rest:
            kind = lowest_bit(rest)
            rest &= rest - 1
            # The third and fourth wild are kept as kinds of their own.
            s.stock[size] = kind - ACTIONS if kind in (WILD + ACTIONS, FOUR + ACTIONS) else kind
            size += 1
    if s.rules != RLCARD:
        add(s.cards[PILE], top)
    for i in range(size - 1, 0, -1):
        j = below(rng, i + 1)
        kind = s.stock[i]
        s.stock[i] = s.stock[j]
        s.stock[j] = kind
    return size


@kernel
def is_short(s: Any, left: int, owed: int) -> bool:
    """Return whether the stock must be reshuffled before so many cards are drawn."""
    if s.rules == RLCARD:
        return left < owed and s.cards[PILE, 0] != 0
    return left == 0 and count_bits(s.cards[PILE, 0]) + count_bits(s.cards[PILE, 1]) > 1


@kernel
def turn_on(seat: int, step: int, seats: int) -> int:
    """Return the seat that comes next."""
    seat += step
    if seat < 0:
        return seat + seats
    return seat - seats if seat >= seats else seat


@kernel
def fits(kind: int, wanted: int, hand: int, colour: int) -> bool:
    """Return whether a card just drawn may be played by the official rules."""
    if kind == FOUR:
        return not hand & (ONE_COLOUR << (ACTIONS * colour))
    return bit(kind) & wanted != 0


@kernel
def known_voids(s: Any) -> int:
    """Return the colours that hands are known to lack, four bits a seat."""
    voids = int64(0)
    for seat in range(int64(s.seats)):
        barred = int64(-1)
        for group in range(int64(s.groups[seat])):
            barred &= s.barred[seat, group]
        for colour in range(4):
            kinds = int64(ONE_COLOUR) << (ACTIONS * colour)
            if barred & kinds == kinds:
                voids |= bit(4 * seat + colour)
    return voids


@kernel
def playable(s: Any, cards: int, hand: int, wanted: int, colour: int) -> int:
    """Return the actions, as a set, that play one of `cards` from a hand of these kinds."""
    fitting = cards & wanted
    found = fitting & ~WILD_BIT
    if fitting & WILD_BIT:
        found |= ALL_WILDS
    if cards & FOUR_BIT:
        if s.rules == RLCARD:
            if fitting == 0:
                found |= ALL_FOURS
        elif not hand & (ONE_COLOUR << (ACTIONS * colour)):
            found |= ALL_FOURS
    return found


@kernel
def fitting_kinds(colour: int, trait: int) -> int:
    """Return the kinds that fit a top card, wild draw four aside."""
    return (int64(ONE_COLOUR) << (ACTIONS * colour)) | FITTING[trait] | WILD_BIT


@kernel
def act(
    s: Any, seat: int, trait: int, step: int, following: int, stacked: int
) -> tuple[int, int, int, int]:
    """Let an action card act: return direction, next seat, cards stacked up, and owed by it."""
    owed = 0
    if trait == REVERSE and (s.seats > 2 or s.rules == RLCARD):
        step = -step
        following = turn_on(seat, step, int64(s.seats))
    elif trait <= REVERSE:
        following = turn_on(following, step, int64(s.seats))
    elif trait == FOUR:
        owed = 4
    elif trait == DRAW_TWO:
        stacked += 2
        if not s.stacking or s.sizes[seat] == 0:
            owed = stacked
            stacked = 0
    return step, following, stacked, owed


@kernel
def draw_owed(
    s: Any, taker: int, owed: int, at: int, end: int, top: int, rng: Any
) -> tuple[int, int]:
    """Let a seat draw what it must, as far as there are cards; return where the stock lies then."""
    while owed:
        if is_short(s, end - at, owed):
            end = refill(s, at, end, top, rng)
            at = 0
        if at == end:
            break
        add(s.cards[taker], int64(s.stock[at]))
        s.sizes[taker] += 1
        at += 1
        owed -= 1
    return at, end


@kernel
def finish(s: Any, searcher: int, others_random: bool, weights: Any, order: Any, rng: Any) -> int:
    """Play a round to its end and return who went out, or NOBODY after too many actions.

    Only hands, their sizes, pile and stock of the record are kept up to date.
    """
    while s.phase < PLAY and s.phase != DEAL:
        shuffle(order, rng)
        deal(s, order)
    if s.phase == DEAL or s.gone_out != NOBODY or s.plies >= s.bound:
        return int64(s.gone_out)
    seats = int64(s.seats)
    seat = int64(s.seat)
    step = -1 if s.backwards else 1
    colour, top, wanted = int64(s.colour), int64(s.top), s.wanted
    at, end = int64(s.stock_at), int64(s.stock_end)
    stacked = int64(s.stacked)
    drawn = int64(s.drawn) if s.phase == DRAWN else NOBODY
    rlcard = s.rules == RLCARD
    voids = known_voids(s)
    for _ in range(int64(s.plies), int64(s.bound)):
        following = turn_on(seat, step, seats)
        hand = s.cards[seat, 0]
        last = -1
        if stacked:
            found = hand & ALL_DRAW_TWOS
            last = DRAW
        elif drawn != NOBODY:
            found = playable(s, bit(drawn), hand, wanted, colour)
            if s.keep_drawn:
                last = KEEP
        else:
            found = playable(s, hand, hand, wanted, colour)
            if found == 0 or s.voluntary_draw:
                last = DRAW
        if others_random and seat != searcher:
            action = pick(found, last, rng)
        else:
            action = prefer(s, seat, step, found, last, voids, weights)
        owed = trait = 0
        if action < DRAW:
            colour = action // ACTIONS
            trait = action - ACTIONS * colour
            top = action if trait < WILD else trait
            remove(s.cards[seat], top)
            add(s.cards[PILE], top)
            s.sizes[seat] -= 1
            if s.sizes[seat] == 0 and (not s.target or trait < DRAW_TWO or trait == WILD):
                return seat
            wanted = fitting_kinds(colour, trait)
            drawn = NOBODY
        elif action == KEEP:
            drawn = NOBODY
            seat = following
            continue
        elif stacked:
            following = seat
            owed = stacked
            stacked = 0
        else:
            if not s.voluntary_draw:
                voids |= bit(4 * seat + colour)
            if is_short(s, end - at, 1):
                end = refill(s, at, end, top, rng)
                at = 0
            if at == end:  # all cards are in the hands
                seat = following
                continue
            kind = int64(s.stock[at])
            at += 1
            wild = kind in (WILD, FOUR)
            if not rlcard or (not wild and kind // ACTIONS != colour):
                add(s.cards[seat], kind)
                s.sizes[seat] += 1
                if not rlcard and (s.keep_drawn or fits(kind, wanted, s.cards[seat, 0], colour)):
                    drawn = kind
                else:
                    seat = following
                continue
            add(s.cards[PILE], kind)
            top = kind
            if wild:
                colour = below(rng, 4)
                wanted = fitting_kinds(colour, kind)
                seat = following
                continue
            trait = kind - ACTIONS * colour
            wanted = fitting_kinds(colour, trait)
        if trait >= SKIP:
            step, following, stacked, owed = act(s, seat, trait, step, following, stacked)
        if owed:
            size = s.sizes[following]
            at, end = draw_owed(s, following, owed, at, end, top, rng)
            if s.sizes[following] != size:
                voids &= ~(int64(15) << (4 * following))
            following = turn_on(following, step, seats)
            if s.sizes[seat] == 0:
                return seat
        seat = following
    return NOBODY


@kernel
def expect(views: Any, seat: int, actions: Any, out: Any) -> None:
    """Write what WEIGHTS think of every action in the only record of `views`."""
    weigh(views[0], seat, actions, weights_for(views[0]), out)


@kernel
def weigh(s: Any, seat: int, actions: Any, weights: Any, out: Any) -> None:
    """Write what weights think of every action."""
    seats = int64(s.seats)
    step = -1 if s.backwards else 1
    following, before = turn_on(seat, step, seats), turn_on(seat, -step, seats)
    lacking = (known_voids(s) >> (4 * following)) & 15
    for i in range(len(actions)):
        action = int64(actions[i])
        trait = action % ACTIONS
        if action >= NAME:
            out[i] = colour_worth(s, seat, action - NAME, lacking, weights, 0)
        elif action == KEEP:
            out[i] = weights[KEEPING]
        elif action == DRAW:
            out[i] = AT_WILL
        elif trait < WILD:
            out[i] = card_worth(s, seat, following, before, action, lacking, weights)
        else:
            out[i] = colour_worth(s, seat, action // ACTIONS, lacking, weights, 0)
            out[i] += wild_worth(s, seat, following, trait, weights)


@kernel
def worth(s: Any, seat: int, winner: int) -> float:
    """Return the utility of a round: of one alone who won it, of one of several its points."""
    if winner == NOBODY:
        return 0.0
    gain = min(1.0, hands_value(s) / float(s.target)) if s.target else 1.0
    return gain if winner == seat else -gain / (int64(s.seats) - 1)


@kernel
def play_out_random(s: Any, seat: int, order: Any, buffer: Any, rng: Any) -> float:
    """Play a round out against seats that take anything; return what it is worth for `seat`."""
    return worth(s, seat, finish(s, seat, True, weights_for(s), order, rng))


@kernel
def play_out_sensible(s: Any, seat: int, order: Any, buffer: Any, rng: Any) -> float:
    """Play a round out against seats that play as oneself; return what it is worth for `seat`."""
    return worth(s, seat, finish(s, seat, False, weights_for(s), order, rng))
