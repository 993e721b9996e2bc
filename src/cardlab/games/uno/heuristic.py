"""The heuristic of Uno: keep wilds, play own colours, stop a next seat that is about to go out."""

from __future__ import annotations

from typing import Any

from cardlab.engine.kernel import bit, count_bits, int64, kernel
from cardlab.games.uno.cards import (
    ACTIONS,
    DRAW,
    DRAW_TWO,
    FOUR,
    KEEP,
    NAME,
    ONE_COLOUR,
    ONE_TRAIT,
    REVERSE,
    SKIP,
    WILD,
)
from cardlab.games.uno.kernels import after

DANGER = 2  # cards in the next hand that call for an attack


@kernel
def choose(s: Any, seat: int, actions: Any, count: int) -> int:
    """Play towards colours that one holds and the next seat is known to lack; wilds come last.

    If the next hand has one or two cards, cards that skip it or make it draw come first. A drawn
    card is played if it fits; a stacked draw two is answered with another.
    """
    next_seat = after(s, seat)
    danger = int64(s.sizes[next_seat]) <= DANGER
    best = -1
    choice = int64(actions[0])
    for i in range(count):
        action = int64(actions[i])
        if action in (DRAW, KEEP):
            score = 0
        elif action >= NAME:
            score = 1 + colour_score(s, seat, next_seat, action - NAME)
        else:
            colour = action // ACTIONS
            trait = action % ACTIONS
            score = 100 + colour_score(s, seat, next_seat, colour)
            if trait >= WILD:
                score += 5000 if danger and trait == FOUR else 0
            else:
                score += 2000 + 25 * others_of_trait(s, seat, action)
                if trait in (SKIP, DRAW_TWO) or (trait == REVERSE and s.seats == 2):
                    score += 4000 if danger else 60
                elif trait == REVERSE and danger:
                    score += 1000
        if score > best:
            best = score
            choice = action
    return choice


@kernel
def colour_score(s: Any, seat: int, next_seat: int, colour: int) -> int:
    """Return how good a colour is to have in force: own cards of it, and hands known to lack it."""
    kinds = int64(ONE_COLOUR) << (ACTIONS * colour)
    own = count_bits(s.cards[seat, 0] & kinds) + count_bits(s.cards[seat, 1] & kinds)
    lacking = 0
    for group in range(int64(s.groups[next_seat])):
        if s.barred[next_seat, group] & kinds == kinds:
            lacking += int64(s.places[next_seat, group])
    return 100 * own + 60 * lacking // max(int64(s.sizes[next_seat]), 1)


@kernel
def others_of_trait(s: Any, seat: int, kind: int) -> int:
    """Return how many other cards of a card's trait a seat holds."""
    same = int64(ONE_TRAIT) << (kind % ACTIONS)
    held = count_bits(s.cards[seat, 0] & same) + count_bits(s.cards[seat, 1] & same)
    return held - 1 if s.cards[seat, 0] & bit(kind) else held
