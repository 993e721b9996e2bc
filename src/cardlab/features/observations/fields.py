"""The observation of any game: every field of the view's record, number by number.

Fields of eight bytes are taken for sets and give one number for each of 64 bits; smaller ones give
their value, scaled by what the field can hold. The own seat comes first.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from cardlab.features.observations import Block, Observation
from cardlab.game import Array, Game

__all__ = ["observation_from_fields"]

SET_BYTES = 8


def observation_from_fields(game: Game) -> Observation:
    """Return an encoder that reads a game's record field by field."""
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
