"""The 108 cards of Uno: ids, kinds, sets, texts.

Two cards of the same face are equal, so the rules use kinds, not ids. A kind is
15 * colour + trait for the coloured cards, 13 for a wild and 14 for a wild draw four, with colours
R G B Y as 0 ... 3 and traits 0-9, skip, reverse, draw two as 0 ... 12. Card ids: 0..51 the first
copies of the coloured cards (13 * colour + trait), 52..99 the second copies of all but the zeros
(52 + 12 * colour + trait - 1), 100..103 the wilds, 104..107 the wild draw fours.

A set of cards is a pair of signed 64-bit masks over kinds: those held at least once and those held
at least twice. The third and fourth wild count as kind 28, those wild draw fours as kind 29, which
no coloured card uses.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cardlab.engine.errors import CardlabError
from cardlab.engine.kernel import bit, count_bits, int64, kernel

DECK = 108
COLOURS = "RGBY"
COLOUR_NAMES = ("red", "green", "blue", "yellow")
TRAITS = ("0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "S", "R", "+2")
SKIP, REVERSE, DRAW_TWO, WILD, FOUR = range(10, 15)
ACTIONS = 15  # actions of one colour; kinds are spaced alike
KIND_END = 60
DRAW, KEEP, NAME = 60, 61, 62
NUM_ACTIONS = NAME + 4

KIND = np.array(
    [ACTIONS * colour + trait for colour in range(4) for trait in range(13)]
    + [ACTIONS * colour + trait for colour in range(4) for trait in range(1, 13)]
    + [WILD] * 4
    + [FOUR] * 4,
    dtype=np.uint8,
)
TOTAL = np.bincount(KIND, minlength=KIND_END).astype(np.uint8)  # how many cards of a kind exist

ONE_COLOUR = (1 << 13) - 1  # the kinds of red
ONE_TRAIT = sum(1 << (ACTIONS * colour) for colour in range(4))  # the zeros, or all red actions
WILD_BIT, FOUR_BIT = 1 << WILD, 1 << FOUR
NUMBERS = np.array([ONE_TRAIT << trait for trait in range(10)], dtype=np.int64)
ACTION_CARDS = (ONE_TRAIT << SKIP) | (ONE_TRAIT << REVERSE) | (ONE_TRAIT << DRAW_TWO)
WILDS = WILD_BIT | FOUR_BIT | ((WILD_BIT | FOUR_BIT) << ACTIONS)
# Kinds in the order of a sorted hand, each with its bits in a mask.
PLACES = [(kind, 1 << kind) for kind in range(KIND_END) if TOTAL[kind] and kind % ACTIONS < WILD]
PLACES += [(kind, 1 << kind | 1 << (kind + ACTIONS)) for kind in (WILD, FOUR)]


@kernel
def add(cards: Any, kind: int) -> None:
    """Put one card into a set."""
    if not cards[0] & bit(kind):
        cards[0] |= bit(kind)
    elif not cards[1] & bit(kind):
        cards[1] |= bit(kind)
    elif not cards[0] & bit(kind + ACTIONS):
        cards[0] |= bit(kind + ACTIONS)
    else:
        cards[1] |= bit(kind + ACTIONS)


@kernel
def remove(cards: Any, kind: int) -> None:
    """Take one card out of a set that has it."""
    if cards[1] & bit(kind):
        if kind in (WILD, FOUR):
            if cards[1] & bit(kind + ACTIONS):
                cards[1] ^= bit(kind + ACTIONS)
                return
            if cards[0] & bit(kind + ACTIONS):
                cards[0] ^= bit(kind + ACTIONS)
                return
        cards[1] ^= bit(kind)
    else:
        cards[0] &= ~bit(kind)


@kernel
def count(cards: Any, kind: int) -> int:
    """Return how many cards of a kind a set has."""
    found = ((cards[0] >> int64(kind)) & 1) + ((cards[1] >> int64(kind)) & 1)
    if kind in (WILD, FOUR):
        found += (cards[0] >> int64(kind + ACTIONS)) & 1
        found += (cards[1] >> int64(kind + ACTIONS)) & 1
    return found


@kernel
def hand_value(cards: Any) -> int:
    """Return what a hand is worth: numbers their face, action cards 20, wilds 50."""
    total = 0
    for copy in range(2):
        mask = cards[copy]
        for number in range(1, 10):
            total += number * count_bits(mask & NUMBERS[number])
        total += 20 * count_bits(mask & ACTION_CARDS) + 50 * count_bits(mask & WILDS)
    return total


def cards_in(cards: Any) -> list[int]:
    """Return the kinds in a set in ascending order, wilds last, each as often as it is there."""
    first, second = int(cards[0]), int(cards[1])
    found = []
    for kind, bits in PLACES:
        found += [kind] * ((first & bits).bit_count() + (second & bits).bit_count())
    return found


def kind_text(kind: int) -> str:
    """Return the text of a kind, for instance `R7`, `GS`, `BR`, `Y+2`, `W` or `W+4`."""
    if kind in (WILD, FOUR):
        return "W" if kind == WILD else "W+4"
    return COLOURS[kind // ACTIONS] + TRAITS[kind % ACTIONS]


def card_text(card: int) -> str:
    """Return a card's text; the copies of a card share it."""
    return kind_text(int(KIND[card]))


WORDS = {
    "RED": "R",
    "GREEN": "G",
    "BLUE": "B",
    "YELLOW": "Y",
    "SKIP": "S",
    "REVERSE": "R",
    "REV": "R",
    "DRAWTWO": "+2",
    "DRAW2": "+2",
    "D2": "+2",
    "WILDDRAWFOUR": "W+4",
    "WILDDRAW4": "W+4",
    "WD4": "W+4",
    "W4": "W+4",
    "WILD+4": "W+4",
    "WILD": "W",
}


def parse_card(text: str) -> int:
    """Return the card that a person means by `r7`, `red 7`, `gs`, `blue reverse`, `y+2`, `w+4`."""
    clean = "".join(text.upper().replace("-", " ").replace("_", " ").split())
    clean = WORDS.get(clean, clean)
    if clean in ("W", "W+4"):
        return 100 if clean == "W" else 104
    for name in COLOUR_NAMES:
        if clean.startswith(name.upper()):
            clean = name[0].upper() + clean[len(name) :]
    colour, trait = clean[:1], WORDS.get(clean[1:], clean[1:])
    if colour and colour in COLOURS and trait in TRAITS:
        return 13 * COLOURS.index(colour) + TRAITS.index(trait)
    raise CardlabError(
        f"unknown card {text.strip()!r}; write a colour R G B Y and 0-9, S (skip), R (reverse) or "
        "+2, such as R7, GS or Y+2, or W or W+4"
    )


def action_text(action: int) -> str:
    """Return an action in words: `R7`, `W=R`, `W+4=G`, `draw`, `keep`, `start=R`."""
    if action >= NAME:
        return f"start={COLOURS[action - NAME]}"
    if action >= DRAW:
        return "draw" if action == DRAW else "keep"
    colour, trait = divmod(action, ACTIONS)
    if trait < WILD:
        return kind_text(action)
    return f"{kind_text(trait)}={COLOURS[colour]}"


def parse_action(text: str) -> int:
    """Return the action that a person means by `r7`, `w=r`, `wild red`, `w+4 g`, `draw`, ..."""
    clean = text.strip().upper()
    if clean in ("DRAW", "TAKE", "KEEP", "PASS"):
        return DRAW if clean in ("DRAW", "TAKE") else KEEP
    what, _, called = clean.replace("=", " ").rpartition(" ")
    names = (*COLOURS, *(name.upper() for name in COLOUR_NAMES))
    colour = names.index(called) % 4 if called in names else -1
    if what and colour >= 0:
        if what.strip() == "START":
            return NAME + colour
        kind = int(KIND[parse_card(what)])
        if kind in (WILD, FOUR):
            return ACTIONS * colour + kind
        raise CardlabError(
            f"{kind_text(kind)} is no wild and calls no colour; write {kind_text(kind)!r} alone"
        )
    if what.strip() in ("W", "W+4", "WILD", "START") and "=" in clean:
        raise CardlabError(f"unknown colour {called.lower()!r} in {text.strip()!r}; use R, G, B, Y")
    kind = int(KIND[parse_card(clean)])
    if kind in (WILD, FOUR):
        name = kind_text(kind)
        raise CardlabError(
            f"{name} must call a colour; write it as {name}=R, {name}=G, {name}=B or {name}=Y"
        )
    return kind
