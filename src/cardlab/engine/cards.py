"""The 52 cards of the standard deck: ids, sets and texts.

Card id = 4 * rank + suit, with ranks A 2 ... K as 0 ... 12 and suits C D H S as 0 ... 3. A set of
cards is a signed 64-bit mask.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cardlab.engine.arguments import shorten
from cardlab.engine.errors import CardlabError

__all__ = [
    "ALL_CARDS",
    "RANKS",
    "SUITS",
    "SUIT_NAMES",
    "SUIT_SYMBOLS",
    "card_text",
    "cards_in",
    "cards_text",
    "parse_card",
]

RANKS = "A23456789TJQK"
SUITS = "CDHS"
SUIT_NAMES = ("clubs", "diamonds", "hearts", "spades")
SUIT_SYMBOLS = "♣♦♥♠"
DECK = 52
ALL_CARDS = (1 << DECK) - 1


def card_text(card: int) -> str:
    """Return a card's text, for instance `TH`."""
    return RANKS[card >> 2] + SUITS[card & 3]


def cards_in(mask: int) -> Iterator[int]:
    """Yield the cards of a set in ascending order."""
    rest = int(mask)
    while rest:
        lowest = rest & -rest
        yield lowest.bit_length() - 1
        rest ^= lowest


def cards_text(cards: Iterable[int]) -> str:
    """Return the texts of cards, separated by spaces."""
    return " ".join(card_text(card) for card in cards)


def parse_card(text: str) -> int:
    """Return the card of a text such as `7h`, `10H`, `TH` or `7♥`."""
    if not isinstance(text, str):
        raise CardlabError(f"a card must be a text such as 7H, got {shorten(text)}")
    clean = text.strip().upper().replace("10", "T")
    for symbol, letter in zip(SUIT_SYMBOLS + "♧♢♡♤", SUITS + SUITS, strict=True):
        clean = clean.replace(symbol, letter)
    if len(clean) == 2 and clean[0] in RANKS and clean[1] in SUITS:
        return 4 * RANKS.index(clean[0]) + SUITS.index(clean[1])
    raise CardlabError(
        f"unknown card {text.strip()!r}; write a rank A 2-9 T J Q K and a suit C D H S, such as 7H"
    )
