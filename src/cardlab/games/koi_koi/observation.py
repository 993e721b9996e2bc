"""What a learner sees of Koi-Koi: cards by where they lie and how they came there, yaku, scores.

Read off the row that networks of this package get (`tokens.write_view`).
"""

from __future__ import annotations

from typing import Any

from cardlab.engine.kernel import int64, kernel
from cardlab.engine.observation import Block, from_kernel
from cardlab.games.koi_koi import tokens as row_of
from cardlab.games.koi_koi.cards import DECK, card_text
from cardlab.games.koi_koi.table import CALL, DISCARD, HAND, MOST_ROUNDS, STOCK, TURNS
from cardlab.games.koi_koi.tokens import write_view

LEGAL = row_of.LEGAL
ENTERED, TAKEN, KIND = row_of.ENTERED, row_of.TAKEN, row_of.KIND
I_DEAL, ROUNDS_LEFT, TURN = row_of.I_DEAL, row_of.ROUNDS_LEFT, row_of.TURN
THEIR_HAND, STOCK_LEFT, RULES = row_of.THEIR_HAND, row_of.STOCK_LEFT, row_of.RULES
MY_CALLS, MY_YAKU_POINTS, MY_YAKU = row_of.MY_CALLS, row_of.MY_YAKU_POINTS, row_of.MY_YAKU

CARDS = [card_text(card) for card in range(DECK)]
ZONES = (
    "... is in my hand",
    "... is on the field",
    "... is in my pile",
    "... is in their pile",
    "... waits for a pick",
)
ENTRIES = (
    "I discarded ...",
    "they discarded ...",
    "I drew ... from the stock",
    "they drew ... from the stock",
)
YAKU = tuple(row_of.YAKU)
KINDS = len(row_of.KINDS)

CAME = len(ZONES) * DECK
PHASE = CAME + len(ENTRIES) * DECK
TABLE = PHASE + KINDS
MY_YAKU_AT = TABLE + 14
THEIR_YAKU_AT = MY_YAKU_AT + len(YAKU)

BLOCKS = (
    *(
        Block(words.replace("... ", ""), tuple(words.replace("...", c) for c in CARDS), 1, words)
        for words in ZONES
    ),
    *(
        Block(words.replace(" ...", ""), tuple(words.replace("...", c) for c in CARDS), 1, words)
        for words in ENTRIES
    ),
    Block("decision", tuple(f"the seat to move decides: {kind}" for kind in row_of.KINDS)),
    Block("mover", ("I am to move", "I deal this round")),
    Block("round", ("rounds left with this one, / 12", "turns played in the round, / 16")),
    Block("points", ("my points, / 60",), 5),
    Block("cards left", ("cards in their hand, / 8", "cards in the stock, / 24")),
    Block("calls", ("my koi-koi calls, / 4", "their koi-koi calls, / 4"), 2),
    Block("yaku points", ("points of my yaku, / 10", "points of their yaku, / 10"), 26),
    Block(
        "score",
        ("what stopping would win me, / 10", "what stopping would win them, / 10"),
        26,
    ),
    Block("rules", ("the rules are Nintendo's",)),
    Block("my yaku", tuple(f"I have {one}" for one in YAKU)),
    Block("their yaku", tuple(f"they have {one}" for one in YAKU)),
)


@kernel
def write(s: Any, seat: int, scratch: Any, out: Any) -> None:
    """Write what a seat has seen into a row of zeros."""
    row = scratch
    write_view(s, seat, row)
    for card in range(DECK):
        zone = int64(row[card]) & (LEGAL - 1)
        if zone:
            out[(zone - 1) * DECK + card] = 1
        entered = int64(row[ENTERED + card])
        if entered:
            out[CAME + (entered - 1) // HAND * DECK + card] = 1
    if DISCARD <= s.phase <= CALL:
        out[PHASE + int64(row[KIND])] = 1
        out[TABLE] = s.seat == seat
    out[TABLE + 1] = row[I_DEAL]
    out[TABLE + 2] = row[ROUNDS_LEFT] / MOST_ROUNDS
    out[TABLE + 3] = row[TURN] / TURNS
    out[TABLE + 4] = min(max(int64(s.points_now[seat]), 0), 300) / 60
    out[TABLE + 5] = row[THEIR_HAND] / HAND
    out[TABLE + 6] = row[STOCK_LEFT] / STOCK
    for i in range(2):
        out[TABLE + 7 + i] = row[MY_CALLS + i] / 4
        out[TABLE + 9 + i] = row[MY_YAKU_POINTS + i] / 10
        out[TABLE + 11 + i] = row[MY_YAKU_POINTS + 2 + i] / 10
        bits = int64(row[MY_YAKU + 2 * i]) | int64(row[MY_YAKU + 2 * i + 1]) << 8
        for one in range(len(YAKU)):
            out[MY_YAKU_AT + len(YAKU) * i + one] = (bits >> one) & 1
    out[TABLE + 13] = row[RULES]


OBSERVATION = from_kernel(BLOCKS, write)
