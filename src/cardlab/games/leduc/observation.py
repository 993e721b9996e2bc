"""What learners see of Leduc poker."""

from __future__ import annotations

from typing import Any

from cardlab.engine.kernel import int64, kernel
from cardlab.engine.observation import Block, from_kernel
from cardlab.games.leduc.rules import BETS, HIDDEN, PUBLIC, ROUNDS, mover, rank_of

__all__ = ["OBSERVATION", "write"]

RANKS = ("jack", "queen", "king")
WHOSE = ("I hold", "the public card is", "the other seat has shown")
SAID = ("fold", "call", "raise")
BLOCKS = [
    Block("cards", tuple(f"{who} a {rank}" for who in WHOSE for rank in RANKS)),
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
