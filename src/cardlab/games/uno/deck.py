"""The cards of the Uno-like deck: a colour and a shape each, for colour-blind players.

Red is a triangle, green a disc, blue a square, yellow a star.
"""

from __future__ import annotations

from cardlab.games.uno.cards import COLOUR_NAMES, COLOURS, KIND, TRAITS, kind_text
from cardlab.show.pictures.decks import Deck
from cardlab.show.pictures.drawing import (
    at,
    box,
    circle,
    dots,
    fill,
    glyphs,
    moved,
    panel,
    polygon,
    stroke,
    turned,
)

WIDE, HIGH = 100, 140
MIDDLE = (WIDE / 2, HIGH / 2)
TEXTS = tuple(dict.fromkeys(kind_text(int(kind)) for kind in KIND))
EDGE, INK, WHITE = "#777", "#15161a", "#fff"
PAINT = dict(zip(COLOURS, ("#c8202c", "#1d8a43", "#1f5fc0", "#eeb111"), strict=True))
SHADE = dict(zip(COLOURS, ("#8f0f1b", "#0f5e2a", "#123f88", "#b57a00"), strict=True))
# Each fits a box 20 wide and 20 high around the origin
SHAPES = {
    "R": "M0 -9.4L10 8H-10Z",
    "G": circle(0, 0, 9.2),
    "B": "M-8.4 -8.4H8.4V8.4H-8.4Z",
    "Y": "M0 -10L2.9 -3.4L9.9 -2.8L4.6 1.8L6.2 8.8L0 5.1L-6.2 8.8L-4.6 1.8L-9.9 -2.8L-2.9 -3.4Z",
}
SIGN = dict(zip(COLOURS, (WHITE, WHITE, WHITE, INK), strict=True))  # what is seen on the paint
NUMBER_NAMES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
SIGN_NAMES = {"S": "skip", "R": "reverse", "+2": "draw two"}


def title(text: str) -> str:
    """Return the words for a card: `red seven`, `red skip`, `wild draw four`."""
    if text[0] == "W":
        return "wild" if text == "W" else "wild draw four"
    colour = COLOUR_NAMES[COLOURS.index(text[0])]
    sign = text[1:]
    return f"{colour} {SIGN_NAMES.get(sign) or NUMBER_NAMES[int(sign)]}"


def word(text: str) -> str:
    """Return what stands for a card in a line of text: `red 7`, `red skip`."""
    return (
        f"{COLOUR_NAMES[COLOURS.index(text[0])]} {text[1:]}" if text[1:].isdigit() else title(text)
    )


def art(text: str) -> str:
    """Return the drawing of one card."""
    if text[0] == "W":
        return _wild(four=text == "W+4")
    colour, sign = text[0], text[1:]
    shape = moved(SHAPES[colour], 13.5, 39, scale=0.62)
    parts = [
        panel("#fff", EDGE, 0.5, 0.5, 99, 139, 8),
        fill(PAINT[colour], box(4, 4, 92, 132, 6)),
        fill(SHADE[colour], moved(SHAPES[colour], 50, 73 if colour == "R" else 70, scale=3.5)),
        fill(SIGN[colour], shape, turned(shape, *MIDDLE)),
        _middle(sign, colour),
        _corners(sign, SIGN[colour]),
    ]
    return "".join(parts)


def _corners(sign: str, colour: str) -> str:
    if sign == "S":
        index, line = circle(14.5, 18.5, 7) + "M9.6 23.4L19.4 13.6", 2.6
    elif sign == "R":
        index, line = moved(ARROWS, 14.5, 18.5, scale=0.42), 2.4
    elif sign.startswith("+"):
        index, line = glyphs(sign, 18, 11.5, 14, squeeze=0.92), 2.8
    else:
        # A line under the numbers that can be read upside down
        index, line = glyphs(sign, 14, 10.5, 16) + ("M9.5 31H18.5" if sign in "69" else ""), 3.2
    return stroke(colour, line, index, turned(index, *MIDDLE))


ARROWS = "M-11 15V-4Q-11 -13 -2 -13H9M1 -21L9 -13L1 -5M11 -15V4Q11 13 2 13H-9M-1 21L-9 13L-1 5"


def _middle(sign: str, colour: str) -> str:
    if sign == "S":
        ring = circle(50, 70, 21)
        return stroke(INK, 11, ring, "M35.5 84.5L64.5 55.5") + stroke(
            WHITE, 7, ring, "M35.5 84.5L64.5 55.5"
        )
    if sign == "R":
        big = moved(ARROWS, 50, 70, scale=1.3)
        return stroke(INK, 10, big) + stroke(WHITE, 6, big)
    if sign == "+2":
        return _cards(((39, 80, colour), (61, 60, colour)), 1.25)
    number = glyphs(sign, 50, 46, 48)
    return stroke(INK, 12, number) + stroke(WHITE, 8, number)


def _cards(cards: tuple[tuple[float, float, str], ...], size: float) -> str:
    """Return small cards, one over the other, each with its colour's shape."""
    parts = []
    for x, y, colour in cards:
        card = stroke(INK, 1.6, box(-12, -18, 24, 36, 3), inside=WHITE)
        card += fill(PAINT[colour], box(-9.5, -15.5, 19, 31, 2))
        card += fill(SIGN[colour], moved(SHAPES[colour], scale=0.62))
        parts.append(at(card, f"translate({x:g} {y:g})scale({size:g})"))
    return "".join(parts)


def _wild(*, four: bool) -> str:
    corners = stroke(WHITE, 2.8, glyphs("+4", 18, 11.5, 14, squeeze=0.92))
    if not four:
        small = [fill(PAINT[c], _quarter(k, 14.5, 18.5, 9.5)) for k, c in enumerate(COLOURS)]
        corners = "".join(small)
    parts = [
        panel("#fff", EDGE, 0.5, 0.5, 99, 139, 8),
        fill("#26272d", box(4, 4, 92, 132, 6)),
        corners,
        at(corners, "rotate(180 50 70)"),
    ]
    if four:
        places = ((34, 84), (45, 56), (57, 84), (68, 56))
        pairs = zip(places, COLOURS, strict=True)
        return "".join((*parts, _cards(tuple((x, y, c) for (x, y), c in pairs), 1.05)))
    parts.append(dots(WHITE, 84, MIDDLE))
    for k, colour in enumerate(COLOURS):
        parts.append(fill(PAINT[colour], _quarter(k, 50, 70, 39)))
    for k, colour in enumerate(COLOURS):
        x, y = 50 + (16.5 if k in (0, 1) else -16.5), 70 + (16.5 if k in (1, 2) else -16.5)
        parts.append(fill(WHITE, moved(SHAPES[colour], x, y, scale=0.9)))
    return "".join(parts)


def _quarter(number: int, x: float, y: float, radius: float) -> str:
    """Return a quarter of a disc: upper right first, then clockwise."""
    return moved(
        f"M.6 -.6V{-radius}A{radius} {radius} 0 0 1 {radius} -.6Z", x, y, angle=90 * number
    )


def back() -> str:
    """Return the back of all cards: the four shapes on black."""
    places = ((50, 42), (76, 70), (50, 98), (24, 70))
    shapes = [
        fill(PAINT[colour], moved(SHAPES[colour], x, y, scale=0.95))
        for (x, y), colour in zip(places, COLOURS, strict=True)
    ]
    return (
        panel("#fff", EDGE, 0.5, 0.5, 99, 139, 8)
        + fill("#26272d", box(4, 4, 92, 132, 6))
        + stroke("#55575f", 1.4, polygon((50, 14), (92, 70), (50, 126), (8, 70)))
        + "".join(shapes)
    )


def icons() -> dict[str, tuple[str, str, str]]:
    """Return the shapes of the colours: by symbol id a title, the view box and the drawing."""
    return {
        f"colour-{letter}": (name, "-11 -11 22 22", fill(PAINT[letter], SHAPES[letter]))
        for letter, name in zip(COLOURS, COLOUR_NAMES, strict=True)
    }


HELD = (*(colour + sign for colour in "RYGB" for sign in TRAITS), "W", "W+4")
DECK = Deck("uno", WIDE, HIGH, TEXTS, art, back, title, icons, word, held=HELD)
