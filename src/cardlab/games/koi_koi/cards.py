"""The 48 hanafuda cards: ids, sets, texts.

Card id = 4 * (month - 1) + (number - 1), with the most valuable card of a month first. The text of
a card is its month and what it shows, such as `1-crane`; `red` is a red poetry ribbon, `blue` a
blue one, `ribbon` a plain one, and the letters `a`, `b`, `c` are dross.
"""

from __future__ import annotations

from collections.abc import Iterable

from cardlab.engine.errors import CardlabError
from cardlab.engine.kernel import kernel

DECK = 48
ALL_CARDS = (1 << DECK) - 1
ONE_MONTH = 0xF
EACH_MONTH = 0x111111111111  # one bit for each month
BIT_PAIRS = 0x555555555555
BIT_FOURS = 0x333333333333

PICTURES = (
    ("crane", "red", "a", "b"),
    ("warbler", "red", "a", "b"),
    ("curtain", "red", "a", "b"),
    ("cuckoo", "ribbon", "a", "b"),
    ("bridge", "ribbon", "a", "b"),
    ("butterfly", "blue", "a", "b"),
    ("boar", "ribbon", "a", "b"),
    ("moon", "geese", "a", "b"),
    ("cup", "blue", "a", "b"),
    ("deer", "blue", "a", "b"),
    ("rainman", "swallow", "ribbon", "a"),
    ("phoenix", "a", "b", "c"),
)
TEXTS = tuple(
    f"{month}-{picture}" for month, four in enumerate(PICTURES, start=1) for picture in four
)


def set_of(*pictures: str) -> int:
    """Return the set of all cards that show one of these."""
    return sum(1 << i for i, text in enumerate(TEXTS) if text.partition("-")[2] in pictures)


CURTAIN, MOON, RAINMAN, CUP = map(set_of, ("curtain", "moon", "rainman", "cup"))
LIGHTS = set_of("crane", "phoenix") | CURTAIN | MOON | RAINMAN
BOAR_DEER_BUTTERFLY = set_of("boar", "deer", "butterfly")
SEEDS = set_of("warbler", "cuckoo", "bridge", "geese", "swallow") | BOAR_DEER_BUTTERFLY | CUP
RED, BLUE = set_of("red"), set_of("blue")
RIBBONS = set_of("ribbon") | RED | BLUE
DROSS = set_of("a", "b", "c") | CUP  # the sake cup is a seed as well
CATEGORIES = {"lights": LIGHTS, "seeds": SEEDS, "ribbons": RIBBONS, "dross": DROSS & ~CUP}


def card_text(card: int) -> str:
    """Return a card's text, for instance `1-crane`."""
    return TEXTS[card]


def cards_text(cards: Iterable[int]) -> str:
    """Return the texts of cards, separated by spaces."""
    return " ".join(card_text(card) for card in cards)


def find_cards(text: str) -> list[int]:
    """Return the cards that `1-crane`, `1-1`, `1 crane` or `crane` can mean."""
    clean = "-".join(text.strip().lower().replace("-", " ").split())
    if clean in TEXTS:
        return [TEXTS.index(clean)]
    month, _, number = clean.partition("-")
    known = month.isdecimal() and len(month) <= 2 and 1 <= int(month) <= len(PICTURES)
    if known and number in ("1", "2", "3", "4"):
        return [4 * (int(month) - 1) + int(number) - 1]
    return [i for i, name in enumerate(TEXTS) if name.partition("-")[2] == clean]


def parse_card(text: str) -> int:
    """Return the one card that a text means."""
    alike = find_cards(text)
    if len(alike) == 1:
        return alike[0]
    if alike:
        raise CardlabError(
            f"{text.strip()!r} can be {len(alike)} cards; write its month too, such as "
            f"{TEXTS[alike[0]]}"
        )
    raise CardlabError(
        f"unknown card {text.strip()!r}; write its month and picture such as 1-crane, 4-ribbon or "
        "12-a, or its month and number such as 1-1"
    )


@kernel
def four_of_a_month(cards: int) -> int:
    """Return the first card of each month of which all four are in a set."""
    return cards & (cards >> 1) & (cards >> 2) & (cards >> 3) & EACH_MONTH


@kernel
def month_counts(cards: int) -> int:
    """Return how many cards of each month are in a set, four bits a month."""
    pairs = cards - ((cards >> 1) & BIT_PAIRS)
    return (pairs & BIT_FOURS) + ((pairs >> 2) & BIT_FOURS)


@kernel
def three_of_a_month(cards: int) -> bool:
    """Return whether a set holds three or four cards of some month."""
    counts = month_counts(cards)
    return ((counts & (counts >> 1)) | (counts >> 2)) & EACH_MONTH != 0


@kernel
def four_pairs(hand: int) -> bool:
    """Return whether eight cards are two each of four months."""
    return month_counts(hand) & ~(2 * EACH_MONTH) == 0
