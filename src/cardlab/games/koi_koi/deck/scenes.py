"""Where the plants stand on each card: twelve functions from what a card shows to its scene."""

from __future__ import annotations

from collections.abc import Callable

from cardlab.games.koi_koi.deck import plants
from cardlab.games.koi_koi.deck.plants import RED, WHITE, YELLOW
from cardlab.show.pictures.drawing import at, fill, mirrored

GROUNDS = {"b": "#e3d3a6", "c": "#f0b93a"}  # below two of the three dross of December
SKIES = {"moon": "#c8202c", "geese": "#e8dcc0"}
MAPLE_RED, ORANGE, GOLD = "#c8202c", "#e2622a", "#eda52f"


def threes(text: str) -> plants.Places:
    """Return the places that a text lists: x, y and size or angle of each."""
    numbers = [float(number) for number in text.split()]
    return list(zip(numbers[0::3], numbers[1::3], numbers[2::3], strict=True))


def pairs(text: str) -> list[tuple[float, float]]:
    """Return the points that a text lists."""
    numbers = [float(number) for number in text.split()]
    return list(zip(numbers[0::2], numbers[1::2], strict=True))


def _second_mirrored(picture: str, drawing: str) -> str:
    """Return the second dross card of a month as the mirror image of the first."""
    return mirrored(drawing) if picture == "b" else drawing


def _pine(picture: str) -> str:
    clumps, trunk = {
        "crane": ("24 128 19  74 148 24  30 152 24", "M14 158Q18 140 26 130"),
        "red": (
            "74 54 21  28 84 22  76 112 21  30 146 24",
            "M50 158Q40 130 52 108Q66 80 54 46",
        ),
        "a": (
            "66 50 25  28 78 23  72 104 25  28 126 22  66 150 25",
            "M44 158Q34 128 50 102Q62 74 52 44",
        ),
        "b": ("54 62 26  26 100 21  76 102 20  52 140 28", "M52 158Q60 120 50 96V60"),
    }[picture]
    return plants.pine(threes(clumps), trunk)


def _plum(picture: str) -> str:
    if picture == "warbler":
        return plants.plum(
            "M2 118Q34 104 60 88Q76 80 96 82",
            "M40 104L66 122L84 128M66 86L82 58L78 38M22 112L30 84",
            threes("82 124 12  48 134 14  82 42 12  24 84 10  18 134 9"),
            pairs("60 26  90 62  92 106  66 150"),
        )
    drawing = plants.plum(
        "M4 140Q30 128 40 104Q50 84 78 78",
        "M40 104L28 72L36 46M58 86L64 52L84 32M28 126L56 138L88 134",
        threes("36 46 13  78 78 15  80 34 11  28 82 11  86 134 11  50 136 13"),
        pairs("20 148  60 60  92 58  52 30  18 60  70 110"),
    )
    return _second_mirrored(picture, drawing)


def _cherry(picture: str) -> str:
    if picture == "curtain":
        blossoms = "40 26 13  68 24 15  86 48 13  56 50 15  26 56 14  38 80 14  72 76 15"
        blossoms += "  12 84 11  92 88 11"
        return plants.cherry(threes(blossoms), threes("48 36 160  80 62 120  20 70 220"))
    blossoms = "44 32 14  76 30 15  82 66 15  30 66 14  58 60 14  20 98 13  56 98 16  84 104 13"
    blossoms += "  34 128 15  68 134 15"
    leaves = "66 44 60  40 84 300  72 90 100  16 136 250  50 124 120  86 128 150"
    drawing = plants.cherry(threes(blossoms), threes(leaves), "M2 150Q34 130 46 96Q58 60 96 40")
    return _second_mirrored(picture, drawing)


def _wisteria(picture: str) -> str:
    clusters = {
        "cuckoo": "36 24 34  16 48 34  90 24 42",
        "b": "34 28 104  60 26 66  82 30 98  16 54 60",
    }.get(picture, "36 30 78  58 26 102  80 30 70  18 56 48")
    leaves = "30 20 120  46 14 160  60 14 200  76 16 140  90 20 220  38 22 240  20 46 180"
    return plants.wisteria(threes(clusters), threes(leaves), "M28 10Q46 22 62 12T98 16")


def _iris(picture: str) -> str:
    flowers = {
        "bridge": "44 50 20  76 66 18  20 84 14",
        "ribbon": "24 66 18  80 56 18  32 110 15",
    }.get(picture, "34 62 19  66 44 20  74 96 17")
    leaves = "20 84 -9  34 104 -3  50 96 2  64 108 4  80 88 9  44 70 -14  70 66 16"
    return _second_mirrored(picture, plants.iris(threes(flowers), threes(leaves)))


def _peony(picture: str) -> str:
    flowers, leaves = {
        "butterfly": (
            "54 116 36",
            "50 110 -60  50 112 62  46 124 -110  56 124 115  50 118 180  52 84 20",
        ),
        "blue": (
            "28 84 27  74 122 30",
            "44 96 40  40 102 200  70 98 0  58 134 240  28 62 20  82 98 40",
        ),
    }.get(
        picture,
        (
            "58 56 34  38 118 30",
            "40 74 -60  70 84 130  60 96 80  24 100 -20  54 134 120  24 136 230  66 112 100",
        ),
    )
    return _second_mirrored(picture, plants.peony(threes(flowers), threes(leaves)))


def _bush_clover(picture: str) -> str:
    stems = [
        "20 156  26 122  38 88  60 62  86 52",
        "40 156  50 124  66 100  88 92",
        "16 130  18 92  32 58  56 34  82 24",
    ]
    if picture == "boar":
        stems = [
            "8 100  20 74  42 54  72 46  92 52",
            "30 96  50 82  74 78  92 86",
            "30 50  48 32  66 24  88 22",
        ]
    return _second_mirrored(picture, plants.bush_clover([pairs(stem) for stem in stems]))


def _susuki(picture: str) -> str:
    drawing = plants.susuki(SKIES.get(picture, ""))
    if picture == "a":
        drawing += plants.plumes(threes("30 40 44  56 64 30  74 84 52"))
    if picture == "b":
        drawing += mirrored(plants.plumes(threes("36 48 34  66 78 40")))
    return drawing


def _chrysanthemum(picture: str) -> str:
    leaves = "40 84 270  64 74 60  50 112 120  34 128 230  76 122 100  52 60 330"
    flowers = {YELLOW: "60 50 25  72 102 21  34 132 20", RED: "28 84 19  80 138 13"}
    if picture == "cup":
        leaves = "36 66 250  68 60 30  24 84 200  84 96 150  30 124 240  72 146 200"
        flowers = {YELLOW: "52 46 23  82 132 13", RED: "80 72 15  18 138 13", WHITE: "22 62 15"}
    elif picture == "blue":
        flowers = {YELLOW: "28 74 21  76 116 20", RED: "80 46 17  26 130 17"}
    coloured = {colour: threes(places) for colour, places in flowers.items()}
    return _second_mirrored(picture, plants.chrysanthemum(coloured, threes(leaves)))


def _maple(picture: str) -> str:
    """Return maple leaves: x, y and angle of each, by colour and size."""
    leaves = {
        (MAPLE_RED, 19): "44 34 170  60 68 200  84 84 160  26 134 170  54 140 205",
        (ORANGE, 19): "74 36 190  34 102 190  84 132 160",
        (GOLD, 19): "28 66 150  66 110 150",
    }
    if picture == "deer":
        leaves = {
            (MAPLE_RED, 16): "40 30 150  84 56 170  16 62 190",
            (ORANGE, 17): "68 28 200",
            (GOLD, 14): "64 56 140",
            (ORANGE, 12): "86 86 160",
        }
    placed = {look: threes(places) for look, places in leaves.items()}
    return _second_mirrored(picture, plants.maple(placed, "M2 60Q30 62 52 42T98 22"))


def _willow(picture: str) -> str:
    strands = {
        "rainman": "34 -4 70  46 -2 40  60 3 34  74 5 40  84 6 84  93 0 110  12 -2 90",
        "swallow": "34 -6 120  50 4 56  64 3 60  76 8 90  90 3 140  14 -4 146  22 2 70",
        "ribbon": "32 -6 140  44 -4 110  76 4 146  86 6 120  94 -2 90  14 -4 120  22 2 150",
    }
    return plants.willow(threes(strands[picture])) if picture in strands else ""


def _paulownia(picture: str) -> str:
    if picture == "phoenix":
        return at(plants.paulownia(), "translate(12 38)scale(.76)")
    ground = fill(GROUNDS[picture], "M4 110H96V156H4Z") if picture in GROUNDS else ""
    return ground + at(plants.paulownia(), "translate(-11.5 -38)scale(1.23)")


SCENES: tuple[Callable[[str], str], ...] = (
    *(_pine, _plum, _cherry, _wisteria, _iris, _peony, _bush_clover, _susuki, _chrysanthemum),
    *(_maple, _willow, _paulownia),
)
