"""Birds of a Feather: gather sixteen cards into one stack; an open solitaire.

Rules: "Machine Learning Based Heuristic Search Algorithms to Solve Birds of a Feather Card Game",
section 1 (the game is Neller's). Sixteen cards lie in a grid of four by four. A stack moves onto
any other stack of its row or column, at any distance, also over other stacks, if the
two top cards have the same suit or ranks that differ by at most one. The ace is low; king and ace
are not neighbours. (The paper's king of hearts goes onto the nine of hearts "since they have the
same rank": a slip for the same suit.) Solved when one stack is left, which takes fifteen moves;
lost when nothing can move before. Points are the cards gathered, that is the moves made: 15 solve.

There are no options, one seat, and nothing is hidden. Only top cards matter, so a position is
sixteen top cards or empty cells: `position_text`, `parse_position`.

Seeds are the published ones: FreeCell's generator, see `published_order`. A deal is also a text of
32 characters, row by row: `parse_deal`.

Action ids: the 96 directed pairs of cells, in the order in which the published search tries them.
Cells are A1 (top left) to D4: a letter for the row, a number for the column.
     0..47  along a row: 12 * row + 2 * pair + direction
    48..95  along a column: 48 + 12 * column + 2 * pair + direction
Pairs of places in a line are 12, 13, 14, 23, 24, 34; direction 0 moves the first onto the second,
direction 1 the second onto the first.

Whether two stacks may merge does not depend on the direction. The record therefore keeps a set of
pairs, 48 bits, of which a move changes only those that touch its two cells.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from cardlab.engine.cards import card_text, parse_card
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import (
    DEALER,
    OVER,
    Array,
    Description,
    Event,
    Game,
    Zone,
    record_type,
)
from cardlab.engine.kernel import bit, int64, kernel, lowest_bit, short_kernel
from cardlab.games.birds_of_a_feather import PACKAGE

DECK = 52
SIDE = 4
CELLS = SIDE * SIDE
MOST_MOVES = CELLS - 1
EMPTY = DECK  # what lies in a cell without cards: no card, and it fits none
UNKNOWN = 255  # a move made before the position was written down
EMPTY_TEXT = "--"
ROW_NAMES, COLUMN_NAMES = "ABCD", "1234"

DEAL, PLAY, FINISHED = range(3)

ROWS = [[SIDE * row + column for column in range(SIDE)] for row in range(SIDE)]
COLUMNS = [[SIDE * row + column for row in range(SIDE)] for column in range(SIDE)]
PAIRS = [pair for line in (*ROWS, *COLUMNS) for pair in itertools.combinations(line, 2)]
MOVES = [move for a, b in PAIRS for move in ((a, b), (b, a))]
NUM_PAIRS, NUM_ACTIONS = len(PAIRS), len(MOVES)
PARTNERS = [
    [(a + b - cell, number) for number, (a, b) in enumerate(PAIRS) if cell in (a, b)]
    for cell in range(CELLS)
]


def birds_of_a_feather(card: int, other: int) -> bool:
    """Return whether one of two cards may lie on the other: same suit, or ranks next or equal."""
    return card != other and (card % 4 == other % 4 or abs(card // 4 - other // 4) <= 1)


FROM = np.array([a for a, _ in MOVES], dtype=np.int64)
TO = np.array([b for _, b in MOVES], dtype=np.int64)
PARTNER = np.array([[cell for cell, _ in row] for row in PARTNERS], dtype=np.int64)
PAIR_WITH = np.array([[number for _, number in row] for row in PARTNERS], dtype=np.int64)
TOUCHING = np.array([sum(1 << number for _, number in row) for row in PARTNERS], dtype=np.int64)
FITTING = [sum(1 << o for o in range(DECK) if birds_of_a_feather(c, o)) for c in range(DECK)]
FITS = np.array([*FITTING, 0], dtype=np.int64)  # the last entry is for an empty cell
FIRST = np.array([a for a, _ in PAIRS], dtype=np.int64)
SECOND = np.array([b for _, b in PAIRS], dtype=np.int64)

STATE = record_type(
    [
        ("pairs", "i8"),  # the pairs of stacks that may merge now
        ("tops", "u1", (CELLS,)),  # the top card of each cell, row by row; 52: an empty cell
        ("log_action", "u1", (MOST_MOVES,)),  # the moves so far; 255: not known
        ("log_covered", "u1", (MOST_MOVES,)),  # the card that each move covered; 52: not known
        ("plies", "u1"),  # moves made; 16 - plies stacks are left
        ("phase", "u1"),  # 0 deal, 1 play, 2 finished
        ("seat", "u1"),  # the seat to move, always 0
        ("seats", "u1"),  # how many play, always 1
    ]
)


def fresh() -> Any:
    """Return an array of one game that waits for the deal."""
    state = np.zeros(1, dtype=STATE)
    s = state[0]
    s.tops[:] = EMPTY
    s.log_action[:], s.log_covered[:] = UNKNOWN, EMPTY
    s.phase, s.seats = DEAL, 1
    return state


@short_kernel
def published_order(seed: int, n: int, order: Any, rng: Any) -> None:
    """Fill `order` with the deal that a seed has in the literature, first card first.

    FreeCell's generator shuffles 0 ... 51 from the end, and cards are dealt from the end: `order`
    is that deck turned round. What it does after the sixteenth card changes no deal and is left
    out. Only the seed's last 31 bits count, negative seeds being two's complement.
    """
    for i in range(DECK):
        order[i] = DECK - 1 - i
    s = int64(seed) & 0x7FFFFFFF
    for i in range(CELLS):
        s = (s * 214013 + 2531011) & 0x7FFFFFFF
        j = DECK - 1 - (s >> 16) % (DECK - i)
        card = order[j]
        order[j] = order[i]
        order[i] = card


@kernel
def mover(s: Any) -> int:
    """Return the only seat, DEALER or OVER."""
    if s.phase == PLAY:
        return 0
    if s.phase == FINISHED:
        return OVER
    return DEALER


@kernel
def deal(s: Any, order: Any) -> None:
    """Lay sixteen cards out row by row."""
    for cell in range(CELLS):
        s.tops[cell] = order[cell]
    begin(s)


@kernel
def begin(s: Any) -> None:
    """Find the pairs that may merge from the top cards alone."""
    pairs = int64(0)
    for pair in range(NUM_PAIRS):
        fit = FITS[s.tops[FIRST[pair]]] >> int64(s.tops[SECOND[pair]]) & 1
        pairs |= fit << pair
    s.pairs = pairs
    s.phase = PLAY if pairs else FINISHED


@kernel
def legal(s: Any, out: Any) -> int:
    """Write the legal actions in ascending order and return their number."""
    count = 0
    rest = s.pairs
    while rest:
        action = 2 * lowest_bit(rest)
        rest &= rest - 1
        out[count] = action
        out[count + 1] = action + 1
        count += 2
    return count


@kernel
def pairs_after(s: Any, action: int) -> int:
    """Return the pairs that may merge once a legal action has been taken."""
    start, end = FROM[action], TO[action]
    pairs = s.pairs & ~(TOUCHING[start] | TOUCHING[end])
    fits = FITS[s.tops[start]]  # without the card itself, which is about to leave its cell
    for i in range(2 * SIDE - 2):
        fit = fits >> int64(s.tops[PARTNER[end, i]]) & 1
        pairs |= fit << PAIR_WITH[end, i]
    return pairs


@kernel
def apply(s: Any, action: int) -> None:
    """Move one stack onto another; without a next move the game is over."""
    start, end = FROM[action], TO[action]
    card = s.tops[start]
    ply = int64(s.plies)
    s.log_action[ply] = action
    s.log_covered[ply] = s.tops[end]
    s.plies = ply + 1
    s.pairs = pairs_after(s, action)
    s.tops[end] = card
    s.tops[start] = EMPTY
    if s.pairs == 0:
        s.phase = FINISHED


@kernel
def returns(s: Any, seat: int) -> float:
    """Return 1 if one stack is left, otherwise -1."""
    return 1.0 if s.plies == MOST_MOVES else -1.0


@kernel
def points(s: Any, seat: int) -> float:
    """Return how many cards lie under another, which is the number of moves made."""
    return float(int64(s.plies))


@kernel
def conceal(s: Any, seat: int) -> None:
    """Erase nothing: all cards lie open."""


@kernel
def imagine(s: Any, seat: int, rng: Any) -> bool:
    """Leave the state as it is: nothing is hidden."""
    return True


FAULTS = (
    "sound",
    "a card is missing or lies in two places",
    "the moves made and the stacks left are not sixteen together",
    "the pairs that may merge are not those that the top cards allow",
    "the game is over though a stack can move, or goes on though none can",
    "the points are not the cards that lie under others",
)


@kernel
def audit(s: Any) -> int:
    """Return 0 if the record is sound, otherwise the number of a fault."""
    if s.phase == DEAL:
        return 0
    stacks = 0
    cards = int64(0)
    for cell in range(CELLS):
        card = int64(s.tops[cell])
        if card != EMPTY:
            if card > EMPTY or cards & bit(card):
                return 1
            cards |= bit(card)
            stacks += 1
    for ply in range(MOST_MOVES):
        card = int64(s.log_covered[ply])
        known = ply < s.plies and s.log_action[ply] != UNKNOWN
        if known != (card != EMPTY):
            return 1
        if known:
            if cards & bit(card):
                return 1
            cards |= bit(card)
    if stacks + int64(s.plies) != CELLS:
        return 2
    for pair in range(NUM_PAIRS):
        a, b = int64(s.tops[FIRST[pair]]), int64(s.tops[SECOND[pair]])
        near = a & 3 == b & 3 or abs((a >> 2) - (b >> 2)) <= 1
        may = a != EMPTY and b != EMPTY and near
        if may != (s.pairs >> pair & 1 == 1):
            return 3
    if (s.phase == FINISHED) != (s.pairs == 0):
        return 4
    if points(s, 0) != CELLS - stacks:
        return 5
    return 0


# Texts


def cell_text(cell: int) -> str:
    """Return a cell's name, `A1` at the top left to `D4`."""
    return ROW_NAMES[cell // SIDE] + COLUMN_NAMES[cell % SIDE]


def action_text(action: int) -> str:
    """Return an action in words: `A1>A3` moves the stack in A1 onto the one in A3."""
    start, end = MOVES[action]
    return f"{cell_text(start)}>{cell_text(end)}"


def parse_action(text: str) -> int:
    """Return the action that a person means by `A1>A3`, `a1 a3`, `a1a3` or `a1 onto a3`."""
    found = re.fullmatch(r"([A-Z]\d)\W*(?:ONTO|ON|TO)?\W*([A-Z]\d)", text.strip().upper())
    if not found:
        raise CardlabError(
            f"unknown move {text.strip()!r}; write two cells such as A1>A3, rows A to D and "
            "columns 1 to 4"
        )
    cells = [cell_text(cell) for cell in range(CELLS)]
    for name in found.groups():
        if name not in cells:
            raise CardlabError(f"unknown cell {name!r}; rows are A to D and columns 1 to 4")
    start, end = cells.index(found[1]), cells.index(found[2])
    if (start, end) not in MOVES:
        why = "is one cell" if start == end else "is neither along a row nor along a column"
        raise CardlabError(f"{found[1]}>{found[2]} {why}; name another stack of the same line")
    return MOVES.index((start, end))


def top_text(card: int) -> str:
    """Return the text of a cell's top card, `--` for an empty cell."""
    return EMPTY_TEXT if card == EMPTY else card_text(card)


def position_text(s: Any) -> str:
    """Return the sixteen cells row by row in 32 characters: top cards, `--` for empty cells."""
    return "".join(top_text(int(card)) for card in s.tops)


def split_cards(text: str) -> list[str]:
    """Return the cards of a deal or position, with or without spaces or commas between them."""
    return re.findall(r"10.|..?", re.sub(r"[\s,]+", "", text))


def parse_deal(text: str) -> Array:
    """Return the deck order whose deal is `text`: sixteen cards row by row, as in `TH5HKS...`.

    Spaces and commas between cards are allowed. The cards that are not dealt follow.
    """
    words = split_cards(text)
    if len(words) != CELLS:
        raise CardlabError(
            f"the deal has {len(words)} cards; {GAME.name} needs {CELLS}, row by row"
        )
    return GAME.parse_order(" ".join(words))


def parse_position(text: str) -> Array:
    """Return an array of one game that stands as `text` says, its past moves unknown.

    The text has sixteen cells row by row, each a card or `--`, with or without spaces and commas.
    """
    words = split_cards(text)
    if len(words) != CELLS:
        raise CardlabError(
            f"the position has {len(words)} cells; {GAME.name} needs {CELLS}, row by row, each a "
            f"card or {EMPTY_TEXT}"
        )
    state = fresh()
    s = state[0]
    met: dict[int, str] = {}
    for cell, word in enumerate(words):
        if word == EMPTY_TEXT:
            continue
        name = cell_text(cell)
        try:
            card = parse_card(word)
        except CardlabError as error:
            raise CardlabError(f"cell {name} of the position: {error}, or {EMPTY_TEXT}") from None
        if card in met:
            raise CardlabError(
                f"cell {name} of the position: {card_text(card)} lies in {met[card]} already; "
                "give every card once"
            )
        met[card] = name
        s.tops[cell] = card
    if not met:
        raise CardlabError("the position has no card; give at least one")
    s.plies = CELLS - len(met)
    _begin_at(state)
    return state


@kernel
def _begin_at(states: Any) -> None:
    begin(states[0])


def state_text(s: Any) -> str:
    """Return a state as a few lines of text."""
    if s.phase == DEAL:
        return "birds_of_a_feather, not dealt"
    rows = [" ".join(top_text(int(s.tops[cell])) for cell in row) for row in ROWS]
    lines = [f"ply {s.plies}: {position_text(s)}"]
    lines += [f"  {name}  {row}" for name, row in zip(ROW_NAMES, rows, strict=True)]
    if s.phase == FINISHED:
        lines.append(f"  {result_text(s)}")
    return "\n".join(lines)


def result_text(s: Any) -> str:
    """Return how a finished game ended."""
    left = CELLS - int(s.plies)
    return "solved" if left == 1 else f"stuck with {left} stacks"


def history(s: Any) -> Iterator[tuple[int, int, int]]:
    """Yield the moves that are known, oldest first: action, card moved, card covered."""
    tops = [int(card) for card in s.tops]
    moves = []
    for ply in range(int(s.plies) - 1, -1, -1):
        action, covered = int(s.log_action[ply]), int(s.log_covered[ply])
        if action == UNKNOWN:
            break
        start, end = MOVES[action]
        card = tops[end]
        tops[start], tops[end] = card, covered
        moves.append((action, card, covered))
    yield from reversed(moves)


def describe(s: Any, seat: int) -> Description:
    """Return what the seat knows, which is everything, as plain data: a zone for each row."""
    zones = []
    for name, row in zip(ROW_NAMES, ROWS, strict=True):
        tops = [int(s.tops[cell]) for cell in row]
        zones.append(
            Zone(f"row {name}", sum(c != EMPTY for c in tops), tuple(top_text(c) for c in tops))
        )
    facts: dict[str, str | int] = {}
    if s.phase != DEAL:
        facts["stacks"] = CELLS - int(s.plies)
    if s.phase == FINISHED:
        facts["result"] = result_text(s)
    moves = [
        Event(0, f"moved {card_text(card)} onto {card_text(covered)}, {action_text(action)}")
        for action, card, covered in history(s)
    ]
    return Description(
        seat=seat,
        seats=1,
        to_move=0 if s.phase == PLAY else None,
        zones=tuple(zones),
        facts=facts,
        events=tuple(moves),
    )


GAME = Game.from_module(
    __name__,
    PACKAGE,
    max_plies=MOST_MOVES,
    zero_sum=False,
    used_cards=CELLS,
    shuffle=published_order,
)
