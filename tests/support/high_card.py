"""A small game from outside the package: three hidden cards each, the higher card takes a trick.

Twelve cards, two seats. The leader plays a card, the other answers, the higher one scores and
leads. Action ids are the cards 0..11.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cardlab.engine.errors import CardlabError
from cardlab.engine.game import DEALER, OVER, Description, Game, Option, Zone, record_type
from cardlab.engine.kernel import bit, count_bits, kernel, lowest_bit
from cardlab.engine.seeding import below

DEAL, PLAY, FINISHED = range(3)
NOTHING = 255
STATE = record_type(
    [
        ("hands", "i8", (2,)),
        ("played", "i8"),
        ("led", "u1"),
        ("tricks", "u1", (2,)),
        ("phase", "u1"),
        ("seat", "u1"),
        ("seats", "u1"),
    ]
)


def fresh(*, seats: int) -> Any:
    state = np.zeros(1, dtype=STATE)
    state[0].seats = seats
    state[0].led = NOTHING
    return state


@kernel
def mover(s: Any) -> int:
    if s.phase == DEAL:
        return DEALER
    return OVER if s.phase == FINISHED else np.int64(s.seat)


@kernel
def deal(s: Any, order: Any) -> None:
    for i in range(6):
        s.hands[i % 2] |= bit(order[i])
    s.phase = PLAY


@kernel
def legal(s: Any, out: Any) -> int:
    count = 0
    if s.phase == PLAY:
        rest = s.hands[s.seat]
        while rest:
            out[count] = lowest_bit(rest)
            rest &= rest - 1
            count += 1
    return count


@kernel
def apply(s: Any, action: int) -> None:
    seat = np.int64(s.seat)
    s.hands[seat] &= ~bit(action)
    s.played |= bit(action)
    if s.led == NOTHING:
        s.led = action
        s.seat = 1 - seat
        return
    winner = seat if action > s.led else 1 - seat
    s.led = NOTHING
    s.tricks[winner] += 1
    s.seat = winner
    if count_bits(s.played) == 6:
        s.phase = FINISHED


@kernel
def returns(s: Any, seat: int) -> float:
    return 1.0 if s.tricks[seat] > 1 else -1.0


@kernel
def points(s: Any, seat: int) -> float:
    return float(s.tricks[seat])


@kernel
def conceal(s: Any, seat: int) -> None:
    s.hands[1 - seat] = 0


@kernel
def imagine(s: Any, seat: int, rng: Any) -> bool:
    other = 1 - seat
    gone = count_bits(s.played)
    led_by_other = 1 if s.led != NOTHING and s.seat == seat else 0
    need = 3 - gone // 2 - led_by_other
    s.hands[other] = 0
    while need:
        card = below(rng, 12)
        if not bit(card) & (s.hands[0] | s.hands[1] | s.played):
            s.hands[other] |= bit(card)
            need -= 1
    return True


@kernel
def audit(s: Any) -> int:
    if s.phase == DEAL:
        return 0
    return 0 if count_bits(s.hands[0] | s.hands[1] | s.played) == 6 else 1


def card_text(card: int) -> str:
    return f"n{card}"


def parse_card(text: str) -> int:
    if text[:1].lower() == "n" and text[1:].isdigit() and int(text[1:]) < 12:
        return int(text[1:])
    raise CardlabError(f"unknown card {text!r}; write n0 to n11")


def state_text(s: Any) -> str:
    return f"hands {s.hands[0]:b} {s.hands[1]:b} tricks {s.tricks[0]} {s.tricks[1]}"


def describe(s: Any, seat: int) -> Description:
    hand = tuple(card_text(i) for i in range(12) if int(s.hands[seat]) >> i & 1)
    pile = tuple(card_text(i) for i in range(12) if int(s.played) >> i & 1)
    return Description(
        seat=seat,
        seats=2,
        to_move=int(s.seat) if s.phase == PLAY else None,
        zones=(Zone("hand", len(hand), hand, seat), Zone("pile", len(pile), pile)),
        facts={},
        events=(),
    )


GAME = Game(
    reference="tests.support.high_card:GAME",
    name="high_card",
    title="High Card",
    summary="the higher card takes the trick",
    rules_version=1,
    state=STATE,
    num_actions=12,
    deck=12,
    max_plies=6,
    options=(Option("seats", 2, (2,), "how many play"),),
    fresh=fresh,
    mover=mover,
    deal=deal,
    legal=legal,
    apply=apply,
    returns=returns,
    points=points,
    conceal=conceal,
    imagine=imagine,
    audit=audit,
    faults=("sound", "a card is missing"),
    card_text=card_text,
    parse_card=parse_card,
    action_text=card_text,
    parse_action=parse_card,
    state_text=state_text,
    describe=describe,
)
