"""Named random streams, all derived from one seed, equal inside kernels and outside.

A stream is a 63-bit number. `branch(stream, word)` derives another one; words are small numbers
(the n-th deal, a seat) or the hash of a name. The generator is a lag-1 multiply-with-carry of base
2**32: one multiplication a draw, a period of about 2**62, and no step ever leaves the range of a
signed 64-bit integer, so that compiled and interpreted runs agree to the bit without a warning.

    seed --"deal"--> stream --0--> first deck order, --1--> second, ...
         --"seat"--> stream --k--> random numbers of the agent on seat k
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from cardlab.engine.arguments import shorten
from cardlab.engine.errors import CardlabError
from cardlab.engine.kernel import int64, kernel, short_kernel

__all__ = [
    "DEAL",
    "GAME",
    "RANDOM_RESOLUTION",
    "SEAT",
    "below",
    "branch",
    "deck_order",
    "generator",
    "happens",
    "read_seed",
    "shuffle",
    "stream",
    "word",
]

MULTIPLIER = 0x7B4C9A43  # a < 2**31 with a * 2**32 - 1 and half of it minus one both prime
LOW = 0xFFFFFFFF
TOP = (1 << 63) - 1
RANDOM_RESOLUTION = 1 << 20  # probabilities are compared in steps of 1 / this
ROUNDS = 5  # four already change every output bit with probability one half


def word(name: str) -> int:
    """Return the fixed 63-bit number that stands for a stream's name."""
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "big") & TOP


DEAL = word("deal")
SEAT = word("seat")
GAME = word("game")


def read_seed(seed: object) -> int:
    """Return a person's seed as the 63-bit number from which streams start."""
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)):
        raise CardlabError(f"seed {shorten(seed)} is not a whole number; give one such as 0 or 7")
    if -TOP <= seed <= TOP:
        return int(seed)
    raise CardlabError(f"seed {seed} is out of range; give a whole number below 2**63")


@short_kernel
def branch(start: int, step: int) -> int:
    """Return the stream that leaves `start` at `step`; neighbouring streams are unrelated."""
    x = int64(start)
    x = MULTIPLIER * ((x ^ 0x5DEECE66D) & LOW) + (x >> 32)  # so that seed and step differ in role
    x ^= int64(step)
    for _ in range(ROUNDS):
        x = MULTIPLIER * (x & LOW) + (x >> 32)
        x ^= x >> 29
    if x == 0:
        return int64(1)
    return x


@kernel
def below(rng: Any, n: int) -> int:
    """Return the next random whole number from 0 to n - 1 of the stream in `rng[0]`."""
    x = int64(rng[0])
    low = x & LOW
    carry = x >> 32
    rng[0] = MULTIPLIER * low + carry
    return ((low ^ carry) * int64(n)) >> 32


@kernel
def happens(rng: Any, probability: float) -> bool:
    """Return True with a probability."""
    return below(rng, RANDOM_RESOLUTION) < probability * RANDOM_RESOLUTION


@short_kernel
def shuffle(order: Any, rng: Any) -> None:
    """Fill `order` with a random permutation of 0, 1, ..., len(order) - 1."""
    for i in range(len(order)):
        j = below(rng, i + 1)
        order[i] = order[j]
        order[j] = i


@short_kernel
def deck_order(seed: int, n: int, order: Any, rng: Any) -> None:
    """Fill `order` with the n-th deck order of the game of a seed; `rng` is scratch memory."""
    rng[0] = branch(branch(seed, DEAL), n)
    shuffle(order, rng)


def stream(seed: int, *path: str | int) -> int:
    """Return the stream that leaves `seed` along `path`, for instance `"deal", 0`."""
    x = read_seed(seed)
    for step in path:
        x = int(branch(x, word(step) if isinstance(step, str) else step))
    return x


def generator(seed: int, *path: str | int) -> np.random.Generator:
    """Return a NumPy generator for the stream that leaves `seed` along `path`.

    It is seeded through a one-way hash: an agent that inspects its generator learns nothing about
    the seed, from which it could compute the deal.
    """
    start = stream(seed, *path).to_bytes(8, "big", signed=True)
    secret = hashlib.blake2b(start, digest_size=16, person=b"cardlab agents").digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(secret, "big")))
