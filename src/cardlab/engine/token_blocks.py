"""Shared parts of token features: tables that describe each number, and zones of cards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from cardlab.engine.kernel import kernel, lowest_bit

__all__ = ["Block", "number_blocks", "write_zone"]


class Block(NamedTuple):
    """Neighbouring features: index of the first, their number, their name and meaning."""

    first: int
    width: int
    name: str
    meaning: str


def number_blocks(
    of_token: Sequence[tuple[int, str, str]], of_game: Sequence[tuple[int, str, str]]
) -> tuple[tuple[Block, ...], int, int]:
    """Return all blocks, the number of features of a token and of those that tokens share."""
    blocks, first = [], 0
    for count, name, meaning in (*of_token, *of_game):
        blocks.append(Block(first, count, name, meaning))
        first += count
    tokens = sum(count for count, _, _ in of_token)
    return tuple(blocks), tokens, first - tokens


@kernel
def write_zone(cards: int, zone: int, out: Any) -> None:
    """Write a zone for every card of a set."""
    while cards:
        out[lowest_bit(cards)] = zone
        cards &= cards - 1
