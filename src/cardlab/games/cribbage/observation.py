"""What a learner sees of Cribbage: cards by where they lie, the count, the scores."""

from __future__ import annotations

from typing import Any

from cardlab.engine.cards import RANKS, card_text
from cardlab.engine.kernel import int64, kernel
from cardlab.engine.observation import Block, from_kernel
from cardlab.games.cribbage.rules import DEALT, DECK, LAY_AWAY, PLAY
from cardlab.games.cribbage.scoring import LIMIT

CARDS = [card_text(card) for card in range(DECK)]
LATEST = ("latest", "second latest", "third latest", "fourth latest")
TALLIES = LIMIT + 1
MOST_POINTS = 121

HAND, LAID, MINE, THEIRS, CUT = range(0, 5 * DECK, DECK)
RECENT = 5 * DECK
IN_COUNT = RECENT + len(LATEST) * len(RANKS)
TALLY = IN_COUNT + len(RANKS)
TABLE = TALLY + TALLIES
(
    I_DEAL,
    IS_LAY_AWAY,
    IS_PLAY,
    MY_MOVE,
    OWN_SIZE,
    THEIR_SIZE,
    FLOOR,
    MY_SCORE,
    THEIR_SCORE,
    I_NEED,
    THEY_NEED,
    SHORT,
) = range(TABLE, TABLE + 12)

BLOCKS = (
    Block("hand", tuple(f"I hold {card}" for card in CARDS), summary="I hold ..."),
    Block("discarded", tuple(f"I discarded {card}" for card in CARDS), summary="I discarded ..."),
    Block("played by me", tuple(f"I played {card}" for card in CARDS), summary="I played ..."),
    Block(
        "played by them", tuple(f"they played {card}" for card in CARDS), summary="they played ..."
    ),
    Block("cut", tuple(f"the cut is {card}" for card in CARDS), summary="the cut is ..."),
    *(
        Block(
            f"{which} card",
            tuple(f"the {which} card of this count has rank {rank}" for rank in RANKS),
            summary=f"the {which} card of this count has rank ...",
        )
        for which in LATEST
    ),
    Block(
        "in this count",
        tuple(f"cards of rank {rank} in this count, / 4" for rank in RANKS),
        summary="cards of rank ... in this count, / 4",
    ),
    Block("count", tuple(f"the count is {tally}" for tally in range(TALLIES)), summary="it is ..."),
    Block("deal", ("I deal",)),
    Block("phase", ("cards are being discarded", "cards are being played")),
    Block("mover", ("I am to move",)),
    Block("sizes", ("cards in my hand, / 6", "cards in their hand, / 6")),
    Block("floor", ("their cards are worth more than this, as a go has shown, / 10",)),
    Block("scores", ("my score, / 121", "their score, / 121")),
    Block("missing", ("points that I need to win, / 121", "points that they need, / 121")),
    Block("target", ("61 points win, not 121",)),
)


@kernel
def write_cards(cards: int, out: Any, first: int) -> None:
    """Write a set of cards."""
    for card in range(DECK):
        out[first + card] = (cards >> card) & 1


@kernel
def write(s: Any, seat: int, scratch: Any, out: Any) -> None:
    """Write what a seat has seen into a row of zeros."""
    other = 1 - seat
    write_cards(s.hands[seat], out, HAND)
    write_cards(s.laid[seat], out, LAID)
    write_cards(s.played[seat], out, MINE)
    write_cards(s.played[other], out, THEIRS)
    if s.phase != LAY_AWAY and s.starter < DECK:
        out[CUT + int64(s.starter)] = 1
    series = s.series
    place = 0
    while series:
        rank = (series & 15) - 1
        if place < len(LATEST):
            out[RECENT + len(RANKS) * place + rank] = 1
        out[IN_COUNT + rank] += 0.25
        series >>= 4
        place += 1
    out[TALLY + int64(s.tally)] = 1
    out[I_DEAL] = s.dealer == seat
    out[IS_LAY_AWAY] = s.phase == LAY_AWAY
    out[IS_PLAY] = s.phase == PLAY
    out[MY_MOVE] = (s.phase == LAY_AWAY or s.phase == PLAY) and s.seat == seat
    out[OWN_SIZE] = int64(s.sizes[seat]) / DEALT
    out[THEIR_SIZE] = int64(s.sizes[other]) / DEALT
    out[FLOOR] = int64(s.floors[other]) / 10
    out[MY_SCORE] = int64(s.scores[seat]) / MOST_POINTS
    out[THEIR_SCORE] = int64(s.scores[other]) / MOST_POINTS
    out[I_NEED] = (int64(s.target) - int64(s.scores[seat])) / MOST_POINTS
    out[THEY_NEED] = (int64(s.target) - int64(s.scores[other])) / MOST_POINTS
    out[SHORT] = s.target != MOST_POINTS


OBSERVATION = from_kernel(BLOCKS, write)
