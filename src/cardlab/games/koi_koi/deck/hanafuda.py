"""The 48 hanafuda cards: the plant of the month, what stands before it, month and category.

A badge in the corner gives the month's number, the mark beside it the category: a sun for lights, a
diamond for seeds, a slip for ribbons, a dot for dross.
"""

from __future__ import annotations

from cardlab.engine.cards import cards_in
from cardlab.games.koi_koi.cards import CATEGORIES, TEXTS
from cardlab.games.koi_koi.deck import plants
from cardlab.games.koi_koi.deck.figures import FIGURES, ribbon
from cardlab.games.koi_koi.deck.scenes import SCENES
from cardlab.show.pictures.decks import Deck
from cardlab.show.pictures.drawing import box, dots, fill, glyphs, panel, polygon, stroke

WIDE, HIGH = 100, 160
PAPER, FRAME = "#f8f0dc", "#3b0d12"
RED, BLUE = "#c12", "#33499c"
MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September"),
    *("October", "November", "December"),
)
NAMES = (
    *("pine", "plum", "cherry", "wisteria", "iris", "peony", "bush clover", "susuki grass"),
    *("chrysanthemum", "maple", "willow", "paulownia"),
)
CATEGORY_WORDS = {"lights": "light", "seeds": "seed", "ribbons": "ribbon", "dross": "dross"}
CATEGORY = {TEXTS[card]: name for name, cards in CATEGORIES.items() for card in cards_in(cards)}
PICTURE_WORDS = {
    "red": "red poetry ribbon",
    "blue": "blue ribbon",
    "ribbon": "plain red ribbon",
    "cup": "sake cup",
    "rainman": "rain man",
    "butterfly": "butterflies",
}
DROSS = "abc"
DROSS_WORDS = {"a": "plain", "b": "plain, second", "c": "plain, third"}


def title(text: str) -> str:
    """Return the words for a card: `March, curtain (light)`, `May, iris a (dross)`."""
    month, _, picture = text.partition("-")
    number = int(month) - 1
    if picture in DROSS:
        return f"{MONTHS[number]}, {NAMES[number]} {picture} (dross)"
    if CATEGORY[text] == "ribbons":
        return f"{MONTHS[number]}, {PICTURE_WORDS[picture]} with {NAMES[number]}"
    words = PICTURE_WORDS.get(picture, picture)
    return f"{MONTHS[number]}, {words} ({CATEGORY_WORDS[CATEGORY[text]]})"


def month_of(text: str) -> int:
    """Return the month of a card."""
    return int(text.partition("-")[0])


def aloud(text: str) -> str:
    """Return what a card is called at a table: `cherry, curtain`, `iris, plain, second`."""
    month, _, picture = text.partition("-")
    words = {"red": "red poetry ribbon", "blue": "blue ribbon"} | DROSS_WORDS
    return f"{NAMES[int(month) - 1]}, {words.get(picture, picture)}"


def word(text: str) -> str:
    """Return what stands for a card in a line of text: `cherry curtain`, `iris plain`."""
    plant, picture, *_ = aloud(text).split(", ")
    return f"{plant} {picture}"


def art(text: str) -> str:
    """Return the drawing of one card."""
    month, _, picture = text.partition("-")
    number = int(month)
    scene = SCENES[number - 1](picture)
    if picture in FIGURES:
        scene += FIGURES[picture]()
    elif CATEGORY[text] == "ribbons":
        scene += ribbon(BLUE if picture == "blue" else RED, poem=picture == "red")
    elif text == "11-a":  # the one dross of willow shows no willow
        scene = FIGURES["storm"]()
    return "".join(
        (
            panel(PAPER, FRAME, 0.5, 0.5, 99, 159, 7),
            scene,
            fill(FRAME, _frame()),
            _badge(number, CATEGORY[text]),
        )
    )


def _frame() -> str:
    """Return a border that hides what the scene draws beyond it, corners included."""
    inner = "M9 4A5 5 0 0 0 4 9V151A5 5 0 0 0 9 156H91A5 5 0 0 0 96 151V9A5 5 0 0 0 91 4Z"
    return box(0, 0, WIDE, HIGH, 7) + inner


def _badge(number: int, category: str) -> str:
    out = panel("#fffdf5", FRAME, 5, 5, 21, 32, 4)
    out += stroke("#311", 2.2, glyphs(str(number), 15.5, 9.5, 11.5, squeeze=0.92))
    return out + _category_mark(category, 15.5, 29.4, 1)


def _category_mark(category: str, x: float, y: float, size: float) -> str:
    if category == "lights":
        rays = plants.across(x, y, 6 * size, 4)
        return stroke("#d3202c", 1.6 * size, *rays) + dots("#f5b21e", 7.4 * size, (x, y))
    if category == "seeds":
        r = 5 * size
        return fill("#2a6b3c", polygon((x, y - r), (x + r, y), (x, y + r), (x - r, y)))
    if category == "ribbons":
        return fill("#33499c", box(x - 3 * size, y - 5 * size, 6 * size, 10 * size, 1))
    return dots("#665", 5 * size, (x, y))


def back() -> str:
    """Return the back of all cards: dark red, as the paper that wraps them."""
    return panel("#6d1420", FRAME, 0.5, 0.5, 99, 159, 7) + stroke(
        "#8d2733", 1.2, box(6, 6, 88, 148, 4)
    )


def icons() -> dict[str, tuple[str, str, str]]:
    """Return the marks of the categories: by symbol id a title, the view box and the drawing."""
    return {
        f"category-{name}": (name, "-8 -8 16 16", _category_mark(name, 0, 0, 1))
        for name in CATEGORIES
    }


DECK = Deck("hanafuda", WIDE, HIGH, TEXTS, art, back, title, icons, word, aloud, rank=month_of)
