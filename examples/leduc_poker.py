"""Leduc poker: six cards, one private and one public card, two rounds of betting.

Rules: F. Southey and others, "Bayes' Bluff: Opponent Modelling in Poker", 2005, as OpenSpiel's
`leduc_poker` has them. The deck holds two jacks, two queens and two kings. Each seat puts one chip
into the pot and gets one card. In each round seat 0 begins; a raise is 2 chips in the first round
and 4 in the second, with at most two raises a round. Before the second round a public card is
turned up. Whoever has a pair with it wins, otherwise the higher card; equal ranks share the pot.

Action ids: 0 fold, 1 call (check if there is nothing to call), 2 raise. Points are chips won or
lost, returns are a 13th of that: no game costs more.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cardlab.engine.errors import CardlabError
from cardlab.engine.game import DEALER, OVER, Description, Event, Game, Zone, record_type
from cardlab.engine.kernel import int64, kernel
from cardlab.engine.observation import Block, from_kernel
from cardlab.engine.seeding import below

RANKS, SUITS = "JQK", "SH"  # card id: 2 x rank + suit
DECK = 6
USED_CARDS = 3
NUM_ACTIONS = 3
FOLD, CALL, RAISE = range(3)
ACTIONS = ("fold", "call", "raise")
DEAL, PLAY, FINISHED = range(3)
HIDDEN = 255
PUBLIC = 2  # the place of the public card in `cards`
ROUNDS = 2
BETS = 4  # most actions of a round
MAX_PLIES = ROUNDS * BETS
MOST_RAISES = 2
MOST_CHIPS = 13
NOBODY = 2

STATE = record_type(
    [
        ("cards", "u1", (3,)),  # of seat 0, of seat 1, public; 255: hidden
        ("chips", "u1", (2,)),  # put into the pot
        ("bets", "u1", (ROUNDS, BETS)),  # the actions of each round
        ("made", "u1", (ROUNDS,)),  # how many actions each round has had
        ("raises", "u1"),  # in this round
        ("street", "u1"),
        ("folded", "u1"),  # the seat that has folded, or NOBODY
        ("phase", "u1"),
        ("seat", "u1"),
        ("seats", "u1"),
    ]
)


def fresh() -> Any:
    """Return an array of one game that waits for the deal."""
    state = np.zeros(1, dtype=STATE)
    state[0].seats = 2
    state[0].folded = NOBODY
    state[0].cards[:] = HIDDEN
    state[0].bets[:] = HIDDEN
    state[0].chips[:] = 1
    return state


@kernel
def mover(s: Any) -> int:
    """Return the seat to move, DEALER or OVER."""
    if s.phase == DEAL:
        return DEALER
    return OVER if s.phase == FINISHED else int64(s.seat)


@kernel
def deal(s: Any, order: Any) -> None:
    """Give each seat a card, and lay the public card face down."""
    for i in range(3):
        s.cards[i] = order[i]
    s.phase = PLAY


@kernel
def legal(s: Any, out: Any) -> int:
    """Write the legal actions in ascending order and return their number."""
    if s.phase != PLAY:
        return 0
    count = 0
    if s.chips[1 - int64(s.seat)] > s.chips[int64(s.seat)]:
        out[count] = FOLD
        count += 1
    out[count] = CALL
    count += 1
    if s.raises < MOST_RAISES:
        out[count] = RAISE
        count += 1
    return count


@kernel
def apply(s: Any, action: int) -> None:
    """Fold, call or raise for the seat to move."""
    seat, number = int64(s.seat), int64(s.street)
    s.bets[number, int64(s.made[number])] = action
    s.made[number] += 1
    if action == FOLD:
        s.folded = seat
        s.phase = FINISHED
        return
    s.chips[seat] = s.chips[1 - seat]
    s.seat = 1 - seat
    if action == RAISE:
        s.chips[seat] += 2 * (number + 1)
        s.raises += 1
    elif s.made[number] > 1:  # a first check leaves the choice to the other seat
        s.seat = 0
        s.raises = 0
        s.street += 1
        if s.street == ROUNDS:
            s.phase = FINISHED


@kernel
def rank_of(card: int) -> int:
    """Return the rank of a card: 0 jack, 1 queen, 2 king."""
    return card // 2


@kernel
def strength(s: Any, seat: int) -> int:
    """Return what a seat shows: the rank of its card, more for a pair."""
    rank = rank_of(int64(s.cards[seat]))
    return rank + 3 * (rank == rank_of(int64(s.cards[PUBLIC])))


@kernel
def winner(s: Any) -> int:
    """Return the seat that wins, or NOBODY if both share the pot."""
    if s.folded != NOBODY:
        return 1 - int64(s.folded)
    first, second = strength(s, 0), strength(s, 1)
    if first == second:
        return NOBODY
    return 0 if first > second else 1


@kernel
def points(s: Any, seat: int) -> float:
    """Return the chips that a seat has won or lost."""
    who = winner(s)
    if who == NOBODY:
        return 0.0
    return float(s.chips[1 - who]) if who == seat else -float(s.chips[seat])


@kernel
def returns(s: Any, seat: int) -> float:
    """Return the chips won or lost as a part of the most that can be lost."""
    return points(s, seat) / MOST_CHIPS


@kernel
def conceal(s: Any, seat: int) -> None:
    """Erase the other card unless it was shown, and the public card until it is turned up."""
    shown = s.phase == FINISHED and s.folded == NOBODY
    if not shown:
        s.cards[1 - seat] = HIDDEN
    if s.street == 0:
        s.cards[PUBLIC] = HIDDEN


@kernel
def imagine(s: Any, seat: int, rng: Any) -> bool:
    """Fill in hidden cards with any of those that are left."""
    if s.phase == DEAL:
        return True
    for place in range(3):
        while s.cards[place] == HIDDEN:
            card = below(rng, DECK)
            if s.cards[0] != card and s.cards[1] != card and s.cards[PUBLIC] != card:
                s.cards[place] = card
    return True


FAULTS = (
    "sound",
    "a card is held twice",
    "a seat has put in more chips than two raises a round allow",
    "more than two raises in a round",
    "a round has ended with unequal chips",
)


@kernel
def audit(s: Any) -> int:
    """Return 0 if the record is sound, otherwise the number of a fault."""
    if s.phase == DEAL:
        return 0
    if s.cards[0] == s.cards[1] or s.cards[0] == s.cards[PUBLIC] or s.cards[1] == s.cards[PUBLIC]:
        return 1
    if max(s.chips[0], s.chips[1]) > MOST_CHIPS:
        return 2
    if s.raises > MOST_RAISES:
        return 3
    between = s.made[int64(s.street)] == 0 if s.street < ROUNDS else True
    if between and s.folded == NOBODY and s.chips[0] != s.chips[1]:
        return 4
    return 0


# Texts


def card_text(card: int) -> str:
    """Return a card's text, such as KH."""
    return RANKS[card // 2] + SUITS[card % 2]


def parse_card(text: str) -> int:
    """Return the card that a person means."""
    found = {card_text(card): card for card in range(DECK)}.get(text.strip().upper())
    if found is None:
        raise CardlabError(f"unknown card {text!r}; write JS, JH, QS, QH, KS or KH")
    return found


def action_text(action: int) -> str:
    """Return an action in words."""
    return ACTIONS[action]


def parse_action(text: str) -> int:
    """Return the action that a person means; a check is a call of nothing."""
    word = text.strip().lower()
    if word == "check":
        return CALL
    if word not in ACTIONS:
        raise CardlabError(f"unknown action {text!r}; write fold, call or raise")
    return ACTIONS.index(word)


def state_text(s: Any) -> str:
    """Return a state or a view in one line."""
    first, second, public = (_shown(int(card)) or "?" for card in s.cards)
    rounds = [" ".join(_actions(s, number)) for number in range(ROUNDS) if s.made[number]]
    acted = "; ".join(rounds) or "no action yet"
    return f"hands {first} {second}, public {public}, chips {s.chips[0]}-{s.chips[1]}, {acted}"


def describe(s: Any, seat: int) -> Description:
    """Return what `seat` knows as plain data."""
    zones: list[Zone] = []
    if s.phase != DEAL:
        zones = [Zone("hand", 1, _known(int(s.cards[other])), seat=other) for other in range(2)]
        zones.append(Zone("public card", 1, _known(int(s.cards[PUBLIC]))))
    facts: dict[str, str | int] = {
        "round": min(int(s.street) + 1, ROUNDS),
        "pot": int(s.chips.sum()),
        "seat 0 has put in": int(s.chips[0]),
        "seat 1 has put in": int(s.chips[1]),
    }
    return Description(
        seat=seat,
        seats=2,
        to_move=int(s.seat) if s.phase == PLAY else None,
        zones=tuple(zones),
        facts=facts,
        events=tuple(_events(s)),
    )


def _shown(card: int) -> str:
    return "" if card == HIDDEN else card_text(card)


def _known(card: int) -> tuple[str, ...]:
    return () if card == HIDDEN else (card_text(card),)


def _actions(s: Any, number: int) -> list[str]:
    return [action_text(int(action)) for action in s.bets[number, : int(s.made[number])]]


def _events(s: Any) -> list[Event]:
    """Return what has happened, in words."""
    events = []
    for number in range(ROUNDS):
        if number and s.street >= number and s.cards[PUBLIC] != HIDDEN:
            events.append(Event(None, f"the public card is {card_text(int(s.cards[PUBLIC]))}"))
        raised = False
        for turn, action in enumerate(s.bets[number, : int(s.made[number])].tolist()):
            words = ("folded", "called" if raised else "checked", f"raised by {2 * number + 2}")
            events.append(Event(turn % 2, words[action]))
            raised |= action == RAISE
    return events


# What learners see

RANK_NAMES = ("jack", "queen", "king")
WHOSE = ("I hold", "the public card is", "the other seat has shown")
SAID = ("fold", "call", "raise")
BLOCKS = [
    Block("cards", tuple(f"{who} a {rank}" for who in WHOSE for rank in RANK_NAMES)),
    Block(
        "actions",
        tuple(
            f"action {turn} of round {number} was {word}"
            for number in (1, 2)
            for turn in (1, 2, 3, 4)
            for word in SAID
        ),
    ),
    Block("round", ("the second round has begun",)),
    Block("turn", ("I am to move", "I act first in each round")),
]


@kernel
def write(s: Any, seat: int, scratch: Any, out: Any) -> None:
    """Write what a seat knows into a row of zeros."""
    for place in range(3):
        source = seat if place == 0 else PUBLIC if place == 1 else 1 - seat
        card = int64(s.cards[source])
        if card != HIDDEN:
            out[3 * place + rank_of(card)] = 1
    for number in range(ROUNDS):
        for turn in range(int64(s.made[number])):
            out[9 + 3 * (BETS * number + turn) + int64(s.bets[number, turn])] = 1
    out[33] = s.street > 0
    out[34] = mover(s) == seat
    out[35] = seat == 0


OBSERVATION = from_kernel(BLOCKS, write)


GAME = Game.from_module(
    __name__,
    title="Leduc poker",
    summary="six cards, two rounds of betting; a pair wins, and so does a good bluff",
)
