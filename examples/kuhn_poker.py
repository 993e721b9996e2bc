"""Kuhn poker: three cards and one bet, the smallest game in which bluffing pays.

Rules: H. W. Kuhn, "Simplified Two-Person Poker", 1950. Jack, queen and king; each seat puts one
chip into the pot and gets one card. Seat 0 begins; a seat passes or bets one chip. After a bet the
other seat bets too, and the higher card wins the pot of four, or it passes and gives the pot of
three away. Two passes: the higher card wins the pot of two. Seat 0 loses 1/18 of a chip a game if
both play as well as can be.

Action ids: 0 pass, 1 bet. Points are chips won or lost, returns are half of that.

docs/tutorials/your_own_game.md explains this file part by part.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cardlab.engine.errors import CardlabError
from cardlab.engine.game import DEALER, OVER, Description, Event, Game, Zone, record_type
from cardlab.engine.kernel import int64, kernel
from cardlab.engine.observation import Block, from_kernel
from cardlab.engine.seeding import below

# The record

CARDS = "JQK"
PASS, BET = range(2)
DEAL, PLAY, FINISHED = range(3)
HIDDEN = 255

STATE = record_type(
    [
        ("cards", "u1", (2,)),
        ("chips", "u1", (2,)),  # put into the pot
        ("bets", "u1", (3,)),  # the actions so far
        ("plies", "u1"),
        ("phase", "u1"),
        ("seat", "u1"),
        ("seats", "u1"),
    ]
)


def fresh() -> Any:
    """Return an array of one game that waits for the deal."""
    state = np.zeros(1, dtype=STATE)
    state[0].seats = 2
    state[0].cards[:] = state[0].bets[:] = HIDDEN
    state[0].chips[:] = 1
    return state


# The rules


@kernel
def mover(s: Any) -> int:
    """Return the seat to move, DEALER or OVER."""
    if s.phase == DEAL:
        return DEALER
    return OVER if s.phase == FINISHED else int64(s.seat)


@kernel
def deal(s: Any, order: Any) -> None:
    """Give each seat a card."""
    s.cards[0], s.cards[1] = order[0], order[1]
    s.phase = PLAY


@kernel
def legal(s: Any, out: Any) -> int:
    """Write the legal actions in ascending order and return their number."""
    if s.phase != PLAY:
        return 0
    out[0], out[1] = PASS, BET
    return 2


@kernel
def apply(s: Any, action: int) -> None:
    """Pass or bet for the seat to move."""
    seat = int64(s.seat)
    s.bets[s.plies] = action
    s.plies += 1
    s.chips[seat] += action
    s.seat = 1 - seat
    answered = s.plies > 1 and s.bets[int64(s.plies) - 2] == BET
    if answered or (s.plies == 2 and action == PASS):
        s.phase = FINISHED


@kernel
def winner(s: Any) -> int:
    """Return who has won: whoever put in more, otherwise the higher card."""
    if s.chips[0] != s.chips[1]:
        return 0 if s.chips[0] > s.chips[1] else 1
    return 0 if s.cards[0] > s.cards[1] else 1


@kernel
def points(s: Any, seat: int) -> float:
    """Return the chips that a seat has won or lost."""
    stake = min(int64(s.chips[0]), int64(s.chips[1]))
    return float(stake if winner(s) == seat else -stake)


@kernel
def returns(s: Any, seat: int) -> float:
    """Return the chips won or lost as a part of two."""
    return points(s, seat) / 2


# What a seat knows


@kernel
def conceal(s: Any, seat: int) -> None:
    """Erase the other card, unless both have been shown."""
    shown = s.phase == FINISHED and s.chips[0] == s.chips[1]
    if not shown:
        s.cards[1 - seat] = HIDDEN


@kernel
def imagine(s: Any, seat: int, rng: Any) -> bool:
    """Give the other seat one of the two cards that this seat does not hold."""
    if s.phase != DEAL and s.cards[1 - seat] == HIDDEN:
        card = below(rng, 2)
        s.cards[1 - seat] = card + 1 if card >= s.cards[seat] else card
    return True


FAULTS = ("sound", "both seats hold the same card", "the pot is not what was bet")


@kernel
def audit(s: Any) -> int:
    """Return 0 if the record is sound, otherwise the number of a fault."""
    if s.phase == DEAL:
        return 0
    if s.cards[0] == s.cards[1]:
        return 1
    bet = 0
    for i in range(int64(s.plies)):
        bet += int64(s.bets[i])
    return 0 if int64(s.chips[0]) + int64(s.chips[1]) == 2 + bet else 2


# Texts


def card_text(card: int) -> str:
    """Return a card's text: J, Q or K."""
    return CARDS[card]


def parse_card(text: str) -> int:
    """Return the card that a person means."""
    found = CARDS.find(text.strip().upper()) if len(text.strip()) == 1 else -1
    if found < 0:
        raise CardlabError(f"unknown card {text!r}; write J, Q or K")
    return found


def action_text(action: int) -> str:
    """Return an action in words."""
    return ("pass", "bet")[action]


def parse_action(text: str) -> int:
    """Return the action that a person means."""
    if text.strip().lower() not in ("pass", "bet"):
        raise CardlabError(f"unknown action {text!r}; write pass or bet")
    return PASS if text.strip().lower() == "pass" else BET


def state_text(s: Any) -> str:
    """Return a state or a view in one line."""
    cards = "".join("?" if card == HIDDEN else card_text(card) for card in s.cards)
    actions = " ".join(history(s)) or "no action yet"
    return f"cards {cards}, chips {s.chips[0]}-{s.chips[1]}, {actions}"


def history(s: Any) -> list[str]:
    """Return the texts of the actions so far."""
    return [action_text(int(action)) for action in s.bets[: int(s.plies)]]


def describe(s: Any, seat: int) -> Description:
    """Return what `seat` knows as plain data."""
    zones = []
    for other in range(2 if s.phase != DEAL else 0):
        known = () if s.cards[other] == HIDDEN else (card_text(int(s.cards[other])),)
        zones.append(Zone("hand", 1, known, seat=other))
    facts: dict[str, str | int] = {"pot": int(s.chips.sum())}
    if s.phase == FINISHED:
        facts["result"] = f"seat {winner(s)} wins {min(s.chips)}"
    return Description(
        seat=seat,
        seats=2,
        to_move=int(s.seat) if s.phase == PLAY else None,
        zones=tuple(zones),
        facts=facts,
        events=tuple(Event(ply % 2, ("passed", "bet")[s.bets[ply]]) for ply in range(int(s.plies))),
    )


# What learners see

WHOSE = ("I hold", "the other seat has shown")
SAID = ("pass", "bet")
BLOCKS = [
    Block("cards", tuple(f"{who} {card}" for who in WHOSE for card in CARDS)),
    Block("said", tuple(f"action {ply} was {word}" for ply in (1, 2, 3) for word in SAID)),
    Block("turn", ("I am to move", "I began")),
]


@kernel
def write(s: Any, seat: int, scratch: Any, out: Any) -> None:
    """Write what a seat knows into a row of zeros."""
    for i in range(2):
        card = int64(s.cards[(seat + i) % 2])
        if card != HIDDEN:
            out[3 * i + card] = 1
    for ply in range(int64(s.plies)):
        out[6 + 2 * ply + int64(s.bets[ply])] = 1
    out[12] = mover(s) == seat
    out[13] = seat == 0


OBSERVATION = from_kernel(BLOCKS, write)

# All of it together

GAME = Game.from_module(
    __name__,
    title="Kuhn poker",
    summary="three cards, one bet; the higher card wins unless it was bluffed away",
    num_actions=2,
    deck=3,
    used_cards=2,
    max_plies=3,
)
