"""The 52 cards of the standard deck: pips as on real cards, courts that read upside down as well.

The suits differ in shape; `four_colour` also gives each a colour of its own.
"""

from __future__ import annotations

from cardlab.engine.cards import RANKS, SUIT_NAMES, SUIT_SYMBOLS, SUITS
from cardlab.show.pictures.drawing import (
    box,
    dots,
    ellipse,
    fill,
    glyphs,
    moved,
    panel,
    stroke,
    turned,
)

__all__ = [
    "HELD",
    "HIGH",
    "TEXTS",
    "WIDE",
    "art",
    "back",
    "icons",
    "paint",
    "rank",
    "title",
    "word",
]

WIDE, HIGH = 100, 140
MIDDLE = (WIDE / 2, HIGH / 2)
TEXTS = tuple(rank + suit for rank in RANKS for suit in SUITS)
HELD = tuple(rank + suit for suit in "SHCD" for rank in RANKS)
RANK_NAMES = (
    *("ace", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("jack", "queen", "king"),
)

BLACK, RED = "#112", "#c12"
TWO_COLOURS = dict(zip(SUITS, (BLACK, RED, RED, BLACK), strict=True))
FOUR_COLOURS = dict(zip(SUITS, ("#173", "#15b", RED, BLACK), strict=True))
PAPER, EDGE, SKIN, GOLD, LIGHT_GOLD = "#fffdf7", "#888", "#fdc", "#da2", "#fd7"
HAIR = {"J": "#852", "Q": "#531", "K": "#667"}

# Each fits a box 20 wide and 20 high around the origin
SIGNS = {
    "C": "M-1 3A5 5 0 1 1 -4 -3A5 5 0 1 1 4 -3A5 5 0 1 1 1 3Q1 8 4 10H-4Q-1 8 -1 3Z",
    "D": "M0 -10Q3 -5 8 0Q3 5 0 10Q-3 5 -8 0Q-3 -5 0 -10Z",
    "H": "M0 9C-3 5 -9 1 -9 -4C-9 -10 -2 -11 0 -5C2 -11 9 -10 9 -4C9 1 3 5 0 9Z",
    "S": "M0 -9C3 -5 9 -1 9 4C9 9 3 9 1 5Q1 8 4 10H-4Q-1 8 -1 5C-3 9 -9 9 -9 4C-9 -1 -3 -5 0 -9Z",
}
TEN = "M.2 2.2L2.4 0V12M7.6 0C5.6 0 4.9 2.6 4.9 6S5.6 12 7.6 12 10.3 9.4 10.3 6 9.6 0 7.6 0Z"

LEFT, CENTRE, RIGHT = 33.5, 50, 66.5
ROWS = (25, 55, 85, 115)
THIRDS = (25, 70, 115)
COLUMNS_OF_TWO = {4: (25, 115), 5: (25, 115), 6: THIRDS, 7: THIRDS, 8: THIRDS, 9: ROWS, 10: ROWS}
CENTRE_PIPS = {
    1: (70,),
    2: (25, 115),
    3: THIRDS,
    5: (70,),
    7: (47.5,),
    8: (47.5, 92.5),
    9: (70,),
    10: (40, 100),
}


def title(text: str) -> str:
    """Return the words for a card: `seven of hearts`."""
    return f"{RANK_NAMES[RANKS.index(text[0])]} of {SUIT_NAMES[SUITS.index(text[1])]}"


def word(text: str) -> str:
    """Return what stands for a card in a line of text: `7♥`."""
    return text[0].replace("T", "10") + SUIT_SYMBOLS[SUITS.index(text[1])]


def paint(text: str) -> str:
    """Return the class of a card's word: `suit-H`."""
    return f"suit-{text[1]}"


def rank(text: str) -> int:
    """Return the place of a card's rank, from the ace."""
    return RANKS.index(text[0])


def art(text: str, *, four_colour: bool = False) -> str:
    """Return the drawing of one card."""
    rank, suit = text[0], text[1]
    colour = (FOUR_COLOURS if four_colour else TWO_COLOURS)[suit]
    number = RANKS.index(rank) + 1
    middle = _pips(number, suit) if number <= 10 else ""
    parts = [panel(PAPER, EDGE, 0.5, 0.5, 99, 139, 7)]
    if number > 10:
        parts.append(_court(rank, suit, colour))
    parts.append(fill(colour, _corner_sign(suit), turned(_corner_sign(suit), *MIDDLE), middle))
    index = moved(TEN, 5.4, 9, scale=17 / 12) if rank == "T" else glyphs(rank, 12.5, 9, 17)
    parts.append(stroke(colour, 3, index, turned(index, *MIDDLE)))
    return "".join(parts)


def _corner_sign(suit: str) -> str:
    return moved(SIGNS[suit], 12.5, 38.5, scale=0.78)


def _pips(number: int, suit: str) -> str:
    if number == 1:
        return moved(SIGNS[suit], *MIDDLE, scale=2.6)
    rows: tuple[float, ...] = COLUMNS_OF_TWO.get(number, ())
    places: list[tuple[float, float]] = [(x, y) for y in rows for x in (LEFT, RIGHT)]
    places += [(CENTRE, y) for y in CENTRE_PIPS.get(number, ())]
    return "".join(moved(SIGNS[suit], x, y, angle=180 if y > MIDDLE[1] else 0) for x, y in places)


def _court(rank: str, suit: str, colour: str) -> str:
    """Return a framed figure, once upright and once upside down."""
    half = {"J": _jack, "Q": _queen, "K": _king}[rank](colour)
    half.append(fill(colour, moved(SIGNS[suit], 29.6, 23.4, scale=0.58)))
    upright = "".join(half)
    return (
        panel("#fcf1d8", colour, 23, 15, 54, 110, 3)
        + upright
        + f'<g transform="rotate(180 50 70)">{upright}</g>'
        + stroke(BLACK, 1.2, "M23 70H77")
    )


def _face(*, eyes: float = 41.5) -> list[str]:
    brows_and_nose = f"M45 {eyes - 3}H47M53 {eyes - 3}H55M50 {eyes}L49 {eyes + 4}H51"
    return [
        dots(BLACK, 2, (46, eyes), (54, eyes)),
        stroke(BLACK, 0.7, brows_and_nose),
        stroke("#a32", 0.9, f"M48 {eyes + 7}Q50 {eyes + 8} 52 {eyes + 7}"),
    ]


def _robe(colour: str, *, shoulder: float = 57) -> list[str]:
    body = f"M23 69.5V66Q25 {shoulder} 41 {shoulder - 3}H59Q75 {shoulder} 77 66V69.5Z"
    return [
        stroke(BLACK, 0.8, body, inside=colour),
        dots(GOLD, 3, *((x, 64) for x in (28, 34, 66, 72))),
    ]


def _jack(colour: str) -> list[str]:
    hair = "M38 50Q36 38 41 32H59Q64 38 62 50Q57 51 57 44H43Q43 51 38 50Z"
    cap = "M36 34Q37 22 51 22Q64 22 64 34Q50 29 36 34Z"
    feather = "M62 30Q64 20 74 19Q75 27 67 32Z"
    return [
        *_robe(colour),
        stroke(BLACK, 0.7, "M43 54L50 69.5L57 54", inside=LIGHT_GOLD),
        fill(HAIR["J"], hair),
        stroke(BLACK, 0.7, ellipse(50, 43, 8, 11), inside=SKIN),
        fill(HAIR["J"], "M42 39Q50 36 58 39V34H42Z"),
        stroke(BLACK, 0.7, cap, inside=colour),
        stroke(GOLD, 2, "M37 34Q50 29 63 34"),
        stroke(BLACK, 0.6, feather, inside=LIGHT_GOLD),
        stroke(BLACK, 0.5, "M63 30Q67 25 72 21"),
        *_face(eyes=43),
    ]


def _queen(colour: str) -> list[str]:
    hair = "M50 30Q62 31 63 43L65 56H35L37 43Q38 31 50 30Z"
    crown = "M40 32L38 22L44 27L50 19L56 27L62 22L60 32Z"
    flower = ((69, 46), (72, 49), (71, 52), (67, 52), (66, 49))
    return [
        fill(HAIR["Q"], hair),
        *_robe(colour, shoulder=59),
        fill(SKIN, "M45 50H55V55Q56 60 50 62Q44 60 45 55Z"),
        stroke(GOLD, 1.5, "M43 57Q50 66 57 57"),
        dots(colour, 3.2, (50, 63.4)),
        stroke(BLACK, 0.7, ellipse(50, 43, 8, 10), inside=SKIN),
        fill(HAIR["Q"], "M42 41Q43 35 50 34Q57 35 58 41Q60 33 50 31Q40 33 42 41Z"),
        stroke(BLACK, 0.7, crown, inside=GOLD),
        dots(colour, 2.8, (50, 28), (44, 29), (56, 29)),
        stroke("#373", 1, "M69 66V52"),
        fill("#373", "M69 61Q70 56 74 57Q74 61 69 61Z"),
        dots(colour, 3.8, *flower),
        dots(LIGHT_GOLD, 3.2, (69, 49)),
        *_face(eyes=43),
    ]


def _king(colour: str) -> list[str]:
    crown = "M38 32L37 22L43 25L46 20L50 24L54 20L57 25L63 22L62 32ZM49 20V17H51V20ZM47 18H53"
    beard = "M41 43Q39 56 50 63Q61 56 59 43Q50 49 41 43Z"
    sword = "M72 69V44L70 40L68 44V69Z"
    return [
        *_robe(colour),
        fill("#fffdf7", "M36 55Q50 64 64 55L61 69H39Z"),
        dots(BLACK, 1.8, (43, 64), (57, 64), (50, 67)),
        fill(HAIR["K"], "M39 47Q37 37 41 31H59Q63 37 61 47Z"),
        stroke(BLACK, 0.7, ellipse(50, 42, 8, 11), inside=SKIN),
        stroke(BLACK, 0.6, beard, inside=HAIR["K"]),
        stroke(BLACK, 0.7, crown, inside=GOLD),
        dots(colour, 2.8, (50, 29), (44, 29), (56, 29)),
        stroke(BLACK, 0.6, sword, inside="#dde"),
        stroke(GOLD, 2, "M66 62.5H74"),
        *_face(eyes=41),
        stroke(HAIR["K"], 2.2, "M45 47Q48 45 50 46Q52 45 55 47"),
    ]


def back() -> str:
    """Return the back of all cards: a blue lattice."""
    lines = []
    for k in range(-8, 14):
        x = 12 * k
        for ends in ((x, 10, x + 120, 130), (x, 130, x + 120, 10)):
            line = _inside(*ends)
            if line:
                lines.append(line)
    return (
        panel(PAPER, EDGE, 0.5, 0.5, 99, 139, 7)
        + fill("#1f4a80", box(6, 6, 88, 128, 4))
        + stroke("#8fb2dd", 1, *lines)
        + stroke("#dfe9f5", 1.2, box(10, 10, 80, 120, 2))
    )


def _inside(x: float, y: float, end_x: float, end_y: float) -> str:
    """Return the part of a diagonal that lies within the frame of the back."""
    step = (end_y - y) / (end_x - x)
    first, last = max(x, 10), min(end_x, 90)
    if last - first < 1:
        return ""
    return f"M{first} {y + step * (first - x)}L{last} {y + step * (last - x)}"


def icons(*, four_colour: bool = False) -> dict[str, tuple[str, str, str]]:
    """Return the suit signs alone: by symbol id a title, the view box and the drawing."""
    colours = FOUR_COLOURS if four_colour else TWO_COLOURS
    return {
        f"suit-{suit}": (name, "-11 -11 22 22", fill(colours[suit], SIGNS[suit]))
        for suit, name in zip(SUITS, SUIT_NAMES, strict=True)
    }
