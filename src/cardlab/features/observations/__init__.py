"""What learners from outside see: one row of numbers for each game, written from the view alone.

Every number has words that say what it means (`Observation.words`), and a bound; all are 0 or more
and most are at most 1. `observation_of` finds the encoder of a game: those of this package have one
written for them, a game from outside has the one that its module names `OBSERVATION`, and any other
the fields of its record as they are (`fields`).
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from cardlab.game import Array, Game
from cardlab.kernel import kernel

__all__ = ["Block", "Observation", "from_kernel", "observation_of"]

OURS = ("crazy_eights", "uno", "birds_of_a_feather", "koi_koi", "cribbage")
SCRATCH = 256


@dataclass(frozen=True)
class Block:
    """Numbers of one kind that follow each other: what each of them means, and how large it gets.

    `summary` tells all of them in one line, with `...` where the words differ.
    """

    name: str
    words: tuple[str, ...]
    high: float = 1.0
    summary: str = ""


@dataclass(frozen=True, eq=False)
class Observation:
    """An encoder: `rows(views, seats)` turns views into an array of float32, a row for each."""

    blocks: tuple[Block, ...]
    rows: Callable[[Array, Array], Array]

    @functools.cached_property
    def size(self) -> int:
        """How many numbers a row has."""
        return sum(len(block.words) for block in self.blocks)

    @functools.cached_property
    def words(self) -> tuple[str, ...]:
        """What every number means, by its index."""
        return tuple(word for block in self.blocks for word in block.words)

    @functools.cached_property
    def high(self) -> Array:
        """The most that every number can be; the least is 0."""
        high: Array = np.repeat(
            np.array([block.high for block in self.blocks], dtype=np.float32),
            [len(block.words) for block in self.blocks],
        )
        return high

    def place(self, name: str) -> slice:
        """Return where the numbers of a block lie."""
        first = 0
        for block in self.blocks:
            if block.name == name:
                return slice(first, first + len(block.words))
            first += len(block.words)
        raise KeyError(name)

    def one(self, view: Array, seat: int) -> Array:
        """Return the row of one view, given as an array of one record."""
        row: Array = self.rows(view, np.array([seat], dtype=np.int64))[0]
        return row


def from_kernel(
    blocks: Sequence[Block], write: Callable[[Any, int, Any, Any], None]
) -> Observation:
    """Return the encoder whose kernel `write(view, seat, scratch, out)` fills a row of zeros.

    `scratch` is an array of 256 small numbers that the kernel may use as it likes.
    """

    @kernel
    def write_all(views: Any, seats: Any, scratch: Any, out: Any) -> None:
        for i in range(len(views)):
            write(views[i], seats[i], scratch, out[i])

    size = sum(len(block.words) for block in blocks)

    def rows(views: Array, seats: Array) -> Array:
        out = np.zeros((len(views), size), dtype=np.float32)
        write_all(views, seats, np.empty(SCRATCH, dtype=np.int16), out)
        return out

    return Observation(tuple(blocks), rows)


@functools.cache
def observation_of(game: Game) -> Observation:
    """Return the encoder of a game."""
    if game.is_ours and game.name in OURS:
        found: Observation = import_module(f"{__name__}.{game.name}").OBSERVATION
        return found
    own = getattr(sys.modules.get(game.reference.partition(":")[0]), "OBSERVATION", None)
    if isinstance(own, Observation):
        return own
    from cardlab.features.observations.fields import observation_from_fields

    return observation_from_fields(game)
