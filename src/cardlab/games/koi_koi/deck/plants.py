"""The plants of the twelve months, each as a drawing of the whole card behind its figure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

from cardlab.show.pictures.drawing import (
    curve,
    dashes,
    dots,
    fill,
    leaf,
    moved,
    polygon,
    ring_of,
    stroke,
)

Places = Sequence[tuple[float, float, float]]  # x, y and size or angle

INK, BARK = "#221", "#643"
DARK_GREEN, GREEN, LIGHT_GREEN = "#153f2a", "#2a6b3c", "#8b6"
RED, PINK, PALE_PINK, YELLOW, WHITE = "#c12", "#e67", "#fbb", "#fc3", "#fffdf5"
PURPLE, LILAC, BLUE = "#64a", "#a8d", "#35a"


def around(
    x: float, y: float, radius: float, count: int, first: float = 0
) -> list[tuple[float, float]]:
    """Return points around a centre, evenly; the first lies above it."""
    angles = [math.radians(first + 360 * k / count) for k in range(count)]
    return [(x + radius * math.sin(angle), y - radius * math.cos(angle)) for angle in angles]


def across(x: float, y: float, radius: float, count: int, first: float = 0) -> list[str]:
    """Return lines through a centre, evenly turned."""
    ends = around(x, y, radius, 2 * count, first)
    return [f"M{a} {b}L{2 * x - a} {2 * y - b}" for a, b in ends[:count]]


def pine(clumps: Places, trunk: str) -> str:
    """Return a pine: a trunk and fans of needles at x, y of this radius."""
    fans, needles = [], []
    for x, y, r in clumps:
        fans.append(
            f"M{x - r} {y}A{r} {r} 0 0 1 {x + r} {y}Q{x + r / 2} {y + r / 3} {x} {y + r / 8}"
            f"Q{x - r / 2} {y + r / 3} {x - r} {y}Z"
        )
        for angle in range(-75, 76, 25):
            end_x, end_y = around(x, y, 0.86 * r, 1, angle)[0]
            needles.append(f"M{x} {y}L{end_x} {end_y}")
    return (
        stroke(BARK, 5, trunk)
        + stroke(INK, 0.8, *fans, inside=DARK_GREEN)
        + stroke(LIGHT_GREEN, 1.1, *needles)
    )


def plum(bough: str, twigs: str, blossoms: Places, buds: Sequence[tuple[float, float]]) -> str:
    """Return plum branches with red blossoms of five round petals."""
    petals = "".join(dots(RED, 0.95 * r, *around(x, y, 0.56 * r, 5)) for x, y, r in blossoms)
    hearts = "".join(
        dots(YELLOW, 0.17 * r, *around(x, y, 0.42 * r, 6)) + dots(WHITE, 0.45 * r, (x, y))
        for x, y, r in blossoms
    )
    wood = stroke(INK, 4.4, bough) + stroke(INK, 2.2, twigs)
    return wood + dots(RED, 5.5, *buds) + petals + hearts


def cherry(blossoms: Places, leaves: Places, branch: str = "") -> str:
    """Return cherry blossoms with notched petals, and a branch with young leaves."""
    petal = "M0 0Q-9 -7 -3 -10.4L0 -8.4L3 -10.4Q9 -7 0 0Z"
    flowers = "".join(
        ring_of(moved(petal, scale=r / 10), 5, x, y, first=7 * x) for x, y, r in blossoms
    )
    out = stroke(BARK, 4, branch) if branch else ""
    out += fill("#794", *(leaf(x, y, 12, 5, angle) for x, y, angle in leaves)) if leaves else ""
    out += stroke(PINK, 0.9, flowers, inside=PALE_PINK)
    centres = [(x, y) for x, y, _ in blossoms]
    return out + dots(RED, 4, *centres) + dots(YELLOW, 2, *centres)


def wisteria(clusters: Places, leaves: Places, vine: str) -> str:
    """Return wisteria: flowers that hang in tapering clusters of this length."""
    out = stroke(BARK, 3, vine)
    out += fill(GREEN, *(leaf(x, y, 15, 6, angle) for x, y, angle in leaves))
    for colour, shift in ((PURPLE, 0.0), (LILAC, 1.6)):
        for across, first, last in ((8, 0.0, 0.45), (6.4, 0.45, 0.75), (4.6, 0.75, 1.01)):
            places = []
            for x, y, length in clusters:
                steps = round(length / 6)
                if shift and across < 5:
                    continue  # too small for a highlight
                for k in range(steps + 1):
                    if first <= k / steps < last:
                        side = 5.2 * (1 - k / steps)
                        high = y + k * 6 - shift
                        places += [(x - side, high), (x + side, high + 2.5)]
                        if k % 2 == 0:
                            places.append((x, high + 1))
            out += dots(colour, across - 2.3 * shift, *places)
    return out


def iris(flowers: Places, leaves: Places) -> str:
    """Return irises among leaves like swords."""
    stems = [f"M{x} {y}L{50 + (x - 50) * 0.8} 150" for x, y, _ in flowers]
    out = fill(GREEN, *(leaf(x, 158, height, 7, angle) for x, height, angle in leaves))
    out += stroke("#485", 2.4, *stems)
    for x, y, r in flowers:
        falls = [leaf(x, y, r, 0.85 * r, angle) for angle in (115, -115)]
        standards = [leaf(x, y, 0.95 * r, 0.6 * r, angle) for angle in (-32, 32, 0)]
        out += stroke("#fffdf5", 0.7, *standards, inside="#76c")
        out += stroke("#fffdf5", 0.7, *falls, leaf(x, y - 1, r, 0.8 * r, 180), inside="#43a")
        out += stroke(YELLOW, 1.8, f"M{x} {y + 1}V{y + 0.5 * r}")
    return out


def peony(flowers: Places, leaves: Places) -> str:
    """Return peonies: large, of many layers."""
    out = _broad_leaves(leaves)
    for x, y, r in flowers:
        out += dots("#9a1028", 0.86 * r, *around(x, y, 0.6 * r, 8))
        out += dots(RED, 0.76 * r, *around(x, y, 0.54 * r, 8))
        out += dots("#e45", 0.6 * r, *around(x, y, 0.36 * r, 7, 20))
        out += dots("#f9a", 0.42 * r, *around(x, y, 0.2 * r, 5))
        out += dots(YELLOW, 0.14 * r, (x, y), *around(x, y, 0.14 * r, 6))
    return out


def _broad_leaves(leaves: Places, length: float = 30, wide: float = 16) -> str:
    shapes = [leaf(x, y, length, wide, angle) for x, y, angle in leaves]
    veins = []
    for x, y, angle in leaves:
        end_x, end_y = around(x, y, 0.85 * length, 1, angle)[0]
        veins.append(f"M{x} {y}L{end_x} {end_y}")
    return stroke(INK, 0.7, *shapes, inside=GREEN) + stroke(LIGHT_GREEN, 1, *veins)


def bush_clover(stems: Sequence[Sequence[tuple[float, float]]]) -> str:
    """Return bush clover: bowed stems with small leaves in threes and red blossoms."""
    leaves, flowers = [], []
    for stem in stems:
        for (x, y), (next_x, next_y) in pairwise(stem):
            way = math.degrees(math.atan2(next_x - x, y - next_y))
            for part, side in ((0.25, 1), (0.75, -1)):
                at_x, at_y = x + part * (next_x - x), y + part * (next_y - y)
                foot = around(at_x, at_y, 3, 1, way + 90 * side)[0]
                for turn in (35, 90, 145):
                    tip = around(*foot, 5.4, 1, way + side * turn)[0]
                    near = around(*foot, 2.4, 1, way + side * turn)[0]
                    leaves.append(f"M{near[0]} {near[1]}L{tip[0]} {tip[1]}")
                flowers += around(at_x, at_y, 6, 1, way - 80 * side)
                flowers += around(at_x, at_y, 9, 1, way - 55 * side)
    return (
        stroke(BARK, 1.8, *(curve(*stem) for stem in stems))
        + stroke(GREEN, 4.4, *leaves)
        + dots(RED, 4.6, *flowers)
        + dots("#fb8", 1.6, *flowers)
    )


def susuki(sky: str) -> str:
    """Return the hill of susuki grass, under a sky of this colour if it has one."""
    out = fill(sky, "M4 4H96V120H4Z") if sky else ""
    out += fill("#1d2b22", "M4 156V106Q26 76 58 82Q86 86 96 102V156Z")
    blades = []
    for x, y, lean in (
        *((12, 150, -5), (24, 132, -6), (36, 152, -4), (46, 122, -3), (56, 146, 3), (68, 126, 4)),
        *((78, 148, 6), (88, 128, 6), (30, 112, -5), (62, 106, 3), (80, 112, 5), (14, 122, -6)),
    ):
        blades.append(f"M{x} {y}Q{x} {y - 10} {x + lean} {y - 17}")
        blades.append(f"M{x} {y}Q{x + 1} {y - 7} {x + lean + 6} {y - 13}")
        blades.append(f"M{x} {y}Q{x - 1} {y - 7} {x + lean - 6} {y - 13}")
    return out + stroke("#9a7", 1.2, *blades)


def plumes(stems: Places) -> str:
    """Return tall stems of susuki with feathery heads, from x at the ground to x, y at the tip."""
    lines, feathers = [], []
    for ground, x, y in stems:
        lines.append(f"M{ground} 130Q{ground} {y + 30} {x} {y}")
        side = 1 if x > ground else -1
        for k in range(4):
            high = y + 3 * k
            feathers.append(
                f"M{x} {high}Q{x + side * (6 + k)} {high} {x + side * (9 + k)} {high + 8}"
            )
    return stroke("#586", 1.4, *lines) + stroke("#c95", 1.5, *feathers)


def chrysanthemum(flowers: Mapping[str, Places], leaves: Places) -> str:
    """Return chrysanthemums with many narrow petals, by their colour."""
    lobes = []
    for x, y, angle in leaves:
        for turn, length in ((-50, 13), (0, 19), (50, 13)):
            lobes.append(leaf(x, y, length, 9, angle + turn))
    out = stroke("#1a4a2c", 0.7, *lobes, inside="#2f7046")
    coloured = [(colour, *place) for colour, places in flowers.items() for place in places]
    for colour, x, y, r in coloured:
        edge = {YELLOW: "#c80", RED: "#712", WHITE: "#b96"}[colour]
        rays, inner = across(x, y, 0.84 * r, 7), across(x, y, 0.5 * r, 6, 13)
        out += stroke(edge, 0.36 * r, *rays) + stroke(colour, 0.25 * r, *rays)
        out += stroke(edge, 0.06 * r, *inner) + dots(edge, 0.34 * r, (x, y))
        out += dots("#fe9", 0.2 * r, (x, y))
    return out


def maple(leaves: Mapping[tuple[str, int], Places], branch: str) -> str:
    """Return maple leaves by colour and size, each at x, y and an angle, on a branch."""
    tips = ((0, 1.0), (42, 0.96), (84, 0.82), (128, 0.55))
    points: list[tuple[float, float]] = []
    for side in (1, -1):
        half: list[tuple[float, float]] = []
        for (angle, far), (after, _) in zip(tips, (*tips[1:], (165, 0.0)), strict=True):
            half.append((side * angle, far))
            half.append((side * (angle + after) / 2, 0.42))
        points += half if side == 1 else half[:0:-1]
    flat = [
        (far * math.sin(math.radians(a)), -far * math.cos(math.radians(a))) for a, far in points
    ]
    shape = polygon(*flat)
    out = stroke(BARK, 2.6, branch)
    placed = [(*look, *place) for look, places in leaves.items() for place in places]
    for colour, size, x, y, way in placed:
        out += stroke("#611", 0.7, moved(shape, x, y, scale=size, angle=way), inside=colour)
        veins = [around(x, y, 0.7 * size, 1, way + turn)[0] for turn in (-42, 0, 42)]
        stem = around(x, y, 0.8 * size, 1, way + 180)[0]
        lines = [f"M{x} {y}L{a} {b}" for a, b in (*veins, stem)]
        out += stroke("#711", 0.7, *lines)
    return out


def willow(strands: Places) -> str:
    """Return willow twigs that hang from the top: from x, by so much to the side, so long."""
    lines = [
        f"M{x} 2C{x} {0.4 * low} {x + lean} {0.5 * low} {x + lean} {low}"
        for x, lean, low in strands
    ]
    return (
        stroke("#465", 1.2, *lines)
        + dashes("#395a33", 3.6, "3 6.5", *lines)
        + dashes("#8b5", 1.6, "2.4 7.1", *lines)
    )


def paulownia() -> str:
    """Return paulownia: three large leaves below, three upright spikes of flowers."""
    heart = "M0 6C-6 14 -22 10 -21 -2C-20 -12 -10 -18 0 -30C10 -18 20 -12 21 -2C22 10 6 14 0 6Z"
    places = ((26, 132, 215), (74, 132, 145), (50, 130, 180))
    spikes = ((50, 86, 0), (27, 96, -7), (73, 96, 7))
    stems, flowers, buds = [], [], []
    for x, y, lean in spikes:
        foot_x = x - 2.2 * lean
        stems.append(f"M{foot_x} 126L{x} {y - 8}")
        for k, side in enumerate((6.5, 5.6, 4.6, 3.4)):
            high = y + 23 - 9 * k
            middle = x - lean * (high - y) / 16
            flowers += [(middle - side, high), (middle + side, high)]
        buds.append((x, y - 12))
    out = stroke("#574", 2.2, *stems)
    out += dots("#538", 8.6, *flowers) + dots("#b8e", 3.6, *((x, y + 1.4) for x, y in flowers))
    out += dots("#538", 6, *buds)
    shapes = [moved(heart, x, y, scale=0.98, angle=angle) for x, y, angle in places]
    out += stroke("#dfc98a", 1.1, *shapes, inside="#233326")
    veins = []
    for x, y, angle in places:
        for turn, far in ((0, 26), (-38, 17), (38, 17), (-80, 15), (80, 15)):
            end_x, end_y = around(x, y, far, 1, angle + turn)[0]
            veins.append(f"M{x} {y}L{end_x} {end_y}")
    return out + stroke("#dfc98a", 1, *veins)
