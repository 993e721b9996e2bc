"""Crazy Eights with all cards open, solved: is an action a win, a tie or a loss against best play?

For two seats by the default rules, where the deal is the only chance. The
search is alpha-beta to the end of the game on a record of its own: two hands, what must be matched,
how far the stock is used up. What has the same future is one entry of the table: eights are counted
instead of named, and the rank of the top card is forgotten when no card of that rank can come.
Moves that leave the other seat without an answer are tried first, eights last.

A position is entered when its moves are about to be tried; that is what `nodes` counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Array, State
from cardlab.engine.kernel import bit, count_bits, int64, kernel, lowest_bit
from cardlab.engine.seeding import branch
from cardlab.games.crazy_eights.rules import (
    EIGHT_ACTIONS,
    EIGHTS,
    FIRST_EIGHT,
    GAME,
    ONE_RANK,
    ONE_SUIT,
    PASS,
    PLAY,
)

MAX_LEVELS = 256
MAX_MOVES = 64
MAX_CARDS = 52
NO_RANK = 15
OWN, OTHER, MATCH, AT, SEAT, PASSES, KEY, COUNT, TRIED, ALPHA, BETA, BEST, LOW, HIGH = range(14)
FIELDS = 14


class Scratch(NamedTuple):
    """Scratch arrays of a search; the table has 2**bits entries."""

    levels: Array
    moves: Array
    scores: Array
    later: Array
    table_keys: Array
    table_bounds: Array
    nodes: Array  # one number: how many there were

    @classmethod
    def of(cls, bits: int = 20) -> Scratch:
        """Return scratch with an empty table."""
        return cls(
            np.zeros((MAX_LEVELS, FIELDS), dtype=np.int64),
            np.zeros((MAX_LEVELS, MAX_MOVES), dtype=np.int64),
            np.zeros(MAX_MOVES, dtype=np.int64),
            np.zeros(MAX_CARDS + 1, dtype=np.int64),
            np.zeros(1 << bits, dtype=np.int64),
            np.zeros(1 << bits, dtype=np.int8),
            np.zeros(1, dtype=np.int64),
        )


@kernel
def fitting(match: int) -> int:
    """Return the cards that may follow: of the suit, of the rank if it still counts, eights."""
    cards = EIGHTS | ONE_SUIT << (match & 3)
    rank = match >> 2
    if rank != NO_RANK:
        cards |= ONE_RANK << (4 * rank)
    return cards


@kernel
def order_moves(level: int, scratch: Any) -> int:
    """Write the actions worth trying, the most promising first; eights alike are tried once."""
    moves, scores = scratch.moves, scratch.scores
    seat_hand, other_hand = scratch.levels[level, OWN], scratch.levels[level, OTHER]
    cards = seat_hand & fitting(scratch.levels[level, MATCH])
    count = 0
    rest = cards & ~EIGHTS
    while rest:
        card = lowest_bit(rest)
        rest &= rest - 1
        after = seat_hand & ~bit(card)
        wanted = fitting(card)
        score = 4 * count_bits(after & wanted & ~EIGHTS) - 6 * count_bits(other_hand & wanted)
        if other_hand & wanted == 0:
            score += 100
        moves[level, count] = card if card < FIRST_EIGHT else card - 4
        scores[count] = score
        count += 1
    eights = cards & EIGHTS
    if eights:
        first = EIGHT_ACTIONS + 4 * (lowest_bit(eights) - FIRST_EIGHT)
        after = seat_hand & ~(eights & -eights)
        for suit in range(4):
            wanted = EIGHTS | ONE_SUIT << suit
            score = 4 * count_bits(after & wanted & ~EIGHTS) - 6 * count_bits(other_hand & wanted)
            score += 50 if other_hand & wanted == 0 else -50
            moves[level, count] = first + suit
            scores[count] = score
            count += 1
    if count == 0:
        moves[level, 0] = PASS
        return 1
    for i in range(1, count):
        action, score = moves[level, i], scores[i]
        j = i
        while j and scores[j - 1] < score:
            moves[level, j] = moves[level, j - 1]
            scores[j] = scores[j - 1]
            j -= 1
        moves[level, j] = action
        scores[j] = score
    return count


@kernel
def advance(level: int, action: int, stock: Any, end: int, levels: Any) -> int:
    """Take an action at a level and write the position after it one level deeper.

    The answer is 2 while the game goes on, 1 if the mover has won, 0 for a tie.
    """
    own, other = levels[level, OWN], levels[level, OTHER]
    match, at, passes = levels[level, MATCH], levels[level, AT], levels[level, PASSES]
    if action == PASS:
        passes += 1
        if passes == 2:
            return 0
    else:
        passes = 0
        if action < EIGHT_ACTIONS:
            card = action if action < FIRST_EIGHT else action + 4
            match = card
        else:
            card = FIRST_EIGHT + ((action - EIGHT_ACTIONS) >> 2)
            match = NO_RANK << 2 | (action & 3)
        own &= ~bit(card)
        if own == 0:
            return 1
    wanted = fitting(match)
    while at < end and other & wanted == 0:
        other |= bit(stock[at])
        at += 1
        if at == end and own & (own - 1) and other & (other - 1):
            return 0
    levels[level + 1, OWN] = other
    levels[level + 1, OTHER] = own
    levels[level + 1, MATCH] = match
    levels[level + 1, AT] = at
    levels[level + 1, SEAT] = 1 - levels[level, SEAT]
    levels[level + 1, PASSES] = passes
    return 2


@kernel
def key_of(level: int, salt: int, levels: Any, later: Any) -> int:
    """Return a number that positions with the same future share, and forget a rank that is gone."""
    own, other, match = levels[level, OWN], levels[level, OTHER], levels[level, MATCH]
    at = levels[level, AT]
    rank = match >> 2
    if rank != NO_RANK and (own | other | later[at]) & ONE_RANK << (4 * rank) == 0:
        match = NO_RANK << 2 | (match & 3)
        levels[level, MATCH] = match
    small = match | at << 8 | levels[level, SEAT] << 16 | levels[level, PASSES] << 17
    small |= count_bits(own & EIGHTS) << 20 | count_bits(other & EIGHTS) << 24
    return branch(branch(branch(salt, own & ~EIGHTS), other & ~EIGHTS), small)


@kernel
def search(
    lowest: int, highest: int, salt: int, limit: int, stock: Any, end: int, scratch: Any
) -> int:
    """Return the value at level 0 for its mover within a window, and count nodes.

    A table entry holds a lower and an upper bound: 3 * (lower + 1) + (upper + 1), plus 9 so that an
    empty entry is 0. Past `limit` nodes the answer is 2: not settled.
    """
    levels, nodes = scratch.levels, scratch.nodes
    table_keys, table_bounds = scratch.table_keys, scratch.table_bounds
    mask = len(table_keys) - 1
    level = 0
    levels[0, ALPHA] = lowest
    levels[0, BETA] = highest
    entering = True
    value = int64(0)
    while True:
        leaving = False
        if entering:
            key = key_of(level, salt, levels, scratch.later)
            levels[level, KEY] = key
            levels[level, LOW] = -1
            levels[level, HIGH] = 1
            slot = key & mask
            if table_keys[slot] == key and table_bounds[slot]:
                low = (table_bounds[slot] - 9) // 3 - 1
                high = (table_bounds[slot] - 9) % 3 - 1
                levels[level, LOW] = low
                levels[level, HIGH] = high
                if low >= levels[level, BETA] or low == high:
                    value = int64(low)
                    leaving = True
                elif high <= levels[level, ALPHA]:
                    value = int64(high)
                    leaving = True
            if not leaving:
                nodes[0] += 1
                if nodes[0] > limit or level == MAX_LEVELS - 2:
                    return 2
                levels[level, BEST] = -1
                levels[level, TRIED] = 0
                levels[level, COUNT] = order_moves(level, scratch)
        if not leaving:
            best = levels[level, BEST]
            if best >= levels[level, BETA] or levels[level, TRIED] == levels[level, COUNT]:
                low, high = levels[level, LOW], levels[level, HIGH]
                if best >= levels[level, BETA]:
                    low = max(low, best)
                elif best <= levels[level, ALPHA]:
                    high = min(high, best)
                else:
                    low = best
                    high = best
                slot = levels[level, KEY] & mask
                table_keys[slot] = levels[level, KEY]
                table_bounds[slot] = 9 + 3 * (low + 1) + high + 1
                value = best
                leaving = True
        if leaving:
            if level == 0:
                return value
            level -= 1
            levels[level, BEST] = max(levels[level, BEST], -value)
            entering = False
        else:
            action = scratch.moves[level, levels[level, TRIED]]
            levels[level, TRIED] += 1
            reached = advance(level, action, stock, end, levels)
            if reached == 2:
                alpha = max(levels[level, ALPHA], levels[level, BEST])
                level += 1
                levels[level, ALPHA] = -levels[level - 1, BETA]
                levels[level, BETA] = -alpha
                entering = True
            else:
                levels[level, BEST] = max(levels[level, BEST], reached)
                entering = False


@kernel
def begin(s: Any, levels: Any, later: Any) -> None:
    """Write the position of a record with a seat to move at level 0."""
    seat = int64(s.seat)
    levels[0, OWN] = s.hands[seat]
    levels[0, OTHER] = s.hands[1 - seat]
    levels[0, MATCH] = (NO_RANK << 2 | int64(s.suit)) if s.top >> 2 == 7 else int64(s.top)
    levels[0, AT] = s.stock_at
    levels[0, SEAT] = seat
    levels[0, PASSES] = s.passes
    end = int64(s.stock_end)
    later[end] = 0
    for i in range(end - 1, -1, -1):
        later[i] = later[i + 1] | (bit(s.stock[i]) if i >= s.stock_at else 0)


@kernel
def value_actions(
    states: Any, actions: Any, values: Any, all_exact: bool, salt: int, limit: int, scratch: Any
) -> bool:
    """Write the value of every action for the seat to move; False past `limit` nodes.

    With `all_exact` off the search stops at what decides the choice: the first win, else which
    actions tie; the others are then lower bounds of no use.
    """
    s, levels = states[0], scratch.levels
    end = int64(s.stock_end)
    for goal in range(1, -1, -1):  # first who wins, then who ties
        found = False
        for i in range(len(actions)):
            if goal == 0 and values[i] == 1:
                continue
            begin(s, levels, scratch.later)
            reached = advance(0, int64(actions[i]), s.stock, end, levels)
            if reached == 2:
                for field in range(COUNT):
                    levels[0, field] = levels[1, field]
                answer = search(-goal, 1 - goal, salt, limit, s.stock, end, scratch)
                if answer == 2:
                    return False
                reached = -answer
            if reached >= goal:
                values[i] = goal
                found = True
                if goal == 1 and not all_exact:
                    return True
            else:
                values[i] = goal - 1
        if found and goal == 1 and not all_exact:
            return True
    return True


@dataclass(frozen=True)
class Verdicts:
    """What a solved position says: 1, 0 or -1 for every legal action, and the nodes it took."""

    values: Array
    nodes: int


def solves(state: State) -> bool:
    """Return whether a state's rules are those that the solver knows."""
    s = state.array[0]
    return bool(
        state.game is GAME
        and s.seats == 2
        and not s.reshuffle
        and not s.optional_draw
        and s.phase == PLAY
    )


def solve(
    state: State, *, all_exact: bool = True, limit: int = 1 << 62, scratch: Scratch | None = None
) -> Verdicts | None:
    """Return what every legal action is worth, or None if more than `limit` nodes were needed."""
    if not solves(state):
        raise CardlabError(
            "only Crazy Eights with two seats, no reshuffle and no optional draw can be solved"
        )
    legal = state.legal()
    values = np.full(len(legal), -1, dtype=np.int64)
    scratch = scratch or Scratch.of()
    scratch.nodes[0] = 0
    salt = int(branch(int(state.array[0].plies), int(state.array[0].stock_at)))
    if not value_actions(state.array, legal, values, all_exact, salt, limit, scratch):
        return None
    return Verdicts(values, int(scratch.nodes[0]))
