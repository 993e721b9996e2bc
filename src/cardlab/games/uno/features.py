"""What learners see of Uno: three encodings of a seat's turn as small whole numbers.

paper      7 planes of 4 x 15, as "Winning Uno With Reinforcement Learning" feeds its network: own
           hand with 0, 1, 2 copies, the cards of *all other hands together* with 0, 1, 2 copies,
           target. It leaks: no seat may know the other hands. Agents with it are named `_open`.
fair       what the seat itself has seen: own hand and unseen cards with true counts, target,
           what fits, direction (other seats come in the order of play), the size of every hand,
           and which colours it is known to lack because its owner drew when they were asked.
fair_log   `fair`, followed by the last 32 events at the table, latest last.

Index tables: docs/games/uno.md. `SCALES` says by what a network should multiply each number, so
that all lie between 0 and about 1.

Networks have 61 outputs, the actions 0 ... 60 of RLCard. The others of the official rules share an
output with one that is never legal at the same time: `keep` with `draw`, and to name the colour of
a start wild with playing a wild in that colour. Legal outputs are a set, bit by bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cardlab.engine.errors import CardlabError, suggest
from cardlab.engine.game import Array
from cardlab.engine.kernel import bit, int64, kernel
from cardlab.games.uno.cards import (
    ACTIONS,
    DECK,
    DRAW,
    FOUR,
    KEEP,
    KIND_END,
    NAME,
    ONE_COLOUR,
    TOTAL,
    WILD,
    WILD_BIT,
    count,
)
from cardlab.games.uno.hidden_hands import MAX_SEATS, NOBODY, PILE
from cardlab.games.uno.kernels import DRAWN, LOG, NAMING, RLCARD

ENCODINGS = ("paper", "fair", "fair_log")
PAPER, FAIR, FAIR_LOG = range(3)
VERSION = 1  # moves when a number of an encoding changes its meaning
NUM_OUTPUTS = DRAW + 1

PLANE = 4 * ACTIONS
PLANES = {"paper": 7, "fair": 8, "fair_log": 8}
OTHERS = MAX_SEATS - 1

# Where the parts of `fair` begin: planes, numbers for each colour, other seats, the table.
OWN, OWN_TWICE, UNSEEN, UNSEEN_TWICE, TARGET, FITS, NEXT, PREVIOUS = range(0, 8 * PLANE, PLANE)
BY_COLOUR = 8 * PLANE
COLOUR_ROWS = OTHERS + 3  # places of other seats that lack it; own cards, unseen cards, in force
OWN_COLOUR, UNSEEN_COLOUR, IN_FORCE = (BY_COLOUR + 4 * (OTHERS + i) for i in range(3))
SEATS = BY_COLOUR + 4 * COLOUR_ROWS
SEAT_SIZE = 6  # present, cards, one card, at most two, at most three, places that lack wilds
TABLE = SEATS + SEAT_SIZE * OTHERS
OWN_WILDS, OWN_FOURS = TABLE, TABLE + 4  # each at least one, two, three, four
(
    UNSEEN_WILDS,
    UNSEEN_FOURS,
    OWN_SIZE,
    STOCK,
    STACKED,
    BACKWARDS,
    IS_RLCARD,
    KEEPS_DRAWN,
    STACKS,
    DRAWS_AT_WILL,
    HAS_DRAWN,
    IS_NAMING,
) = range(TABLE + 8, TABLE + 20)
HOW_MANY = TABLE + 20  # one number for 2, 3, ... 10 seats
FAIR_SIZE = HOW_MANY + OTHERS

EVENTS, EVENT_SIZE = 32, 3  # seat after the own one, what, how many (each + 1; 0: nothing)
SIZES = {"paper": 7 * PLANE, "fair": FAIR_SIZE, "fair_log": FAIR_SIZE + EVENTS * EVENT_SIZE}


def _fair_scales() -> Array:
    scales = np.ones(FAIR_SIZE, dtype=np.float32)
    scales[NEXT : PREVIOUS + PLANE] = 1 / 7
    scales[BY_COLOUR:IN_FORCE] = 1 / 7
    scales[UNSEEN_COLOUR : UNSEEN_COLOUR + 4] = 1 / 25
    for field in (1, 5):
        scales[SEATS + field : TABLE : SEAT_SIZE] = 1 / 7
    scales[[UNSEEN_WILDS, UNSEEN_FOURS]] = 1 / 4
    scales[OWN_SIZE] = 1 / 7
    scales[STOCK] = 1 / DECK
    scales[STACKED] = 1 / 8
    return scales


SCALES: dict[str, Array] = {
    "paper": np.ones(7 * PLANE, dtype=np.float32),
    "fair": _fair_scales(),
    "fair_log": np.concatenate([_fair_scales(), np.ones(EVENTS * EVENT_SIZE, np.float32)]),
}


def find_encoding(name: str) -> int:
    """Return the number by which kernels know an encoding."""
    if name not in ENCODINGS:
        raise CardlabError(suggest("encoding", name, ENCODINGS))
    return ENCODINGS.index(name)


# Outputs


@kernel
def output_of(action: int) -> int:
    """Return the output of a network that stands for an action."""
    if action < KEEP:
        return int64(action)
    if action == KEEP:
        return int64(DRAW)
    return ACTIONS * (int64(action) - NAME) + WILD


@kernel
def action_of(s: Any, output: int) -> int:
    """Return the action that an output stands for in this phase of the game."""
    if s.phase == NAMING:
        return NAME + int64(output) // ACTIONS
    if s.phase == DRAWN and output == DRAW:
        return int64(KEEP)
    return int64(output)


@kernel
def outputs_of(actions: Any, number: int) -> int:
    """Return the first `number` actions as a set of outputs."""
    found = int64(0)
    for i in range(number):
        found |= bit(output_of(actions[i]))
    return found


# Encodings


@kernel
def write_copies(ones: int, twos: int, out: Any, start: int) -> None:
    """Write three planes: kinds of which a set has no, one, two cards; wilds in all four rows."""
    for kind in range(KIND_END):
        trait = kind % ACTIONS
        if trait >= WILD:  # any number of them counts as one
            once, twice = (ones >> trait) & 1, int64(0)
        else:
            once, twice = (ones >> kind) & 1, (twos >> kind) & 1
        out[start + kind] = 1 - once
        out[start + PLANE + kind] = once - twice
        out[start + 2 * PLANE + kind] = twice


@kernel
def encode_paper(s: Any, seat: int, out: Any) -> None:
    """Write the paper's seven planes; the other hands count together."""
    ones = twos = int64(0)
    for other in range(int64(s.seats)):
        if other != seat:  # no coloured card exists three times
            twos |= s.cards[other, 1] | (ones & s.cards[other, 0])
            ones |= s.cards[other, 0]
    write_copies(s.cards[seat, 0], s.cards[seat, 1], out, 0)
    write_copies(ones, twos, out, 3 * PLANE)
    for place in range(6 * PLANE, 7 * PLANE):
        out[place] = 0
    if s.phase != NAMING:
        out[6 * PLANE + ACTIONS * int64(s.colour) + int64(s.top) % ACTIONS] = 1


@kernel
def write_places(s: Any, seat: int, out: Any, start: int) -> None:
    """Write for every kind that is not all seen how many places of a hand may hold it."""
    for group in range(int64(s.groups[seat])):
        barred = s.barred[seat, group]
        places = int64(s.places[seat, group])
        for kind in range(KIND_END):
            if out[UNSEEN + kind] and not (barred >> kind) & 1:
                out[start + kind] += places


@kernel
def encode_fair(s: Any, seat: int, legal: int, out: Any) -> None:
    """Write what a seat has seen; `legal` is the set of its outputs."""
    for place in range(FAIR_SIZE):
        out[place] = 0
    ones, twos = s.cards[seat, 0], s.cards[seat, 1]
    for kind in range(KIND_END):
        if kind % ACTIONS < WILD:
            own = ((ones >> kind) & 1) + ((twos >> kind) & 1)
            piled = ((s.cards[PILE, 0] >> kind) & 1) + ((s.cards[PILE, 1] >> kind) & 1)
            unseen = int64(TOTAL[kind]) - own - piled
            out[OWN + kind] = own > 0
            out[OWN_TWICE + kind] = own > 1
            out[UNSEEN + kind] = unseen > 0
            out[UNSEEN_TWICE + kind] = unseen > 1
            out[OWN_COLOUR + kind // ACTIONS] += own
            out[UNSEEN_COLOUR + kind // ACTIONS] += unseen
        out[FITS + kind] = (legal >> kind) & 1
    if s.phase != NAMING:
        out[TARGET + ACTIONS * int64(s.colour) + int64(s.top) % ACTIONS] = 1
        out[IN_FORCE + int64(s.colour)] = 1
    encode_others(s, seat, out)
    wilds, fours = count(s.cards[seat], WILD), count(s.cards[seat], FOUR)
    for i in range(4):
        out[OWN_WILDS + i] = wilds > i
        out[OWN_FOURS + i] = fours > i
    out[UNSEEN_WILDS] = 4 - wilds - count(s.cards[PILE], WILD)
    out[UNSEEN_FOURS] = 4 - fours - count(s.cards[PILE], FOUR)
    out[OWN_SIZE] = s.sizes[seat]
    out[STOCK] = int64(s.stock_end) - int64(s.stock_at)
    out[STACKED] = s.stacked
    out[BACKWARDS] = s.backwards
    out[IS_RLCARD] = s.rules == RLCARD
    out[KEEPS_DRAWN] = s.keep_drawn
    out[STACKS] = s.stacking
    out[DRAWS_AT_WILL] = s.voluntary_draw
    out[HAS_DRAWN] = s.phase == DRAWN
    out[IS_NAMING] = s.phase == NAMING
    out[HOW_MANY + int64(s.seats) - 2] = 1


@kernel
def encode_others(s: Any, seat: int, out: Any) -> None:
    """Write what is known of the other hands, in the order in which they come to play."""
    seats = int64(s.seats)
    step = seats - 1 if s.backwards else 1
    other = seat
    for place in range(seats - 1):
        other = (other + step) % seats
        at = SEATS + SEAT_SIZE * place
        size = int64(s.sizes[other])
        out[at] = 1
        out[at + 1] = size
        out[at + 2] = size <= 1
        out[at + 3] = size <= 2
        out[at + 4] = size <= 3
        for group in range(int64(s.groups[other])):
            barred = s.barred[other, group]
            places = int64(s.places[other, group])
            if barred & WILD_BIT:
                out[at + 5] += places
            for colour in range(4):
                kinds = int64(ONE_COLOUR) << (ACTIONS * colour)
                if barred & kinds == kinds:
                    out[BY_COLOUR + 4 * place + colour] += places
        if place == 0:
            write_places(s, other, out, NEXT)
        elif place == seats - 2:
            write_places(s, other, out, PREVIOUS)


@kernel
def encode_log(s: Any, seat: int, out: Any) -> None:
    """Write the last events at the table, the latest at the end."""
    logged = int64(s.logged)
    seats = int64(s.seats)
    for i in range(EVENTS):
        at = FAIR_SIZE + EVENT_SIZE * i
        entry = logged - EVENTS + i
        if entry < 0:
            out[at] = 0
            out[at + 1] = 0
            out[at + 2] = 0
            continue
        slot = entry % LOG
        who = int64(s.log_seat[slot])
        out[at] = MAX_SEATS + 1 if who == NOBODY else (who - seat + seats) % seats + 1
        out[at + 1] = int64(s.log_what[slot]) + 1
        out[at + 2] = min(int64(s.log_more[slot]), KIND_END) + 1


@kernel
def encode(s: Any, seat: int, legal: int, encoding: int, out: Any) -> None:
    """Write one seat's turn; `legal` is the set of its outputs."""
    if encoding == PAPER:
        encode_paper(s, seat, out)
    else:
        encode_fair(s, seat, legal, out)
        if encoding == FAIR_LOG:
            encode_log(s, seat, out)


@kernel
def _encode_rows(states: Any, seats: Any, legal: Any, encoding: int, out: Any) -> None:
    for row in range(len(states)):
        encode(states[row], seats[row], legal[row], encoding, out[row])


def encode_all(states: Array, seats: Sequence[int] | Array, legal: Array, encoding: str) -> Array:
    """Return the encoded turns of many records, views or states; `legal` are sets of outputs."""
    out = np.empty((len(states), SIZES[encoding]), dtype=np.uint8)
    _encode_rows(states, np.asarray(seats, np.int64), legal, find_encoding(encoding), out)
    return out
