"""Observations for learners: one row of numbers for each game, written from the view alone.

Every number has a description (`Observation.words`) and a bound; all are at least 0 and most are at
most 1. `observation_of` finds the encoder of a game: the one that its manifest names, else
`OBSERVATION` of its module, else one of all fields of its record.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from cardlab.engine.errors import CardlabError, suggest
from cardlab.engine.game import Array, Game
from cardlab.engine.kernel import kernel
from cardlab.engine.manifest import load
from cardlab.engine.registry import find_game, package_of

__all__ = ["Block", "Observation", "from_kernel", "observation_from_fields", "observation_of"]

SCRATCH = 256
SET_BYTES = 8  # fields of this size are sets


@dataclass(frozen=True)
class Block:
    """Consecutive numbers of one kind: the meaning of each, and their greatest value.

    `summary` describes all of them in one line, with `...` where the descriptions differ.
    """

    name: str  # to find it by Observation.place
    words: tuple[str, ...]  # meaning of each number
    high: float = 1.0  # greatest value; the least is 0
    summary: str = ""  # the meaning of all in one line


@dataclass(frozen=True, eq=False)
class Observation:
    """An encoder: `rows(views, seats)` turns views into rows of float32 numbers."""

    blocks: tuple[Block, ...]  # in the order of a row
    rows: Callable[[Array, Array], Array]  # views, seats -> float32 by view and number

    @functools.cached_property
    def size(self) -> int:
        """The length of a row."""
        return sum(len(block.words) for block in self.blocks)

    @functools.cached_property
    def words(self) -> tuple[str, ...]:
        """The meaning of every number, by its index."""
        return tuple(word for block in self.blocks for word in block.words)

    @functools.cached_property
    def high(self) -> Array:
        """The greatest value of every number; the least is 0."""
        high: Array = np.repeat(
            np.array([block.high for block in self.blocks], dtype=np.float32),
            [len(block.words) for block in self.blocks],
        )
        return high

    def place(self, name: str) -> slice:
        """Return the slice of a row that a block takes."""
        first = 0
        for block in self.blocks:
            if block.name == name:
                return slice(first, first + len(block.words))
            first += len(block.words)
        raise CardlabError(suggest("block", name, [block.name for block in self.blocks]))

    def one(self, view: Array, seat: int) -> Array:
        """Return the row of one view, which is an array of one record."""
        row: Array = self.rows(view, np.array([seat], dtype=np.int64))[0]
        return row


def from_kernel(
    blocks: Sequence[Block], write: Callable[[Any, int, Any, Any], None]
) -> Observation:
    """Return the encoder whose kernel `write(view, seat, scratch, out)` fills a row of zeros.

    `scratch` is an array of 256 numbers of 16 bits for the use of the kernel.
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


def observation_of(game: str | Game) -> Observation:
    """Return the encoder of a game."""
    return _observation_of(find_game(game))


@functools.cache
def _observation_of(game: Game) -> Observation:
    package = package_of(game)
    if package.observation:
        named: Observation = load(package.observation)
        return named
    own = getattr(sys.modules.get(game.reference.partition(":")[0]), "OBSERVATION", None)
    return own if isinstance(own, Observation) else observation_from_fields(game)


def observation_from_fields(game: str | Game) -> Observation:
    """Return an encoder that writes every field of the view's record.

    Fields of eight bytes are sets of cards and give one number for each of 64 bits; smaller fields
    give their value, divided by the greatest that they can hold. The own seat comes first.
    """
    game = find_game(game)
    most_seats = int(max(_most_seats(game), 1))
    blocks = [Block("own seat", tuple(f"I am seat {seat}" for seat in range(most_seats)))]
    fields: dict[str, Any] = dict(game.state.fields or {})
    for name, about in fields.items():
        kind: np.dtype[Any] = about[0]
        base, shape = kind.subdtype or (kind, ())
        places = ["".join(f"[{i}]" for i in at) for at in product(*(range(n) for n in shape))]
        if base.itemsize == SET_BYTES:
            words = [f"{name}{at} has {bit}" for at in places for bit in range(64)]
        else:
            words = [f"{name}{at} / {np.iinfo(base).max}" for at in places]
        blocks.append(Block(name, tuple(words)))

    def rows(views: Array, seats: Array) -> Array:
        out = np.zeros((len(views), sum(len(block.words) for block in blocks)), dtype=np.float32)
        out[np.arange(len(views)), seats] = 1
        first = most_seats
        for block in blocks[1:]:
            values = np.ascontiguousarray(views[block.name].reshape(len(views), -1))
            part = out[:, first : first + len(block.words)]
            if values.dtype.itemsize == SET_BYTES:
                bits = values.astype("<i8").view(np.uint8)
                part[:] = np.unpackbits(bits, axis=1, bitorder="little")
            else:
                part[:] = np.maximum(values / np.iinfo(values.dtype).max, 0)
            first += len(block.words)
        return out

    return Observation(tuple(blocks), rows)


def _most_seats(game: Game) -> int:
    for option in game.options:
        if option.name == "seats":
            return int(max(option.allowed))
    return int(game.start().seats)
