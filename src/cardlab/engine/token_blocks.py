"""Index tables: what every feature of a token says, by number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["Block", "number_blocks"]


class Block(NamedTuple):
    """Neighbouring features: the number of the first, how many there are, what they say."""

    first: int
    width: int
    name: str
    meaning: str


def number_blocks(
    of_token: Sequence[tuple[int, str, str]], of_game: Sequence[tuple[int, str, str]]
) -> tuple[tuple[Block, ...], int, int]:
    """Return all blocks, and how many features a token has and how many all tokens share."""
    blocks, first = [], 0
    for count, name, meaning in (*of_token, *of_game):
        blocks.append(Block(first, count, name, meaning))
        first += count
    tokens = sum(count for count, _, _ in of_token)
    return tuple(blocks), tokens, first - tokens
