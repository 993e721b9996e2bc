"""The yaku of Koi-Koi: what a pile of captured cards is worth.

Of the yaku of lights only the best counts; all others add up. The two rule sets differ in what a
viewing with sake is worth and in the extra for both sets of poetry ribbons, hence the parameters
`sake` and `both_sets`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from cardlab.engine.kernel import count_bits, kernel, short_kernel
from cardlab.games.koi_koi.cards import (
    BLUE,
    BOAR_DEER_BUTTERFLY,
    CUP,
    CURTAIN,
    DROSS,
    LIGHTS,
    MOON,
    RAINMAN,
    RED,
    RIBBONS,
    SEEDS,
)

BOTH_SETS = "red and blue ribbons"
# Each yaku with the cards that can form it, and how many of them it takes.
YAKU_CARDS = {
    "five lights": (LIGHTS, 5),
    "four lights": (LIGHTS & ~RAINMAN, 4),
    "rainy four lights": (LIGHTS, 4),
    "three lights": (LIGHTS & ~RAINMAN, 3),
    "boar-deer-butterfly": (BOAR_DEER_BUTTERFLY, 3),
    "flower sake": (CURTAIN | CUP, 2),
    "moon sake": (MOON | CUP, 2),
    "seeds": (SEEDS, 5),
    "red ribbons": (RED, 3),
    "blue ribbons": (BLUE, 3),
    BOTH_SETS: (RED | BLUE, 6),
    "ribbons": (RIBBONS, 5),
    "dross": (DROSS, 10),
}
WORTHS = {  # of yaku whose points are always the same
    "five lights": 10,
    "four lights": 8,
    "rainy four lights": 7,
    "three lights": 5,
    "boar-deer-butterfly": 5,
    "red ribbons": 5,
    "blue ribbons": 5,
}
LIGHT_NAMES = {10: "five lights", 8: "four lights", 7: "rainy four lights", 5: "three lights"}


@kernel
def lights(pile: int) -> int:
    """Return the points of the best yaku of lights."""
    count = count_bits(pile & LIGHTS)
    if count < 3:
        return 0
    if count == 5:
        return 10
    if pile & RAINMAN:
        return 7 if count == 4 else 0
    return 8 if count == 4 else 5


@kernel
def has(pile: int, cards: int, worth: int) -> int:
    """Return `worth` if the pile holds all of these cards."""
    return worth if pile & cards == cards else 0


@short_kernel
def beyond(pile: int, cards: int, free: int) -> int:
    """Return one point for each of these cards past the first `free`."""
    count = count_bits(pile & cards)
    return count - free if count > free else 0


@kernel
def yaku_points(pile: int, sake: int, both_sets: int) -> int:
    """Return the sum of all yaku in a pile."""
    return (
        lights(pile)
        + has(pile, BOAR_DEER_BUTTERFLY, 5)
        + has(pile, CURTAIN | CUP, sake)
        + has(pile, MOON | CUP, sake)
        + beyond(pile, SEEDS, 4)
        + has(pile, RED, 5)
        + has(pile, BLUE, 5)
        + has(pile, RED | BLUE, both_sets)
        + beyond(pile, RIBBONS, 4)
        + beyond(pile, DROSS, 9)
    )


def list_yaku(pile: int, sake: int, both_sets: int) -> Iterator[tuple[str, int]]:
    """Yield the yaku in a pile by name with their points, in the order of `yaku_points`."""
    best = int(lights(pile))
    for name, worth in (
        (LIGHT_NAMES.get(best, ""), best),
        ("boar-deer-butterfly", has(pile, BOAR_DEER_BUTTERFLY, 5)),
        ("flower sake", has(pile, CURTAIN | CUP, sake)),
        ("moon sake", has(pile, MOON | CUP, sake)),
        ("seeds", beyond(pile, SEEDS, 4)),
        ("red ribbons", has(pile, RED, 5)),
        ("blue ribbons", has(pile, BLUE, 5)),
        (BOTH_SETS, has(pile, RED | BLUE, both_sets)),
        ("ribbons", beyond(pile, RIBBONS, 4)),
        ("dross", beyond(pile, DROSS, 9)),
    ):
        if worth:
            yield name, int(worth)


class BegunYaku(NamedTuple):
    """A yaku that a pile has formed or can still form."""

    name: str
    points: int  # 0: not formed yet
    worth: int  # points once formed
    have: int  # cards of it in the pile, a set
    free: int  # cards of it that nobody has captured, a set
    size: int  # cards that it takes

    @property
    def missing(self) -> int:
        """Cards that are still missing; 0: formed."""
        return 0 if self.points else max(1, self.size - self.have.bit_count())


def begun_yaku(pile: int, other: int, sake: int, both_sets: int) -> Iterator[BegunYaku]:
    """Yield the yaku that a pile has formed, or has begun and can still form beside another pile.

    The points of both sets of ribbons are no yaku of their own and are left out.
    """
    made = dict(list_yaku(pile, sake, both_sets))
    for name, (members, size) in YAKU_CARDS.items():
        if name == BOTH_SETS:
            continue
        have, taken = pile & members, other & members
        # Of the lights only the best yaku counts, and the rain man spoils a plain three or four.
        if name not in made and (members.bit_count() - taken.bit_count() < size or not have):
            continue
        worth = made.get(name) or WORTHS.get(name, sake if "sake" in name else 1)
        yield BegunYaku(name, made.get(name, 0), worth, have, members & ~(pile | other), size)
