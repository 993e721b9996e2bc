"""Crazy Eights: shed all cards by matching rank or suit; eights are wild.

Rules: "Development of Artificial Intelligence players for the game Crazy 8", section 2.2, with what
it leaves open settled as follows. Cards are dealt one at a time in turn from seat 0, which also
moves first; the next card is the start card (an eight counts as its own suit), the rest is the
stock. A seat that cannot play draws automatically until it can. The winner scores the other
hands. The game is a tie when a draw takes the last card while every seat holds more than one; if
some seat holds a single card play goes on without a stock, a seat that cannot play passes, and
passes by all seats in a row are a tie. So are MAX_PLIES actions, which only `reshuffle` can reach.

Options: `seats` 2-4, `hand_size` 1-12, `reshuffle` (the discards below the top card become a new
stock when the old one runs out), `optional_draw` (drawing one card is an action at any time).

Action ids
     0..47  play a card that is no eight, in the order of card ids
    48..63  play an eight: 48 + 4 * (its suit) + (suit declared)
        64  pass: only without a stock and with nothing playable
        65  draw one card: only with `optional_draw`

What seats learn of each other's hands, and how worlds are sampled: `hidden_hands`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cardlab.engine.cards import (
    ALL_CARDS,
    SUIT_NAMES,
    SUITS,
    card_text,
    cards_in,
    cards_text,
    parse_card,
)
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import DEALER, OVER, Description, Event, Game, Zone, record_type
from cardlab.engine.hidden_hands import bar, occupy, vacate
from cardlab.engine.kernel import bit, count_bits, int64, kernel, lowest_bit
from cardlab.engine.seeding import branch
from cardlab.games.crazy_eights import PACKAGE, hidden_hands
from cardlab.games.crazy_eights.hidden_hands import (
    DECK,
    GROUPS,
    NOBODY,
    lay_unseen,
    make_room,
)

MAX_SEATS = 4
FIRST_EIGHT, EIGHT_ACTIONS, PASS, DRAW = 28, 48, 64, 65
NUM_ACTIONS = DRAW + 1
MAX_PLIES = 1000
LOG = 64

DEAL, RESHUFFLE, PLAY, FINISHED = range(4)

EIGHTS = 0xF << FIRST_EIGHT
ONE_SUIT = 0x1111111111111
ONE_RANK = 0xF

STATE = record_type(
    [
        ("hands", "i8", (MAX_SEATS,)),  # a set of cards for each seat
        ("barred", "i8", (MAX_SEATS, GROUPS)),  # cards that the places of a group cannot hold
        ("discards", "i8"),  # the pile, top card included
        ("fresh", "i8"),  # the cards of which the stock was last made
        ("plies", "u2"),  # actions taken so far
        ("places", "u1", (MAX_SEATS, GROUPS)),  # how many places of a hand a group has
        ("groups", "u1", (MAX_SEATS,)),  # how many groups of places a seat's hand has
        ("sizes", "u1", (MAX_SEATS,)),  # cards in each hand
        ("stock", "u1", (DECK,)),  # in drawing order; 255 where a card has been drawn
        ("stock_at", "u1"),  # where the next card of the stock lies
        ("stock_end", "u1"),  # where the stock ends
        ("top", "u1"),  # the top card of the pile
        ("suit", "u1"),  # the suit in force
        ("phase", "u1"),  # 0 deal, 1 reshuffle, 2 play, 3 finished
        ("seat", "u1"),  # the seat to move
        ("seats", "u1"),  # how many play
        ("winner", "u1"),  # the seat that won; 255: nobody
        ("passes", "u1"),  # passes in a row
        ("drew", "u1"),  # cards drawn by the seat to move in this turn
        ("hand_size", "u1"),  # the option; the next two are options, too
        ("reshuffle", "u1"),  # 1: the discards become a new stock
        ("optional_draw", "u1"),  # 1: drawing is an action
        ("log_seat", "u1", (LOG,)),  # the last 64 actions, action n at n % 64: who
        ("log_action", "u1", (LOG,)),  # which action
        ("log_drew", "u1", (LOG,)),  # cards drawn before the action
    ]
)


def fresh(*, seats: int, hand_size: int, reshuffle: bool, optional_draw: bool) -> Any:
    """Return an array of one game that waits for the deal."""
    state = np.zeros(1, dtype=STATE)
    s = state[0]
    s.seats, s.hand_size, s.reshuffle, s.optional_draw = seats, hand_size, reshuffle, optional_draw
    s.phase, s.winner, s.top = DEAL, NOBODY, NOBODY
    s.stock[:] = NOBODY
    return state


@kernel
def mover(s: Any) -> int:
    """Return the seat to move, DEALER or OVER."""
    if s.phase == PLAY:
        return int64(s.seat)
    if s.phase == FINISHED:
        return OVER
    return DEALER


@kernel
def deal(s: Any, order: Any) -> None:
    """Deal a new game, or make a new stock of the discards below the top card."""
    if s.phase == DEAL:
        seats = int64(s.seats)
        dealt = seats * int64(s.hand_size)
        for i in range(dealt):
            s.hands[i % seats] |= bit(order[i])
        for seat in range(seats):
            s.sizes[seat] = s.hand_size
            s.places[seat, 0] = s.hand_size
            s.groups[seat] = 1
        s.top = order[dealt]
        s.suit = order[dealt] & 3
        s.discards = bit(order[dealt])
        s.fresh = ALL_CARDS
        s.stock_end = DECK - 1 - dealt
        for i in range(DECK - 1 - dealt):
            s.stock[i] = order[dealt + 1 + i]
    else:
        s.fresh = s.discards & ~bit(s.top)
        s.discards = bit(s.top)
        s.stock_at = 0
        end = 0
        for i in range(DECK):
            if s.fresh & bit(order[i]):
                s.stock[end] = order[i]
                end += 1
        s.stock_end = end
        for seat in range(int64(s.seats)):
            bar(s, seat, s.fresh)
    draw_if_forced(s)


@kernel
def playable(s: Any) -> int:
    """Return the set of cards that match the top card, or are eights."""
    suit = ONE_SUIT << int64(s.suit)
    rank = ONE_RANK << (int64(s.top) & ~3)
    return suit | rank | EIGHTS


@kernel
def legal(s: Any, out: Any) -> int:
    """Write the legal actions in ascending order and return their number."""
    count = 0
    if s.phase == PLAY:
        cards = s.hands[s.seat] & playable(s)
        rest = cards & ~EIGHTS
        while rest:
            card = lowest_bit(rest)
            rest &= rest - 1
            out[count] = card if card < FIRST_EIGHT else card - 4
            count += 1
        rest = cards & EIGHTS
        while rest:
            first = EIGHT_ACTIONS + 4 * (lowest_bit(rest) - FIRST_EIGHT)
            rest &= rest - 1
            for suit in range(4):
                out[count] = first + suit
                count += 1
        if s.stock_at == s.stock_end:
            if count == 0:
                out[0] = PASS
                count = 1
        elif s.optional_draw:
            out[count] = DRAW
            count += 1
    return count


@kernel
def apply(s: Any, action: int) -> None:
    """Play, pass or draw for the seat to move, then let the next seat draw if it must."""
    seat = int64(s.seat)
    slot = int64(s.plies) % LOG
    s.log_seat[slot] = seat
    s.log_action[slot] = action
    s.log_drew[slot] = s.drew
    s.drew = 0
    s.plies += 1
    if action == DRAW:
        draw(s, seat, ~s.fresh)
        if s.plies == MAX_PLIES:
            s.phase = FINISHED
        return
    if action == PASS:
        bar(s, seat, playable(s))
        s.passes += 1
    else:
        if action < EIGHT_ACTIONS:
            card = action if action < FIRST_EIGHT else action + 4
            suit = card & 3
        else:
            card = FIRST_EIGHT + ((action - EIGHT_ACTIONS) >> 2)
            suit = action & 3
        s.hands[seat] &= ~bit(card)
        s.sizes[seat] -= 1
        s.discards |= bit(card)
        s.top = card
        s.suit = suit
        s.passes = 0
        vacate(s, seat, bit(card))
        if s.sizes[seat] == 0:
            s.winner = seat
            s.phase = FINISHED
            return
    if s.passes == s.seats or s.plies == MAX_PLIES:
        s.phase = FINISHED
        return
    s.seat = seat + 1 if seat + 1 < s.seats else 0
    draw_if_forced(s)


@kernel
def draw_if_forced(s: Any) -> None:
    """Start the turn of the seat to move: without the option it draws until it can play."""
    s.phase = PLAY
    if s.optional_draw:
        return
    seat = int64(s.seat)
    wanted = playable(s)
    while s.phase == PLAY and s.stock_at < s.stock_end and not (s.hands[seat] & wanted):
        bar(s, seat, wanted)
        if bit(s.stock[s.stock_at]) & wanted:
            draw(s, seat, ~(s.fresh & wanted))
        else:
            draw(s, seat, ~s.fresh | wanted)


@kernel
def draw(s: Any, seat: int, barred: int) -> None:
    """Take one card, known to others as none of `barred`; an empty stock may end the game."""
    s.hands[seat] |= bit(s.stock[s.stock_at])
    s.stock[s.stock_at] = NOBODY
    s.stock_at += 1
    s.sizes[seat] += 1
    s.drew += 1
    make_room(s, seat, barred)
    occupy(s, seat, barred)
    if s.stock_at == s.stock_end:
        if s.reshuffle and s.discards != bit(s.top):
            s.phase = RESHUFFLE
            return
        for other in range(int64(s.seats)):
            if s.sizes[other] == 1:
                return
        s.phase = FINISHED


@kernel
def imagine(s: Any, seat: int, rng: Any) -> bool:
    """Lay the unseen cards uniformly; another seat that moves without drawing can play."""
    if not lay_unseen(s, seat, rng):
        return False
    if s.phase != PLAY or s.seat == seat or s.optional_draw or s.stock_at == s.stock_end:
        return True
    return s.hands[s.seat] & playable(s) != 0


@kernel
def hand_value(cards: int) -> int:
    """Return what a hand is worth: eights 50, court cards 10, others their face value."""
    total = 0
    for rank in range(7):
        total += (rank + 1) * count_bits(cards & (ONE_RANK << (4 * rank)))
    total += 50 * count_bits(cards & EIGHTS)
    total += 9 * count_bits(cards & (ONE_RANK << 32))
    return total + 10 * count_bits(cards >> 36)


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
    """Return the value of all other hands for the winner, nothing for anyone else."""
    total = 0
    if s.winner == seat:
        for other in range(int64(s.seats)):
            total += hand_value(s.hands[other])
    return float(total)


@kernel
def key(s: Any) -> int:
    """Return a number that states with the same future share: hands, pile's top, stock, mover."""
    x = int64(1)
    for seat in range(int64(s.seats)):
        x = branch(x, s.hands[seat])  # one after the other: cards must not cancel between hands
    small = int64(s.top) | int64(s.suit) << 8 | int64(s.seat) << 16 | int64(s.stock_at) << 24
    return branch(x, small | int64(s.passes) << 32 | int64(s.phase) << 40)


FAULTS = (
    "sound",
    "a card is missing or lies in two places",
    "a hand has another size than its count",
    "the top card is not on the pile",
    "a hand has more or fewer places than cards",
    "a hand holds a card that no place of it may hold",
    "the points are not the cards of the other hands",
)


@kernel
def audit(s: Any) -> int:
    """Return 0 if the record is sound, otherwise the number of a fault."""
    if s.phase == DEAL:
        return 0
    cards = s.discards
    total = count_bits(s.discards)
    for i in range(int64(s.stock_at), int64(s.stock_end)):
        cards |= bit(s.stock[i])
        total += 1
    worth = 0
    for seat in range(int64(s.seats)):
        hand = s.hands[seat]
        cards |= hand
        total += count_bits(hand)
        if count_bits(hand) != s.sizes[seat]:
            return 2
        places = 0
        held = int64(0)
        for group in range(int64(s.groups[seat])):
            places += int64(s.places[seat, group])
            held |= ~s.barred[seat, group]
        if places != s.sizes[seat]:
            return 4
        if hand & ~held:
            return 5
        while hand:
            rank = lowest_bit(hand) >> 2
            hand &= hand - 1
            worth += 50 if rank == 7 else min(rank + 1, 10)
    if cards != ALL_CARDS or total != DECK:
        return 1
    if not s.discards & bit(s.top):
        return 3
    if s.phase == FINISHED:
        for seat in range(int64(s.seats)):
            if points(s, seat) != (worth if s.winner == seat else 0):
                return 6
    return 0


def action_text(action: int) -> str:
    """Return an action in words: `7H`, `8H=S` (the eight of hearts for spades), `pass`, `draw`."""
    if action == PASS:
        return "pass"
    if action == DRAW:
        return "draw"
    if action < EIGHT_ACTIONS:
        return card_text(action if action < FIRST_EIGHT else action + 4)
    eight, suit = divmod(action - EIGHT_ACTIONS, 4)
    return f"{card_text(FIRST_EIGHT + eight)}={SUITS[suit]}"


def parse_action(text: str) -> int:
    """Return the action that a person means by `7h`, `8h=s`, `8h s`, `pass` or `draw`."""
    clean = text.strip().upper().replace("=", " ")
    if clean in ("PASS", "DRAW"):
        return PASS if clean == "PASS" else DRAW
    name, _, declared = clean.partition(" ")
    if not declared and len(name) == 3 and not name.startswith("10"):
        name, declared = name[:2], name[2]
    card = parse_card(name)
    declared = declared.strip()[:1]
    if card // 4 != FIRST_EIGHT // 4:
        if declared:
            raise CardlabError(
                f"{card_text(card)} is no eight and declares no suit; write "
                f"{card_text(card)!r} alone"
            )
        return card if card < FIRST_EIGHT else card - 4
    if not declared or declared not in SUITS:
        raise CardlabError(
            f"{card_text(card)} must declare a suit; write it as {card_text(card)}=C, =D, =H or =S"
        )
    return EIGHT_ACTIONS + 4 * (card - FIRST_EIGHT) + SUITS.index(declared)


def state_text(s: Any) -> str:
    """Return a state or a view as a few lines of text."""
    if s.phase == DEAL:
        return f"crazy_eights, {s.seats} seats, not dealt"
    stock = int(s.stock_end) - int(s.stock_at)
    head = f"top {card_text(int(s.top))}, suit {SUITS[int(s.suit)]}, stock {stock}"
    lines = [f"ply {s.plies}: {head}"]
    for seat in range(int(s.seats)):
        cards = cards_text(cards_in(s.hands[seat])) or f"{s.sizes[seat]} cards"
        lines.append(f"  seat {seat}{'*' if s.phase == PLAY and s.seat == seat else ' '} {cards}")
    if s.phase == RESHUFFLE:
        lines.append("  the discards are about to be shuffled")
    if s.phase == FINISHED:
        lines.append("  tie" if s.winner == NOBODY else f"  seat {s.winner} wins")
    return "\n".join(lines)


def describe(s: Any, seat: int) -> Description:
    """Return what `seat` knows as plain data."""
    zones = []
    for other in range(int(s.seats)):
        cards = tuple(card_text(card) for card in cards_in(s.hands[other])) if other == seat else ()
        zones.append(Zone("hand", int(s.sizes[other]), cards, seat=other))
    zones.append(Zone("stock", int(s.stock_end) - int(s.stock_at)))
    if s.phase != DEAL:
        below_top = cards_in(int(s.discards) & ~(1 << int(s.top)))
        pile = (card_text(int(s.top)), *(card_text(card) for card in below_top))
        zones.append(Zone("pile", len(pile), pile))
    facts: dict[str, str | int] = {"suit": SUIT_NAMES[int(s.suit)]} if s.phase != DEAL else {}
    if s.phase == PLAY and s.drew and not s.optional_draw:
        facts["you drew" if s.seat == seat else f"seat {s.seat} drew"] = int(s.drew)
    if s.phase == FINISHED:
        facts["result"] = "tie" if s.winner == NOBODY else f"seat {s.winner} wins"
    return Description(
        seat=seat,
        seats=int(s.seats),
        to_move=int(s.seat) if s.phase == PLAY else None,
        zones=tuple(zones),
        facts=facts,
        events=tuple(events(s)),
    )


def events(s: Any) -> list[Event]:
    """Return the last actions in words, oldest first."""
    found = []
    plies = int(s.plies)
    entries = list(
        zip(s.log_seat.tolist(), s.log_action.tolist(), s.log_drew.tolist(), strict=True)
    )
    for ply in range(max(0, plies - LOG), plies):
        seat, action, drew = entries[ply % LOG]
        if action == PASS:
            text = "passed"
        elif action == DRAW:
            text = "drew a card"
        elif action < EIGHT_ACTIONS:
            text = f"played {action_text(action)}"
        else:
            eight, suit = divmod(action - EIGHT_ACTIONS, 4)
            text = f"played {card_text(FIRST_EIGHT + eight)} and called {SUIT_NAMES[suit]}"
        if drew and not s.optional_draw:
            text = f"drew {drew} card{'s' if drew > 1 else ''} and {text}"
        found.append(Event(seat, text))
    if s.phase == FINISHED and s.drew:
        found.append(Event(int(s.seat), "drew the last card"))
    return found


GAME = Game.from_module(__name__, PACKAGE, hidden_hands)
