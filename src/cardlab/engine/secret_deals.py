"""Deck orders from a secret key: known cards of a deck reveal nothing about the others.

The streams of `seeding` are fast and repeatable, but from the seed, or from enough cards of a deck,
the other cards can be computed. Where a player might try that, decks come from a key: the n-th deck
is the cards sorted by SHA-256(key, n, card), which anybody can check once the key is published.
"""

from __future__ import annotations

import hashlib

import numpy as np

from cardlab.engine.game import Array

__all__ = ["derive_key", "secret_order"]


def derive_key(*parts: bytes | str | int) -> bytes:
    """Return a key of 32 bytes that depends on every part and on the boundaries between parts."""
    total = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else str(part).encode()
        total.update(len(data).to_bytes(8, "big") + data)
    return total.digest()


def secret_order(key: bytes, n: int, cards: int) -> Array:
    """Return the n-th deck order of a key."""
    start = hashlib.sha256(key + n.to_bytes(4, "big"))

    def rank(card: int) -> bytes:
        place = start.copy()
        place.update(card.to_bytes(2, "big"))
        return place.digest()

    return np.array(sorted(range(cards), key=rank), dtype=np.uint8)
