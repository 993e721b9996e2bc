"""What a learner sees of Uno: the encoding `fair` of `features`, scaled, and the points.

Other seats come in the order in which they will play, so that a reverse turns them round. Cards of
a kind are 15 * colour + trait. Wilds have no colour in a hand: their places there are always 0, and
they are counted apart (582 to 591).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cardlab.engine.kernel import int64, kernel
from cardlab.engine.observation import Block, from_kernel
from cardlab.games.uno.cards import ACTIONS, COLOUR_NAMES, DECK, WILD, action_text
from cardlab.games.uno.features import FAIR_SIZE, SCALES, encode_fair, outputs_of
from cardlab.games.uno.hidden_hands import MAX_SEATS
from cardlab.games.uno.kernels import FINISHED, PLAY, legal

KINDS = [action_text(kind) for kind in range(60)]
WHO = [f"seat {place} after me" for place in range(1, MAX_SEATS)]
SEVENTH = np.float32(1 / 7)  # the kernel multiplies in 32 bits, and 25 / 7 would be too low
SEVENTHS, COLOUR_SEVENTHS = (float(np.float32(most) * SEVENTH) for most in (DECK, 25))
MOVER = FAIR_SIZE
SCORES = MOVER + 2
FULL = 500
SCALE = SCALES["fair"].astype(np.float32)


def _by_kind(name: str, words: str, high: float = 1, *, wilds: bool = False) -> Block:
    """Return a number for each kind of card; without `wilds` those of wilds stay empty."""
    names = [words.replace("...", kind) for kind in KINDS]
    if not wilds:
        names = [
            f"always 0, see 582..591 ({one})" if kind % ACTIONS >= WILD else one
            for kind, one in enumerate(names)
        ]
        words += "; always 0 for wilds, see 582..591"
    return Block(name, tuple(names), high, words)


BLOCKS = (
    _by_kind("hand", "I hold ..."),
    _by_kind("hand twice", "I hold ... twice"),
    _by_kind("unseen", "... is neither in my hand nor on the pile"),
    _by_kind("unseen twice", "two cards ... are neither in my hand nor on the pile"),
    _by_kind("target", "the top card in the colour in force is ...", wilds=True),
    _by_kind("fits", "I may play ... now", wilds=True),
    _by_kind("may hold, next", "cards of the next seat that may be ..., / 7", SEVENTHS),
    _by_kind("may hold, previous", "cards of the seat before me that may be ..., / 7", SEVENTHS),
    Block(
        "lacks",
        tuple(f"cards of {who} known not to be {one}, / 7" for who in WHO for one in COLOUR_NAMES),
        SEVENTHS,
        "cards of seat ... after me known not to be red, green, blue, yellow, / 7",
    ),
    Block("own colours", tuple(f"my cards of {one}, / 7" for one in COLOUR_NAMES), COLOUR_SEVENTHS),
    Block("unseen colours", tuple(f"unseen cards of {one}, / 25" for one in COLOUR_NAMES)),
    Block("colour", tuple(f"{one} is in force" for one in COLOUR_NAMES)),
    Block(
        "seats after me",
        tuple(
            words.replace("...", who)
            for who in WHO
            for words in (
                "... exists",
                "cards of ..., / 7",
                "... holds one card or none",
                "... holds at most two",
                "... holds at most three",
                "cards of ... known not to be wilds, / 7",
            )
        ),
        SEVENTHS,
        "for each seat after me: it exists; its cards, / 7; it holds at most one, two, three; "
        "its cards known not to be wilds, / 7",
    ),
    Block("own wilds", tuple(f"I hold {n} or more wilds" for n in range(1, 5))),
    Block("own fours", tuple(f"I hold {n} or more wild draw fours" for n in range(1, 5))),
    Block("unseen wilds", ("unseen wilds, / 4", "unseen wild draw fours, / 4")),
    Block("own cards", ("cards in my hand, / 7",), SEVENTHS),
    Block("stock", ("cards in the stock, / 108",)),
    Block("stacked", ("cards stacked up, / 8",), 2),
    Block("backwards", ("play goes backwards",)),
    Block(
        "rules",
        ("the rules are rlcard", "a drawn card may be kept", "stacking", "drawing at will"),
    ),
    Block("phase", ("a card has just been drawn", "the colour of a start wild is to be named")),
    Block("seats", tuple(f"{seats} seats play" for seats in range(2, MAX_SEATS + 1))),
    Block("mover", ("I am to move", "the game goes for 500 points")),
    Block(
        "points",
        tuple(f"points of {who}, / 500" for who in ("mine", *WHO)),
        5,
        "points of mine, of each seat after me, / 500",
    ),
)


@kernel
def write(s: Any, seat: int, scratch: Any, out: Any) -> None:
    """Write what a seat has seen into a row of zeros."""
    mine = PLAY <= s.phase < FINISHED and s.seat == seat
    encode_fair(s, seat, outputs_of(scratch, legal(s, scratch)) if mine else int64(0), out)
    for i in range(FAIR_SIZE):
        out[i] *= SCALE[i]
    out[MOVER] = mine
    out[MOVER + 1] = s.target > 0
    seats = int64(s.seats)
    step = seats - 1 if s.backwards else 1
    who = seat
    for place in range(seats):
        out[SCORES + place] = int64(s.scores[who]) / FULL
        who = (who + step) % seats


OBSERVATION = from_kernel(BLOCKS, write)
