"""What stands before the plants: ribbons, animals, things and the five lights."""

from __future__ import annotations

from cardlab.games.koi_koi.deck.plants import INK, RED, WHITE, YELLOW
from cardlab.show.pictures.drawing import (
    at,
    blob,
    circle,
    curve,
    dots,
    ellipse,
    fill,
    leaf,
    moved,
    polygon,
    stroke,
)

SUN = "#d3202c"


def ribbon(colour: str, *, poem: bool) -> str:
    """Return a ribbon, with strokes of a poem if asked."""
    shape = "M40 16Q62 44 50 80Q42 108 56 146L74 140Q61 108 69 80Q80 44 58 10Z"
    edge = {"#c12": "#711", "#33499c": "#141f57"}[colour]
    out = stroke(edge, 1.4, shape, inside=colour)
    out += stroke("#fff", 0.8, "M45 20.5L60.5 15M57.5 140.5L71 136")
    if poem:
        words = (
            "M57 32Q63 31 65 35M61 29Q63 36 59 42M57 38Q66 37 63 44",
            "M60 52Q66 50 67 55M63 48Q66 58 58 62M58 57Q67 58 63 66",
            "M56 74Q62 70 63 76M60 70Q62 80 55 83M64 78Q64 84 60 87",
            "M54 96Q60 93 61 98M57 92Q59 102 53 105M53 100Q63 101 58 109",
            "M56 118Q62 116 63 121M60 114Q62 124 58 129",
        )
        out += stroke(INK, 2, *words)
    return out


def _crane() -> str:
    body = blob((37, 96), (47, 86), (63, 86), (78, 97), (72, 108), (52, 110), (41, 106))
    tail = [leaf(70, 100, 24, 9, angle) for angle in (95, 112, 129)]
    wing = blob((48, 92), (60, 90), (76, 98), (66, 105), (54, 102))
    neck = curve((43, 98), (34, 88), (40, 76), (37, 64), (33, 60))
    return (
        fill(SUN, circle(66, 44, 22))
        + stroke(INK, 2.2, "M54 108L52 132M63 108L64 132M48 132H54M60 132H67")
        + stroke("#555", 0.6, *tail, inside=INK)
        + stroke(INK, 1, body, inside=WHITE)
        + stroke(INK, 9, neck)
        + stroke(WHITE, 7, curve((43, 98), (34, 88), (38.5, 79)))
        + stroke("#999", 1, "M52 94Q62 92 72 99M54 98Q62 97 68 102")
        + stroke(INK, 0.8, circle(33, 59, 5), inside=WHITE)
        + fill(INK, polygon((29, 57), (14, 61), (29, 62.5)))
        + fill(SUN, "M29.4 56Q33 51 37 56Z")
        + dots(INK, 1.6, (31.6, 59))
        + fill(WHITE, wing)
        + stroke("#888", 0.8, "M52 93Q64 92 74 99M53 97Q62 97 68 102")
    )


def _small_bird(back: str, belly: str) -> str:
    """Return a bird that sits and looks to the left, about 44 wide around the origin."""
    return (
        stroke(INK, 0.8, leaf(12, 3, 26, 8, 112), leaf(12, 1, 24, 7, 98), inside=back)
        + stroke(
            INK,
            0.9,
            blob((-19, -9), (-11, -16), (-2, -10), (14, 0), (10, 10), (-6, 11), (-16, 2)),
            inside=back,
        )
        + fill(belly, blob((-17, -3), (-10, -3), (0, 5), (6, 9.4), (-5, 10), (-15, 2)))
        + stroke(INK, 0.8, blob((-6, -5), (6, -4), (20, 6), (8, 7), (-4, 3)), inside=back)
        + stroke(INK, 0.7, "M0 -1Q8 1 14 5M0 2Q6 4 10 5.6")
        + fill("#b70", polygon((-18, -10.5), (-27, -7.5), (-18, -5.5)))
        + dots(WHITE, 4.4, (-12.6, -9.4))
        + dots(INK, 2.8, (-12.8, -9.4))
    )


def _flying(back: str, belly: str, throat: str, *, fork: bool) -> str:
    """Return a bird in flight towards the left, about 70 wide around the origin."""
    tail = [leaf(14, 1, 30, 6, 82), leaf(14, 2, 30, 6, 106)]
    if not fork:
        tail = [leaf(12, 1, 26, 9, angle) for angle in (82, 96, 110)]
    return (
        stroke(INK, 0.8, *tail, inside=back)
        + stroke(
            INK,
            0.8,
            blob((-4, -2), (4, -16), (20, -33), (30, -36), (24, -18), (12, 0)),
            inside=back,
        )
        + stroke(
            INK,
            0.9,
            blob((-27, -3), (-20, -8), (-4, -6), (16, 0), (10, 8), (-8, 9), (-22, 4)),
            inside=back,
        )
        + fill(belly, blob((-20, 2), (-6, 2), (12, 3), (8, 7), (-8, 8)))
        + fill(throat, blob((-26, -2), (-19, 0), (-14, 4), (-21, 4.4)))
        + stroke(
            INK, 0.8, blob((-8, 2), (2, 8), (8, 26), (10, 34), (-6, 24), (-14, 8)), inside=back
        )
        + stroke(WHITE, 0.8, "M5 -10L20 -28M8 -6L22 -20M-8 10L4 26M-4 9L6 22")
        + fill("#b70", polygon((-26, -5), (-35, -1.5), (-26, 0)))
        + dots(WHITE, 3.6, (-20.5, -3.4))
        + dots(INK, 2.2, (-20.8, -3.4))
    )


def _warbler() -> str:
    return at(_small_bird("#7a9a2e", "#f3e3a2"), "translate(54 68)scale(1.12)")


def _curtain() -> str:
    top = "M4 104Q16 116 34 106Q50 98 66 106Q84 116 96 104"
    out = fill(WHITE, f"{top}V156H4Z")
    stripes = [
        f"M{x} 108Q{x + 2} 130 {x} 156H{x + 12}Q{x + 14} 130 {x + 12} 107Z" for x in (6, 30, 54, 78)
    ]
    out += fill("#5b3f94", *stripes[0::2]) + fill(RED, *stripes[1::2])
    out += stroke("#5b3f94", 7, top) + stroke(YELLOW, 1.6, top)
    out += dots(WHITE, 10, (36, 132), (60, 136), (84, 132), (12, 136))
    return out + dots(INK, 4, (36, 132), (60, 136), (84, 132), (12, 136))


def _cuckoo() -> str:
    crescent = "M60 22A22 22 0 1 0 84 56A19 19 0 1 1 60 22Z"
    bird = at(_flying("#54606b", "#f2ead6", "#d9a", fork=False), "translate(50 102)rotate(-8)")
    return fill(SUN, crescent) + bird


def _bridge() -> str:
    planks = ("M4 117.5L46 106L54 114L4 129.5Z", "M36 118L66 140L96 132.5V145.5L62 153L28 126Z")
    posts = "M10 128V150M34 122V146M60 150V156M86 146V156"
    return (
        stroke("#4a2e18", 4, posts)
        + stroke(INK, 1, *planks, inside="#b5793a")
        + stroke("#5d3a1c", 1.1, "M4 123.5L50 110M32 122L64 146.5L96 139")
        + stroke("#6aa5c9", 1.6, "M12 154Q20 150 28 154T44 154")
    )


def _butterfly(colour: str, spot: str) -> str:
    wings = []
    for side in (1, -1):
        wings.append(moved(blob((1, -1), (5, -13), (16, -17), (18, -7), (8, 1)), flip=side < 0))
        wings.append(moved(blob((1, 1), (9, 2), (13, 9), (7, 15), (2, 8)), flip=side < 0))
    return (
        stroke(INK, 1, *wings, inside=colour)
        + dots(spot, 4.4, (12, -10), (-12, -10))
        + dots(spot, 3, (7, 8.5), (-7, 8.5))
        + stroke(INK, 2.6, "M0 -6V10")
        + stroke(INK, 0.8, "M0 -6Q-2 -14 -7 -15M0 -6Q2 -14 7 -15")
    )


def _butterflies() -> str:
    return at(_butterfly("#f6b62c", RED), "translate(66 40)rotate(18)scale(1.15)") + at(
        _butterfly("#fff3c4", "#64a"), "translate(34 66)rotate(-24)scale(.85)"
    )


def _boar() -> str:
    body = blob(
        *((10, 132), (18, 121), (28, 112), (44, 104), (66, 103), (84, 112), (90, 128), (84, 141)),
        *((62, 145), (40, 145), (26, 143), (13, 139)),
    )
    bristles = []
    for x, y in ((34, 109), (42, 105.4), (50, 103.4), (58, 102.6), (66, 103), (74, 106), (81, 110)):
        bristles.append(f"M{x} {y + 3}L{x + 3} {y - 5}")
    return (
        stroke(INK, 6.5, "M34 142V151M46 144V152M70 143V152M82 138V150")
        + stroke(INK, 1, body, inside="#5c3d2a")
        + stroke(INK, 2, *bristles)
        + stroke(
            "#8d6546", 1.3, "M52 112L56 118M62 112L66 118M72 116L75 122M58 124L62 130M70 128L73 134"
        )
        + stroke(INK, 0.8, ellipse(11.5, 135.5, 4, 5), inside="#c98d78")
        + stroke(INK, 0.7, leaf(33, 117, 13, 8, 35), inside="#7d5238")
        + fill(WHITE, "M17 141Q16 134 21 131Q20 137 22 140Z")
        + dots(WHITE, 4.6, (24, 124))
        + dots(INK, 2.8, (23.6, 124))
        + stroke(INK, 1.8, "M89 120Q96 118 93 112")
    )


def _moon() -> str:
    return fill(WHITE, circle(55, 52, 30))


def _goose() -> str:
    return (
        stroke(INK, 0.8, blob((-4, 0), (2, -12), (14, -20), (20, -17), (10, -4)), inside="#54483c")
        + stroke(
            INK, 0.8, blob((-16, 1), (-4, -4), (12, -2), (20, 1), (8, 6), (-6, 6)), inside="#7a6650"
        )
        + stroke(INK, 0.8, blob((-2, 2), (6, 4), (16, 14), (12, 18), (0, 10)), inside="#54483c")
        + stroke("#7a6650", 4, "M-13 0L-22 -4")
        + fill("#d80", polygon((-22, -6), (-29, -4.4), (-22, -2)))
        + dots(INK, 1.6, (-21, -5))
    )


def _geese() -> str:
    return "".join(
        at(_goose(), f"translate({x} {y})rotate(12)scale({size})")
        for x, y, size in ((64, 34, 1.05), (40, 58, 0.95), (76, 66, 0.85))
    )


def _cup() -> str:
    bowl = "M24 92Q26 120 44 124H56Q74 120 76 92Z"
    return (
        stroke("#611", 1, "M42 123L38 133H62L58 123Z", inside="#a3121f")
        + stroke("#611", 1.2, bowl, inside="#d3202c")
        + stroke("#611", 1.2, ellipse(50, 92, 26, 7), inside="#f6dfa6")
        + stroke("#d9a62e", 2.2, "M44 103H57M50.5 99.6V119M43 108H58M45.6 113H55.6M46 119H56")
    )


def _deer() -> str:
    body = blob(
        (30, 112), (42, 104), (62, 104), (80, 104), (85, 114), (78, 124), (56, 124), (36, 124)
    )
    neck = blob((33, 116), (30, 104), (33, 92), (40, 86), (46, 92), (46, 104), (50, 112), (42, 120))
    head = blob((24, 90), (32, 82), (41, 80), (46, 86), (40, 93), (28, 95))
    antlers = "M40 80Q38 68 44 58M41 72L33 64M42 66L50 62M44 80Q50 72 58 68M50 73L52 64"
    return (
        stroke("#8a4a1f", 4.2, "M40 120L38 150M50 121V151M70 121L68 151M79 118L80 150")
        + stroke(INK, 0.9, leaf(82, 108, 12, 7, 60), inside=WHITE)
        + stroke(INK, 0.9, body, inside="#b5652b")
        + fill("#b5652b", neck)
        + stroke(
            INK, 0.9, curve((31, 112), (30, 104), (33, 94)), curve((46, 92), (46, 100), (51, 105))
        )
        + stroke(INK, 0.9, head, inside="#b5652b")
        + stroke(INK, 0.8, leaf(44, 84, 12, 6, 75), inside="#d9955c")
        + stroke("#5d3a1c", 2.2, antlers)
        + dots(
            "#fbe3bd",
            3.2,
            (54, 110),
            (62, 108),
            (70, 110),
            (76, 112),
            (58, 116),
            (67, 116),
            (48, 114),
        )
        + dots(INK, 2.4, (35, 86.4))
        + dots(INK, 3, (25, 91))
    )


def _rainman() -> str:
    canopy = "M18 66Q22 36 56 32Q88 38 92 70Q82 62 74 69Q65 60 56 67Q46 59 38 67Q28 60 18 66Z"
    robe = "M44 86L36 134H74L68 86Q62 80 56 80Q49 80 44 86Z"
    return (
        fill("#8fc1de", "M4 156V141Q20 132 34 142T66 144T96 138V156Z")
        + stroke(WHITE, 1.2, "M8 150Q18 144 28 150T48 150M60 154Q70 148 82 153T96 150")
        + stroke(INK, 4.5, "M48 132V141M62 132V141")
        + stroke(INK, 1, robe, inside="#6a3d8f")
        + fill("#e9c24a", "M41.5 102H70L71 109H40.4Z")
        + stroke(WHITE, 1.2, "M50 86L56 98L63 86")
        + stroke("#5d3a1c", 2, "M57 34V104")
        + stroke(INK, 0.8, ellipse(52, 76, 7.5, 8.5), inside="#fdc")
        + fill(INK, "M44 74Q45 65 53 65.5Q60 66 60 75Q52 69 44 74ZM50 66V61H55V66Z")
        + dots(INK, 1.6, (48.6, 77), (54, 77))
        + stroke(INK, 1, canopy, inside="#d23a2e")
        + stroke("#7c1a16", 1, "M56 32Q38 44 38 67M56 32V67M56 32Q74 44 74 69")
        + stroke(INK, 1, "M65 90Q70 98 58 104")
        + stroke(
            INK,
            0.8,
            blob((14, 146), (18, 138), (26, 137), (31, 143), (28, 149), (18, 150)),
            inside="#5a9a3c",
        )
        + dots(INK, 2, (25.6, 139.6))
    )


def _swallow() -> str:
    return at(
        _flying("#27406f", "#fbe9b6", "#d3202c", fork=True), "translate(50 88)rotate(24)scale(1.05)"
    )


def _phoenix() -> str:
    tails = (
        curve((58, 56), (76, 58), (90, 74), (88, 96)),
        curve((56, 60), (72, 68), (78, 84), (72, 104)),
        curve((52, 62), (62, 74), (62, 90), (54, 102)),
    )
    eyes = ((88, 97), (72, 105), (54, 103))
    wing = blob((48, 52), (54, 36), (70, 20), (90, 14), (84, 30), (72, 46), (60, 56))
    other = blob((42, 54), (32, 58), (18, 72), (12, 88), (26, 84), (40, 72), (50, 62))
    body = blob((30, 44), (36, 36), (44, 40), (56, 50), (62, 60), (52, 66), (40, 60))
    return (
        stroke(INK, 7, *tails)
        + stroke(RED, 5.2, tails[0])
        + stroke(YELLOW, 5.2, tails[1])
        + stroke("#2f7d6a", 5.2, tails[2])
        + dots(INK, 10.4, *eyes)
        + dots("#3a66b8", 8.6, *eyes)
        + dots(YELLOW, 4, *eyes)
        + stroke(INK, 1, wing, other, inside="#d8402c")
        + stroke(YELLOW, 2, "M56 46L82 20M60 50L80 32M36 62L18 82M42 66L26 80")
        + stroke("#2f7d6a", 2, "M54 42L74 22M38 58L20 74")
        + stroke(INK, 1, body, inside="#f2b632")
        + stroke(RED, 1.6, "M42 48Q44 52 42 56M48 50Q50 55 48 60M54 55Q56 59 54 63")
        + stroke(INK, 0.9, ellipse(33, 38, 7, 6), inside="#f2b632")
        + fill(RED, "M34 33Q34 24 42 22Q39 27 44 28Q38 30 39 35Z")
        + fill("#a50", polygon((27, 36), (18, 41), (27, 42)))
        + dots(WHITE, 4, (32, 37))
        + dots(INK, 2.4, (31.6, 37))
    )


def _storm() -> str:
    """Return the storm of the willow's dross: a dark cloud, a drum and lightning."""
    cloud = "M4 4H96V70Q86 84 74 72Q62 88 48 74Q36 88 24 72Q12 82 4 70Z"
    bolt = polygon((58, 70), (36, 112), (50, 112), (40, 150), (72, 102), (56, 102), (70, 70))
    return (
        fill("#b3202a", "M4 4H96V156H4Z")
        + fill(INK, cloud)
        + stroke("#b3202a", 1.6, "M12 40Q24 32 34 42T56 42T88 36M14 56Q26 50 38 58T66 56T90 52")
        + stroke(INK, 1.4, circle(62, 30, 15), inside="#e9d8a8")
        + fill(INK, "M62 30A7.5 7.5 0 0 1 62 15A15 15 0 0 1 62 45A7.5 7.5 0 0 0 62 30Z")
        + stroke(INK, 1.2, bolt, inside=YELLOW)
        + stroke(
            INK, 2.6, "M10 110Q18 128 12 150M24 104Q30 124 24 148M80 104Q86 126 80 150M92 112V146"
        )
    )


FIGURES = {
    "crane": _crane,
    "warbler": _warbler,
    "curtain": _curtain,
    "cuckoo": _cuckoo,
    "bridge": _bridge,
    "butterfly": _butterflies,
    "boar": _boar,
    "moon": _moon,
    "geese": _geese,
    "cup": _cup,
    "deer": _deer,
    "rainman": _rainman,
    "swallow": _swallow,
    "phoenix": _phoenix,
    "storm": _storm,
}
