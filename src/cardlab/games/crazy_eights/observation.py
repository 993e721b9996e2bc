"""What a learner sees of Crazy Eights; other seats come in the order in which they play."""

from __future__ import annotations

from typing import Any

from cardlab.engine.cards import ALL_CARDS, SUIT_NAMES, card_text
from cardlab.engine.kernel import count_bits, int64, kernel
from cardlab.engine.observation import Block, from_kernel
from cardlab.games.crazy_eights.hidden_hands import DECK
from cardlab.games.crazy_eights.rules import FINISHED, MAX_SEATS

OTHERS = MAX_SEATS - 1
CARDS = [card_text(card) for card in range(DECK)]
NEXT = [f"the {word} seat after me" for word in ("first", "second", "third")]
EIGHTH, MOST = 1 / 8, DECK / 8
PER_OTHER = 3

HAND, PILE, TOP = 0, DECK, 2 * DECK
MAY_HOLD = 3 * DECK
SUIT = MAY_HOLD + OTHERS * DECK
OTHER = SUIT + 4
TABLE = OTHER + OTHERS * PER_OTHER
OWN, STOCK, DREW, PASSES, DEALT, RESHUFFLE, OPTIONAL = range(TABLE, TABLE + 7)
SEATS = TABLE + 7
MOVER = SEATS + OTHERS

BLOCKS = (
    Block("hand", tuple(f"I hold {card}" for card in CARDS), summary="I hold ..."),
    Block("pile", tuple(f"{card} is on the pile" for card in CARDS), summary="... is on the pile"),
    Block("top", tuple(f"{card} is the top card" for card in CARDS), summary="... is the top card"),
    *(
        Block(
            f"may hold, seat +{place + 1}",
            tuple(f"cards of {who} that may be {card}, / 8" for card in CARDS),
            MOST,
            f"cards of {who} that may be ..., / 8; 0 once ... is seen",
        )
        for place, who in enumerate(NEXT)
    ),
    Block("suit", tuple(f"{suit} are in force" for suit in SUIT_NAMES)),
    *(
        Block(
            f"seat +{place + 1}",
            (f"{who} exists", f"cards of {who}, / 8", f"{who} holds one card"),
            MOST,
        )
        for place, who in enumerate(NEXT)
    ),
    Block("own cards", ("cards in my hand, / 8",), MOST),
    Block("stock", ("cards in the stock, / 52",)),
    Block("drew", ("cards that the seat to move has drawn in this turn, / 8",), MOST),
    Block("passes", ("passes in a row, / 4",)),
    Block("dealt", ("cards dealt to each seat, / 12",)),
    Block("reshuffle", ("the discards are shuffled when the stock runs out",)),
    Block("optional draw", ("drawing is an action",)),
    Block("seats", tuple(f"{seats} seats play" for seats in range(2, MAX_SEATS + 1))),
    Block("mover", ("I am to move", *(f"{who} is to move" for who in NEXT))),
)


@kernel
def write(s: Any, seat: int, scratch: Any, out: Any) -> None:
    """Write what a seat has seen into a row of zeros."""
    seats = int64(s.seats)
    hand, pile = s.hands[seat], s.discards
    for card in range(DECK):
        out[HAND + card] = (hand >> card) & 1
        out[PILE + card] = (pile >> card) & 1
    if pile:
        out[TOP + int64(s.top)] = 1
        out[SUIT + int64(s.suit)] = 1
    unseen = ALL_CARDS & ~(hand | pile)
    for place in range(seats - 1):
        other = (seat + 1 + place) % seats
        at = OTHER + PER_OTHER * place
        out[at] = 1
        out[at + 1] = int64(s.sizes[other]) * EIGHTH
        out[at + 2] = s.sizes[other] == 1
        first = MAY_HOLD + DECK * place
        for group in range(int64(s.groups[other])):
            free = unseen & ~s.barred[other, group]
            share = int64(s.places[other, group]) * EIGHTH
            for card in range(DECK):
                if (free >> card) & 1:
                    out[first + card] += share
    out[OWN] = count_bits(hand) * EIGHTH
    out[STOCK] = (int64(s.stock_end) - int64(s.stock_at)) / DECK
    out[DREW] = int64(s.drew) * EIGHTH
    out[PASSES] = int64(s.passes) / MAX_SEATS
    out[DEALT] = int64(s.hand_size) / 12
    out[RESHUFFLE] = s.reshuffle
    out[OPTIONAL] = s.optional_draw
    out[SEATS + seats - 2] = 1
    if s.phase != FINISHED:
        out[MOVER + (int64(s.seat) - seat + seats) % seats] = 1


OBSERVATION = from_kernel(BLOCKS, write)
