"""Paths: shapes to compose, letters and digits of our own, and the shortest text for all of them.

A path is SVG path data with absolute commands. Pictures use neither fonts, gradients, clips, ids
nor style sheets, so that they look the same in a page, in a notebook and from another file. They
stand in an element with `DEFAULTS`: nothing is filled unless it says so, lines have round ends.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Sequence
from itertools import pairwise

__all__ = [
    "DEFAULTS",
    "at",
    "blob",
    "box",
    "circle",
    "curve",
    "dashes",
    "dots",
    "ellipse",
    "fill",
    "glyphs",
    "glyphs_width",
    "leaf",
    "mirrored",
    "moved",
    "panel",
    "polygon",
    "ring_of",
    "stroke",
    "turned",
]

DEFAULTS = 'fill="none" stroke-linecap="round" stroke-linejoin="round"'

Point = tuple[float, float]
Segment = tuple[str, tuple[float, ...]]

TOKENS = re.compile(r"[MLHVCSQTAZ]|-?(?:\d+\.?\d*|\.\d+)(?:e-?\d+)?")
ARGUMENTS = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "S": 4, "Q": 4, "T": 2, "A": 7, "Z": 0}

# Strokes in a box 8 wide and 12 high
GLYPHS = {
    "0": "M4 0C1.2 0 0 2.6 0 6S1.2 12 4 12 8 9.4 8 6 6.8 0 4 0Z",
    "1": "M1 2.8L4.6 0V12M1.6 12H7.4",
    "2": "M.3 3.4C.3 1.2 1.9 0 4 0S7.7 1.2 7.7 3.4C7.7 6.2 1.6 8.6 0 12H8",
    "3": "M.4 2.2C1 .8 2.3 0 4 0 6 0 7.5 1.1 7.5 2.9S6 5.7 3.2 5.7C6.3 5.7 8 6.9 8 8.8S6.3 12 4 12"
    "C2 12 .6 11.2 0 9.7",
    "4": "M6 12V0L0 8.5H8",
    "5": "M7.3 0H1.3L.7 5.4C1.5 4.7 2.6 4.4 4 4.4 6.4 4.4 8 5.9 8 8.1S6.3 12 3.9 12C2 12 .7 11.2"
    " 0 9.8",
    "6": "M7.2 1.5C6.5 .5 5.4 0 4.2 0 1.4 0 0 2.8 0 6.8 0 10 1.4 12 4 12S8 10.4 8 8.2 6.4 4.6 4.2"
    " 4.6C2.2 4.6 .6 5.8 .1 7.8",
    "7": "M0 0H8C5.6 3.4 3.8 7.4 3 12",
    "8": "M4 5.6C1.9 5.6 .6 4.4 .6 2.8S2 0 4 0 7.4 1.2 7.4 2.8 6.1 5.6 4 5.6C1.6 5.6 0 6.9 0 8.8"
    "S1.6 12 4 12 8 10.7 8 8.8 6.4 5.6 4 5.6Z",
    "9": "M.8 10.5C1.5 11.5 2.6 12 3.8 12 6.6 12 8 9.2 8 5.2 8 2 6.6 0 4 0S0 1.6 0 3.8 1.6 7.4 3.8"
    " 7.4C5.8 7.4 7.4 6.2 7.9 4.2",
    "A": "M0 12L4 0 8 12M1.4 8.2H6.6",
    "J": "M3.4 0H7.6M6.1 0V8.6C6.1 10.8 4.9 12 3.1 12S.1 10.9 0 8.8",
    "Q": "M4 0C1.2 0 0 2.6 0 6S1.2 12 4 12 8 9.4 8 6 6.8 0 4 0ZM4.8 8.6L8 12.4",
    "K": "M.4 0V12M7.8 0L.4 7.4M3.2 4.8L8 12",
    "+": "M0 6H8M4 2V10",
}
GLYPH_STEP = 10.6  # from one glyph to the next


def segments(path: str) -> list[Segment]:
    """Return the commands of a path with their numbers, horizontal and vertical lines as lines."""
    found: list[Segment] = []
    tokens = TOKENS.findall(path)
    at, x, y, command = 0, 0.0, 0.0, ""
    while at < len(tokens):
        if tokens[at] in ARGUMENTS:
            command = tokens[at]
            at += 1
        numbers = [float(number) for number in tokens[at : at + ARGUMENTS[command]]]
        at += ARGUMENTS[command]
        if command == "Z":
            found.append(("Z", ()))
            continue
        if command in "HV":
            numbers = [numbers[0], y] if command == "H" else [x, numbers[0]]
        x, y = numbers[-2:]
        found.append(("L" if command in "HV" else command, tuple(numbers)))
        if command == "M":
            command = "L"
    return found


def moved(
    path: str,
    x: float = 0,
    y: float = 0,
    *,
    scale: float = 1,
    angle: float = 0,
    flip: bool = False,
) -> str:
    """Return a path scaled, mirrored left to right if asked, turned clockwise, then shifted."""
    cos, sin = math.cos(math.radians(angle)) * scale, math.sin(math.radians(angle)) * scale
    side = -1 if flip else 1
    out = []
    for command, numbers in segments(path):
        points = list(numbers)
        first = 0
        if command == "A":
            first = 5
            points[0:2] = [points[0] * scale, points[1] * scale]
            points[2] = side * points[2] + angle
            points[4] = 1 - points[4] if flip else points[4]
        for i in range(first, len(points), 2):
            px, py = side * points[i], points[i + 1]
            points[i : i + 2] = [x + cos * px - sin * py, y + sin * px + cos * py]
        out.append(command + " ".join(f"{number:.3f}" for number in points))
    return "".join(out)


def turned(path: str, x: float, y: float) -> str:
    """Return a path turned upside down about a point."""
    return moved(path, 2 * x, 2 * y, angle=180)


def _number(tenths: int) -> str:
    whole, rest = divmod(abs(tenths), 10)
    text = f"{whole or ''}.{rest}" if rest else str(whole)
    return ("-" if tenths < 0 else "") + text


def _joined(numbers: Sequence[str]) -> str:
    text = numbers[0]
    for before, number in pairwise(numbers):
        apart = number[0] != "-" and not (number[0] == "." and "." in before)
        text += f" {number}" if apart else number
    return text


@functools.lru_cache(maxsize=4096)
def compact(path: str) -> str:
    """Return a path in relative commands, rounded to tenths, without a needless character."""
    out: list[str] = []
    x = y = start_x = start_y = 0
    last = ""
    for command, numbers in segments(path):
        if command == "Z":
            out.append("z")
            x, y, last = start_x, start_y, "z"
            continue
        head = [_number(round(10 * number)) for number in numbers[:5]] if command == "A" else []
        rest = [round(10 * number) for number in numbers[5 if command == "A" else 0 :]]
        end_x, end_y = rest[-2:]
        steps = [number - (y if i % 2 else x) for i, number in enumerate(rest)]
        name = command.lower()
        if command == "M":
            start_x, start_y = end_x, end_y
        elif command == "L" and 0 in steps:
            name = "v" if steps[0] == 0 else "h"
            steps = [sum(steps)]
        text = _joined([*head, *(_number(step) for step in steps)])
        if name == last and name != "m":
            out.append(text if text[0] == "-" else f" {text}")
        else:
            out.append(name + text)
        last, x, y = name, end_x, end_y
    return "".join(out)


def fill(colour: str, *paths: str) -> str:
    """Return the element that fills paths."""
    return f'<path fill="{colour}" d="{compact("".join(paths))}"/>'


def stroke(colour: str, width: float, *paths: str, inside: str = "") -> str:
    """Return the element that draws paths as lines, and fills them if asked."""
    wide = _number(round(10 * width))
    data = compact("".join(paths))
    filled = f'fill="{inside}" ' if inside else ""
    return f'<path {filled}stroke="{colour}" stroke-width="{wide}" d="{data}"/>'


def dots(colour: str, across: float, *points: Point) -> str:
    """Return the element that draws equal discs: lines without length, with round ends."""
    return stroke(colour, across, *(f"M{x:.3f} {y:.3f}H{x:.3f}" for x, y in points))


def panel(colour: str, edge: str, x: float, y: float, wide: float, high: float, r: float) -> str:
    """Return a rectangle with round corners and a thin edge."""
    numbers = [_number(round(10 * number)) for number in (x, y, wide, high, r)]
    places = zip(("x", "y", "width", "height", "rx"), numbers, strict=True)
    place = " ".join(f'{name}="{number}"' for name, number in places)
    return f'<rect {place} fill="{colour}" stroke="{edge}"/>'


def dashes(colour: str, width: float, dash: str, *paths: str) -> str:
    """Return the element that draws paths as broken lines."""
    return stroke(colour, width, *paths).replace(" d=", f' stroke-dasharray="{dash}" d=')


def at(drawing: str, place: str) -> str:
    """Return a drawing under a transformation, as SVG writes it."""
    return f'<g transform="{place}">{drawing}</g>'


def mirrored(drawing: str, wide: float = 100) -> str:
    """Return a drawing of a whole card with left and right exchanged."""
    return at(drawing, f"matrix(-1 0 0 1 {wide:g} 0)")


def polygon(*points: Point) -> str:
    """Return a closed path with straight sides."""
    return "M" + "L".join(f"{x:.3f} {y:.3f}" for x, y in points) + "Z"


def curve(*points: Point, closed: bool = False) -> str:
    """Return a smooth line through points."""
    count = len(points)
    out = [f"M{points[0][0]:.3f} {points[0][1]:.3f}"]
    for i in range(count if closed else count - 1):
        around = [i - 1, i, i + 1, i + 2]
        if not closed:
            around = [min(max(place, 0), count - 1) for place in around]
        before, here, there, after = (points[place % count] for place in around)
        numbers = (
            here[0] + (there[0] - before[0]) / 6,
            here[1] + (there[1] - before[1]) / 6,
            there[0] - (after[0] - here[0]) / 6,
            there[1] - (after[1] - here[1]) / 6,
            *there,
        )
        out.append("C" + " ".join(f"{number:.3f}" for number in numbers))
    return "".join(out) + ("Z" if closed else "")


def blob(*points: Point) -> str:
    """Return a smooth closed outline through points."""
    return curve(*points, closed=True)


def ellipse(x: float, y: float, wide: float, high: float, angle: float = 0) -> str:
    """Return an ellipse by its centre and half axes."""
    path = f"M{-wide} 0A{wide} {high} 0 1 1 {wide} 0A{wide} {high} 0 1 1 {-wide} 0Z"
    return moved(path, x, y, angle=angle)


def circle(x: float, y: float, radius: float) -> str:
    """Return a circle."""
    return ellipse(x, y, radius, radius)


def box(x: float, y: float, wide: float, high: float, radius: float = 0) -> str:
    """Return a rectangle, with round corners if asked."""
    right, low, r = x + wide, y + high, radius
    if not r:
        return f"M{x} {y}H{right}V{low}H{x}Z"
    return (
        f"M{x + r} {y}H{right - r}A{r} {r} 0 0 1 {right} {y + r}V{low - r}"
        f"A{r} {r} 0 0 1 {right - r} {low}H{x + r}A{r} {r} 0 0 1 {x} {low - r}"
        f"V{y + r}A{r} {r} 0 0 1 {x + r} {y}Z"
    )


def leaf(x: float, y: float, length: float, wide: float, angle: float) -> str:
    """Return a pointed leaf that grows from a point; angle 0 points up."""
    half, bend = wide * 0.75, length * 0.4
    path = (
        f"M0 0C{-half} {-bend} {-half} {bend - length} 0 {-length}"
        f"C{half} {bend - length} {half} {-bend} 0 0Z"
    )
    return moved(path, x, y, angle=angle)


def ring_of(path: str, count: int, x: float, y: float, *, first: float = 0) -> str:
    """Return copies of a path turned around a point, evenly."""
    return "".join(moved(path, x, y, angle=first + 360 * k / count) for k in range(count))


def glyphs(text: str, x: float, y: float, height: float, *, squeeze: float = 1) -> str:
    """Return the strokes of digits and letters, centred at `x`, from `y` downwards."""
    scale = height / 12
    left = x - glyphs_width(text, height, squeeze=squeeze) / 2
    return "".join(
        moved(GLYPHS[letter], left + k * GLYPH_STEP * scale * squeeze, y, scale=scale)
        for k, letter in enumerate(text)
    )


def glyphs_width(text: str, height: float, *, squeeze: float = 1) -> float:
    """Return how wide the strokes of a text are."""
    return ((len(text) - 1) * GLYPH_STEP * squeeze + 8) * height / 12
