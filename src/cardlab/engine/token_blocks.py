"""What token features share: tables that say what each is, by number, and zones of cards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from cardlab.engine.kernel import kernel, lowest_bit

__all__ = ["Block", "number_blocks", "write_zone"]


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


@kernel
def write_zone(cards: int, zone: int, out: Any) -> None:
    """Write a zone for all cards of a set."""
    while cards:
        out[lowest_bit(cards)] = zone
        cards &= cards - 1
