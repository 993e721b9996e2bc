"""The rules of Uno as kernels over one record; `rules` describes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from cardlab.engine.game import DEALER, OVER, record_type
from cardlab.engine.hidden_hands import bar, free_place, occupy
from cardlab.engine.kernel import bit, count_bits, int64, kernel, lowest_bit
from cardlab.games.uno.cards import (
    ACTIONS,
    DECK,
    DRAW,
    DRAW_TWO,
    FOUR,
    FOUR_BIT,
    KEEP,
    KIND,
    KIND_END,
    NAME,
    NUM_ACTIONS,
    ONE_COLOUR,
    ONE_TRAIT,
    REVERSE,
    SKIP,
    WILD,
    WILD_BIT,
    add,
    hand_value,
    remove,
)
from cardlab.games.uno.hidden_hands import (
    GROUPS,
    MAX_SEATS,
    NOBODY,
    PILE,
    RETURNED,
    check_sum,
    imagine_cards,
    insert,
    leave_hand,
    leave_stock,
    note_reshuffle,
    stack,
)

HAND_SIZE = 7
MAX_PLIES = 2000
MATCH_PLIES = 15000
LOG = 64

DEAL, TURN_AGAIN, COLOUR, RESHUFFLE, PLAY, DRAWN, NAMING, FINISHED = range(8)
OFFICIAL, RLCARD = range(2)
TOOK, SHUFFLED, TURNED, WENT_OUT = range(NUM_ACTIONS, NUM_ACTIONS + 4)  # in the log, after actions

ALL_WILDS, ALL_FOURS = ONE_TRAIT << WILD, ONE_TRAIT << FOUR  # as sets of actions
ALL_DRAW_TWOS = ONE_TRAIT << DRAW_TWO
ALL_KINDS = (1 << KIND_END) - 1
FITTING = np.array([ONE_TRAIT << trait if trait < WILD else 0 for trait in range(15)])

STATE = record_type(
    [
        ("cards", "i8", (MAX_SEATS + 2, 2)),  # of hands, pile, reshuffle: kinds held, held twice
        ("barred", "i8", (MAX_SEATS, GROUPS)),  # kinds that the places of a group cannot hold
        ("stock_bar", "i8"),  # kinds that the stock cannot hold
        ("loose", "i8"),  # kinds of which no seat knows what was reshuffled
        ("wanted", "i8"),  # kinds that match the top card, except the wild draw four
        ("plies", "u2"),  # actions taken so far
        ("logged", "u2"),  # entries written to the log so far
        ("bound", "u2"),  # actions after which the game is a tie
        ("target", "u2"),  # points that win a match; 0: one round
        ("rounds", "u2"),  # rounds played before this one
        ("scores", "u2", (MAX_SEATS,)),  # points of each seat in a match
        ("places", "u1", (MAX_SEATS, GROUPS)),  # how many places of a hand a group has
        ("groups", "u1", (MAX_SEATS,)),  # how many groups of places a seat's hand has
        ("sizes", "u1", (MAX_SEATS,)),  # cards in each hand
        ("stock", "u1", (DECK,)),  # in drawing order; 255 where a card has been drawn
        ("stock_at", "u1"),  # where the next card of the stock lies
        ("stock_end", "u1"),  # where the stock ends
        ("top", "u1"),  # the top card of the pile
        ("colour", "u1"),  # the colour in force
        ("backwards", "u1"),  # 1: play goes round the other way
        ("phase", "u1"),  # 0-3 the dealer acts, 4 play, 5 keep or play, 6 name a colour, 7 over
        ("seat", "u1"),  # the seat to move
        ("seats", "u1"),  # how many play
        ("winner", "u1"),  # the seat that won; 255: nobody
        ("gone_out", "u1"),  # the seat that played its last card; 255: nobody
        ("taker", "u1"),  # the seat that draws now
        ("owed", "u1"),  # how many cards it still has to draw
        ("taken", "u1"),  # how many of them it has drawn
        ("own_turn", "u1"),  # 1: it draws because it cannot play
        ("drawn", "u1"),  # the drawn card that may be played or kept; 255: none
        ("stacked", "u1"),  # cards to draw because of stacked draw twos
        ("cut", "u1"),  # the card that gave the top wild its random colour; 255: none
        ("cut_wilds", "u1"),  # wilds that were turned before it
        ("cut_fours", "u1"),  # wild draw fours that were turned before it
        ("turned_back", "u1"),  # first cards that went back as wild draw fours
        ("shuffled", "u1"),  # 1: there has been a reshuffle
        ("rules", "u1"),  # 0 official, 1 rlcard
        ("stacking", "u1"),  # the option; the next two are options, too
        ("keep_drawn", "u1"),  # 1: a drawn card that fits may be kept
        ("voluntary_draw", "u1"),  # 1: drawing is allowed with a card that fits
        ("log_seat", "u1", (LOG,)),  # the last 64 entries, entry n at n % 64: who
        ("log_what", "u1", (LOG,)),  # action; 66 drew, 67 reshuffle, 68 first card, 69 went out
        ("log_more", "u1", (LOG,)),  # how many cards, which first card, or 1 for a card just drawn
    ]
)


@kernel
def mover(s: Any) -> int:
    """Return the seat to move, DEALER or OVER."""
    if s.phase == FINISHED:
        return OVER
    if s.phase < PLAY:
        return DEALER
    return int64(s.seat)


# Chance


@kernel
def deal(s: Any, order: Any) -> None:
    """Deal a round, turn another start card, give a wild its colour, or make a new stock."""
    if s.phase == DEAL:
        deal_round(s, order)
        turn_start_card(s)
    elif s.phase == TURN_AGAIN:
        insert(s, FOUR, check_sum(order, FOUR_BIT))
        turn_start_card(s)
    elif s.phase == COLOUR:
        i = wilds = 0
        while KIND[order[i]] in (WILD, FOUR):
            wilds += KIND[order[i]] == WILD
            i += 1
        set_top(s, int64(s.top), int64(KIND[order[i]]) // ACTIONS)
        s.cut = KIND[order[i]]
        s.cut_wilds = wilds
        s.cut_fours = i - wilds
        s.phase = PLAY
        if s.plies:
            write_log(s, int64(s.seat), ACTIONS * int64(s.colour) + int64(s.top), 1)
            s.seat = after(s, int64(s.seat))
    else:
        reshuffle(s, order)
        settle(s)


@kernel
def deal_round(s: Any, order: Any) -> None:
    """Give every seat its hand and leave the rest as the stock."""
    seats = int64(s.seats)
    if s.rounds:
        for row in range(MAX_SEATS + 2):
            s.cards[row, 0] = 0
            s.cards[row, 1] = 0
        for seat in range(seats):
            for group in range(GROUPS):
                s.barred[seat, group] = 0
                s.places[seat, group] = 0
        s.stock_bar = 0
        s.loose = 0
        s.shuffled = 0
        s.backwards = 0
        s.turned_back = 0
        s.gone_out = NOBODY
    first = int64(s.rounds) % seats
    dealt = seats * HAND_SIZE
    seat = first
    for i in range(dealt):
        add(s.cards[seat], int64(KIND[order[i]]))
        seat = seat + 1 if seat + 1 < seats else 0
    for seat in range(seats):
        s.sizes[seat] = HAND_SIZE
        s.places[seat, 0] = HAND_SIZE
        s.groups[seat] = 1
    s.stock_at = 0
    s.stock_end = DECK - dealt
    for i in range(dealt, DECK):
        s.stock[i - dealt] = KIND[order[i]]
    for i in range(DECK - dealt, DECK):
        s.stock[i] = NOBODY


@kernel
def turn_start_card(s: Any) -> None:
    """Turn the first card of the stock and let it act."""
    kind = pop_stock(s)
    if kind == FOUR:
        s.turned_back += 1
        s.phase = TURN_AGAIN
        return
    first = int64(s.rounds) % int64(s.seats)
    trait = kind % ACTIONS
    write_log(s, first, TURNED, kind)
    add(s.cards[PILE], kind)
    set_top(s, kind, kind // ACTIONS)
    s.phase = PLAY
    s.seat = first
    if s.rules == RLCARD:
        if trait == SKIP:
            s.seat = 1
        elif trait == REVERSE:
            s.backwards = 1
            s.seat = s.seats - 1
        elif trait == DRAW_TWO:
            draw_card(s, 0)
            draw_card(s, 0)
            write_log(s, 0, TOOK, 2)
        elif trait == WILD:
            s.phase = COLOUR
    elif trait == WILD:
        s.phase = NAMING
    elif trait >= SKIP:
        s.backwards = 1
        dealer = after(s, first)
        s.seat = dealer
        if trait != REVERSE or s.seats == 2:
            s.backwards = 0
            act(s, dealer, trait)
            settle(s)


@kernel
def reshuffle(s: Any, order: Any) -> None:
    """Make a new stock: of the discards below the top card, or by RLCard of all that is there."""
    write_log(s, NOBODY, SHUFFLED, 0)
    top = int64(s.top)
    if s.rules == RLCARD:
        at, left = int64(s.stock_at), int64(s.stock_end) - int64(s.stock_at)
        first = int64(s.stock[at]) if left > 0 else 0  # fewer are left than four
        second = int64(s.stock[at + 1]) if left > 1 else 0
        third = int64(s.stock[at + 2]) if left > 2 else 0
    else:
        left = first = second = third = 0
        remove(s.cards[PILE], top)
    for copy in range(2):
        s.cards[RETURNED, copy] = s.cards[PILE, copy]
        s.cards[PILE, copy] = 0
    sign = stack(s, order, s.cards[RETURNED, 0], s.cards[RETURNED, 1], top)
    if s.rules == RLCARD:
        if left > 0:
            insert(s, first, sign)
        if left > 1:
            insert(s, second, sign)
        if left > 2:
            insert(s, third, sign)
    else:
        add(s.cards[PILE], top)
    note_reshuffle(s, s.rules != RLCARD)


# Moves


@kernel
def choices(s: Any, cards: int, hand: int) -> int:
    """Return the actions, as a set, that play one of `cards` from a hand of these kinds."""
    fitting = cards & s.wanted
    found = fitting & ~WILD_BIT
    if fitting & WILD_BIT:
        found |= ALL_WILDS
    if cards & FOUR_BIT:
        if s.rules == RLCARD:
            if fitting == 0:
                found |= ALL_FOURS
        elif not hand & (ONE_COLOUR << (ACTIONS * int64(s.colour))):
            found |= ALL_FOURS
    return found


@kernel
def legal(s: Any, out: Any) -> int:
    """Write the legal actions in ascending order and return their number."""
    number = 0
    last = -1
    found = int64(0)
    if s.phase == PLAY:
        hand = s.cards[s.seat, 0]
        found = hand & ALL_DRAW_TWOS if s.stacked else choices(s, hand, hand)
        if found == 0 or s.stacked or s.voluntary_draw:
            last = DRAW
    elif s.phase == DRAWN:
        found = choices(s, bit(s.drawn), s.cards[s.seat, 0])
        if s.keep_drawn:
            last = KEEP
    elif s.phase == NAMING:
        for colour in range(4):
            out[colour] = NAME + colour
        return 4
    while found:
        out[number] = lowest_bit(found)
        found &= found - 1
        number += 1
    if last >= 0:
        out[number] = last
        number += 1
    return number


@kernel
def apply(s: Any, action: int) -> None:
    """Play, draw, keep or name for the seat to move, and let others draw what they must."""
    seat = int64(s.seat)
    s.plies += 1
    if action < DRAW:
        play(s, seat, action)
    elif action == DRAW:
        s.taker = seat
        if s.stacked:
            s.owed = s.stacked
            s.stacked = 0
        else:
            if not s.voluntary_draw:
                bar(s, seat, s.wanted | FOUR_BIT)
            s.owed = 1
            s.own_turn = 1
    elif action == KEEP:
        write_log(s, seat, KEEP, 0)
        s.drawn = NOBODY
        s.phase = PLAY
        s.seat = after(s, seat)
    else:
        write_log(s, seat, action, 0)
        set_top(s, int64(s.top), action - NAME)
        s.phase = PLAY
    settle(s)
    if s.plies >= s.bound and s.gone_out == NOBODY:
        s.phase = FINISHED


@kernel
def play(s: Any, seat: int, action: int) -> None:
    """Lay a card from a hand and let it act."""
    trait = action % ACTIONS
    kind = action if trait < WILD else trait
    if trait == FOUR:
        shown = ONE_COLOUR << (ACTIONS * int64(s.colour))
        bar(s, seat, s.wanted if s.rules == RLCARD else shown)
    remove(s.cards[seat], kind)
    s.sizes[seat] -= 1
    if s.phase == DRAWN:
        s.drawn = NOBODY
        free_place(s, seat, int64(s.groups[seat]) - 1)
        leave_stock(s, kind)
        write_log(s, seat, action, 1)
    else:
        leave_hand(s, seat, kind)
        write_log(s, seat, action, 0)
    add(s.cards[PILE], kind)
    set_top(s, kind, action // ACTIONS)
    if s.sizes[seat] == 0:
        s.gone_out = seat
    act(s, seat, trait)


@kernel
def act(s: Any, seat: int, trait: int) -> None:
    """Let a card that `seat` has laid act on the seats after it."""
    s.phase = PLAY
    following = after(s, seat)
    if trait >= SKIP:
        if trait == REVERSE and (s.seats > 2 or s.rules == RLCARD):
            s.backwards = 1 - s.backwards
            following = after(s, seat)
        elif trait <= REVERSE:
            following = after(s, following)
        elif trait == FOUR or (trait == DRAW_TWO and (not s.stacking or s.gone_out != NOBODY)):
            s.taker = following
            s.owed = 4 if trait == FOUR else s.stacked + 2
            s.stacked = 0
        elif trait == DRAW_TWO:
            s.stacked += 2
    s.seat = following


@kernel
def after(s: Any, seat: int) -> int:
    """Return the seat that comes next."""
    if s.backwards:
        return seat - 1 if seat > 0 else int64(s.seats) - 1
    return seat + 1 if seat + 1 < s.seats else 0


@kernel
def settle(s: Any) -> None:
    """Let seats that owe cards draw them, as far as the stock lasts; end a round that is over.

    Kernels do not call each other in a circle; a drawn card that makes another seat draw comes
    round in this loop.
    """
    while s.owed:
        seat = int64(s.taker)
        left = int64(s.stock_end) - int64(s.stock_at)
        if s.rules == RLCARD:
            short = left < s.owed and s.cards[PILE, 0] != 0
        else:
            short = left == 0 and count_bits(s.cards[PILE, 0]) + count_bits(s.cards[PILE, 1]) > 1
        if short:
            s.phase = RESHUFFLE
            return
        if left and s.own_turn:
            s.own_turn = 0
            s.owed = 0
            write_log(s, seat, DRAW, 1)
            draw_in_turn(s, seat)
            continue
        if left:
            s.owed -= 1
            s.taken += 1
            draw_card(s, seat)
        else:  # all cards are in the hands
            s.owed = 0
        if s.owed == 0:
            write_log(s, seat, TOOK, int64(s.taken))
            s.taken = 0
            s.own_turn = 0
            s.phase = PLAY
            s.seat = after(s, seat)
    if s.gone_out != NOBODY:
        end_round(s)


@kernel
def draw_in_turn(s: Any, seat: int) -> None:
    """Draw the one card of a turn, which may be played at once."""
    s.phase = PLAY
    if s.rules == RLCARD:
        kind = int64(s.stock[s.stock_at])
        if kind in (WILD, FOUR):
            leave_stock(s, kind)
            add(s.cards[PILE], pop_stock(s))
            s.top = kind
            s.phase = COLOUR
        elif kind // ACTIONS == s.colour:
            leave_stock(s, kind)
            add(s.cards[PILE], pop_stock(s))
            set_top(s, kind, kind // ACTIONS)
            write_log(s, seat, kind, 1)
            act(s, seat, kind % ACTIONS)
        else:
            draw_card(s, seat)
            bar_last(s, seat, (ONE_COLOUR << (ACTIONS * int64(s.colour))) | WILD_BIT | FOUR_BIT)
            s.seat = after(s, seat)
        return
    kind = draw_card(s, seat)
    if s.keep_drawn:
        s.drawn = kind
        s.phase = DRAWN
    elif choices(s, bit(kind), s.cards[seat, 0]):
        bar_last(s, seat, ALL_KINDS & ~(s.wanted | FOUR_BIT))
        s.drawn = kind
        s.phase = DRAWN
    else:
        # A seat that draws voluntarily may hold the colour; then a wild draw four does not fit.
        bar_last(s, seat, s.wanted | (0 if s.voluntary_draw else FOUR_BIT))
        s.seat = after(s, seat)


@kernel
def pop_stock(s: Any) -> int:
    """Take the next card from the stock."""
    kind = int64(s.stock[s.stock_at])
    s.stock[s.stock_at] = NOBODY
    s.stock_at += 1
    return kind


@kernel
def draw_card(s: Any, seat: int) -> int:
    """Put the next card of the stock into a hand and return it."""
    kind = pop_stock(s)
    add(s.cards[seat], kind)
    s.sizes[seat] += 1
    occupy(s, seat, s.stock_bar)
    return kind


@kernel
def bar_last(s: Any, seat: int, kinds: int) -> None:
    """Note what the card drawn last is not."""
    last = int64(s.groups[seat]) - 1
    barred = s.barred[seat, last] | kinds
    free_place(s, seat, last)
    occupy(s, seat, barred)


@kernel
def set_top(s: Any, kind: int, colour: int) -> None:
    """Note the top card and the colour in force."""
    s.top = kind
    s.colour = colour
    s.cut = NOBODY
    s.wanted = (int64(ONE_COLOUR) << (ACTIONS * colour)) | FITTING[kind % ACTIONS] | WILD_BIT


@kernel
def end_round(s: Any) -> None:
    """Score the other hands for the seat that went out, and deal again if the match goes on."""
    seat = int64(s.gone_out)
    s.phase = FINISHED
    if not s.target:
        s.winner = seat
        return
    write_log(s, seat, WENT_OUT, 0)
    s.scores[seat] += hands_value(s)
    if s.scores[seat] >= s.target:
        s.winner = seat
    elif s.plies < s.bound:
        s.rounds += 1
        s.phase = DEAL


@kernel
def hands_value(s: Any) -> int:
    """Return what all hands together are worth."""
    total = 0
    for seat in range(int64(s.seats)):
        total += hand_value(s.cards[seat])
    return total


@kernel
def write_log(s: Any, seat: int, what: int, more: int) -> None:
    """Write what all seats have seen into the log."""
    slot = int64(s.logged) % LOG
    s.log_seat[slot] = seat
    s.log_what[slot] = what
    s.log_more[slot] = more
    s.logged += 1


@kernel
def returns(s: Any, seat: int) -> float:
    """Return 1 for the winner, an equal share of -1 for the others, 0 in a tie."""
    if s.winner == NOBODY:
        return 0.0
    if s.winner == seat:
        return 1.0
    return -1.0 / (int64(s.seats) - 1)


@kernel
def points(s: Any, seat: int) -> float:
    """Return the score of a match; of one round the value of all other hands for the winner."""
    if s.target:
        return float(s.scores[seat])
    return float(hands_value(s)) if s.winner == seat else 0.0


@kernel
def conceal(s: Any, seat: int) -> None:
    """Erase the other hands, what another seat has just drawn, and the order of the stock."""
    for other in range(int64(s.seats)):
        if other != seat:
            s.cards[other, 0] = 0
            s.cards[other, 1] = 0
    if s.seat != seat:
        s.drawn = NOBODY
    for i in range(DECK):
        s.stock[i] = NOBODY


@kernel
def imagine(s: Any, seat: int, rng: Any) -> bool:
    """Fill the hidden places and the stock with the unseen cards, uniformly."""
    drawer = int64(s.seat) if s.phase == DRAWN else -1
    if not imagine_cards(s, seat, drawer, rng):
        return False
    if s.phase == DRAWN and not s.keep_drawn:  # it is known that the card drawn can be played
        return choices(s, bit(s.drawn), s.cards[s.seat, 0]) != 0
    return True
