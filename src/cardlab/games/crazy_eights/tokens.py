"""What a card transformer sees of Crazy Eights: a row of bytes for each decision, by a kernel.

Tokens: the 52 cards, then "an eight for clubs, diamonds, hearts, spades", pass, draw. It makes no
difference which eight is played, so one token stands for all of them: the lowest is played.
`networks.token_networks` expands rows to features; `FEATURES` lists these.

A row, only from what the seat has seen; other seats in the order in which they will play:

      0..51   where each card is (a zone), plus LEGAL where the card can be laid now
     52..103  when it was laid: 0 not as far as the log reaches, else 1 + 8 x seat (0: mine) + how
              many actions ago (0 to 7, more count as 7)
    104..259  how many places of the next, second next, third next hand may hold it, if it is unseen
    260..271  for each of these hands: places that can hold no card of clubs, diamonds, hearts,
              spades but eights
    272..275  the suit in force, one byte each
    276..     see `EIGHT_LEGAL` and the places after it

Suits are exchangeable: `symmetries` tells how a row changes with each of their 24 orders.
"""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np

from cardlab.engine.cards import ALL_CARDS
from cardlab.engine.game import Array
from cardlab.engine.kernel import bit, int64, kernel, lowest_bit
from cardlab.engine.token_blocks import number_blocks, write_zone
from cardlab.games.crazy_eights.hidden_hands import DECK
from cardlab.games.crazy_eights.rules import (
    EIGHT_ACTIONS,
    EIGHTS,
    FIRST_EIGHT,
    LOG,
    MAX_SEATS,
    ONE_SUIT,
    PASS,
    playable,
)

ENCODING = 1  # raised whenever a row or a feature changes its meaning
EIGHT_TOKEN, PASS_TOKEN, DRAW_TOKEN = DECK, DECK + 4, DECK + 5
TOKENS = DRAW_TOKEN + 1
MOST_CHOICES = 12 + 3 + 4 + 1  # of the suit, of the rank, suits for an eight, draw
OTHERS = MAX_SEATS - 1

UNSEEN, MINE, PILE, TOP = range(4)
ZONES = ("unseen", "in my hand", "on the pile", "its top")
LEGAL = 8
AGES = 8

LAID, HELD = DECK, 2 * DECK
LACKING = HELD + OTHERS * DECK
SUIT = LACKING + 4 * OTHERS
(EIGHT_LEGAL, PASS_LEGAL, DRAW_LEGAL, SIZES) = range(SUIT + 4, SUIT + 8)
STOCK = SIZES + MAX_SEATS
DREW, PASSES, SEATS, RESHUFFLES, DRAWS_AT_WILL, PLIES = range(STOCK + 1, STOCK + 7)
WIDTH = PLIES + 1
BYTE = 255

HANDS = "of the next, second next, third next hand"
FEATURES, TOKEN_FEATURES, SHARED_FEATURES = number_blocks(
    (
        (4, "zone", "the card is " + ", ".join(ZONES)),
        (1, "legal", "it can be chosen now"),
        (MAX_SEATS, "laid by", "it was laid by me, the next, second next, third next seat"),
        (AGES, "laid", "so many actions ago: 0 to 6, 7 or more"),
        (OTHERS, "held", f"places {HANDS} that may hold it, if it is unseen; / 5"),
        (OTHERS, "lacking", f"places {HANDS} that can hold nothing of its suit but eights; / 5"),
        (2, "mine", "cards of its suit, of its rank in my hand; / 5"),
        (2, "left", "cards of its suit, of its rank that are unseen; / 13, / 4"),
        (1, "in force", "its suit is in force"),
        (4, "suit", "clubs, diamonds, hearts, spades"),
        (13, "rank", "ace, 2 ... king; of a token for an eight: 8"),
        (3, "special", "the token is an eight for a suit, pass, draw"),
    ),
    (
        (4, "suit in force", "clubs, diamonds, hearts, spades"),
        (13, "top", "rank of the top card"),
        (MAX_SEATS, "cards", f"in my hand, then {HANDS}; / 8"),
        (3 * MAX_SEATS, "few", "each of these hands has one card, at most two, at most three"),
        (1, "stock", "cards in the stock / 52"),
        (1, "drawn", "cards that I drew in this turn / 5"),
        (1, "passes", "passes in a row / 4"),
        (OTHERS, "seats", "there are 2, 3, 4 seats"),
        (2, "rules", "reshuffle, optional_draw"),
        (1, "plies", "actions so far / 50, at most 255 of them"),
    ),
)


@kernel
def token_of_action(action: int) -> int:
    """Return the token that stands for an action."""
    if action >= PASS:
        return PASS_TOKEN + action - PASS
    if action >= EIGHT_ACTIONS:
        return EIGHT_TOKEN + (action & 3)
    return action if action < FIRST_EIGHT else action + 4


@kernel
def action_of_token(s: Any, token: int) -> int:
    """Return the action that a token means for the seat to move."""
    if token >= PASS_TOKEN:
        return PASS + token - PASS_TOKEN
    if token >= EIGHT_TOKEN:
        eight = lowest_bit(s.hands[s.seat] & EIGHTS) - FIRST_EIGHT
        return EIGHT_ACTIONS + 4 * eight + token - EIGHT_TOKEN
    return token if token < FIRST_EIGHT else token - 4


@kernel
def write_choices(s: Any, seat: int, out: Any) -> int:
    """Write the tokens that can be chosen, the first repeated to the end; return their number."""
    count = 0
    cards = s.hands[seat] & playable(s)
    rest = cards & ~EIGHTS
    while rest:
        out[count] = lowest_bit(rest)
        rest &= rest - 1
        count += 1
    if cards & EIGHTS:
        for suit in range(4):
            out[count] = EIGHT_TOKEN + suit
            count += 1
    if s.stock_at == s.stock_end:
        if count == 0:
            out[0] = PASS_TOKEN
            count = 1
    elif s.optional_draw:
        out[count] = DRAW_TOKEN
        count += 1
    for i in range(count, MOST_CHOICES):
        out[i] = out[0]
    return count


@kernel
def write_laid(s: Any, seat: int, out: Any) -> None:
    """Write who laid which card when, as far as the log reaches; later plays overwrite."""
    plies, seats = int64(s.plies), int64(s.seats)
    for ply in range(max(0, plies - LOG), plies):
        action = int64(s.log_action[ply % LOG])
        if action >= PASS:
            continue
        card = action if action < FIRST_EIGHT else action + 4
        if action >= EIGHT_ACTIONS:
            card = FIRST_EIGHT + ((action - EIGHT_ACTIONS) >> 2)
        if s.discards & bit(card):  # not shuffled into the stock since
            who = (int64(s.log_seat[ply % LOG]) - seat + seats) % seats
            out[LAID + card] = 1 + AGES * who + min(plies - 1 - ply, AGES - 1)


@kernel
def write_others(s: Any, seat: int, unseen: int, out: Any) -> None:
    """Write what is known of the other hands."""
    seats = int64(s.seats)
    for place in range(seats - 1):
        other = (seat + 1 + place) % seats
        out[SIZES + 1 + place] = s.sizes[other]
        for group in range(int64(s.groups[other])):
            places = int64(s.places[other, group])
            may = unseen & ~s.barred[other, group]
            for suit in range(4):
                if not may & (ONE_SUIT << suit) & ~EIGHTS:
                    out[LACKING + 4 * place + suit] += places
            while may:
                out[HELD + DECK * place + lowest_bit(may)] += places
                may &= may - 1


@kernel
def write_view(s: Any, seat: int, out: Any) -> None:
    """Write the row of the decision that `seat` is to take."""
    for i in range(WIDTH):
        out[i] = 0
    hand = s.hands[seat]
    cards = hand & playable(s)
    stock = int64(s.stock_end) - int64(s.stock_at)
    write_zone(s.discards, PILE, out)
    write_zone(hand, MINE, out)
    write_zone(cards & ~EIGHTS, MINE + LEGAL, out)
    out[s.top] = TOP
    write_laid(s, seat, out)
    write_others(s, seat, ALL_CARDS & ~(hand | s.discards), out)
    out[SUIT + int64(s.suit)] = 1
    out[EIGHT_LEGAL] = cards & EIGHTS != 0
    out[PASS_LEGAL] = stock == 0 and cards == 0
    out[DRAW_LEGAL] = stock > 0 and s.optional_draw != 0
    out[SIZES] = s.sizes[seat]
    out[STOCK] = stock
    out[DREW] = s.drew
    out[PASSES] = s.passes
    out[SEATS] = s.seats
    out[RESHUFFLES] = s.reshuffle
    out[DRAWS_AT_WILL] = s.optional_draw
    out[PLIES] = min(int64(s.plies), BYTE)


def symmetries() -> tuple[Array, Array]:
    """Return for each order of the suits where the bytes of its row come from, and its tokens."""
    orders = np.array(list(permutations(range(4))))  # suit k becomes suit orders[which, k]
    sources = np.tile(np.arange(WIDTH), (len(orders), 1))
    moves = np.tile(np.arange(TOKENS), (len(orders), 1))
    places = np.arange(SUIT + 4)  # up to here four neighbours are four suits, all the way
    for source, move, order in zip(sources, moves, orders, strict=True):
        source[(places & ~3) + order[places & 3]] = places
        tokens = np.arange(PASS_TOKEN)
        move[tokens] = (tokens & ~3) + order[tokens & 3]
    return sources, moves
