# %% kernel, int64

import numpy as np

from cardlab.engine.kernel import int64, kernel


@kernel
def total(values):
    """Return the sum of small numbers."""
    found = 0
    for i in range(len(values)):
        found += int64(values[i])  # one byte holds up to 255 only: widen it first
    return found


print(total(np.array([200, 100, 55], dtype=np.uint8)))

#: 355


# %% bit, count_bits, lowest_bit

from cardlab.engine.cards import card_text, parse_card
from cardlab.engine.kernel import bit, count_bits, kernel, lowest_bit

hand = bit(parse_card("7H")) | bit(parse_card("AS"))


@kernel
def without_lowest(cards):
    """Return how many cards a set has, its lowest card, and the set without it."""
    lowest = lowest_bit(cards)  # this and count_bits are for kernels only
    return count_bits(cards), lowest, cards & ~bit(lowest)


count, lowest, rest = without_lowest(hand)
print(count, card_text(lowest), rest == bit(parse_card("7H")))

#: 2 AS True


# %% JIT

from cardlab.engine.kernel import JIT

print("compiled" if JIT else "interpreted, because NUMBA_DISABLE_JIT=1 is set")

#: compiled


# %% KernelError

from cardlab.engine.kernel import KernelError, kernel


def double(x):
    return 2 * x


@kernel
def quadruple(x):
    """Return four times a number."""
    return double(double(x))


try:
    quadruple(3)
except KernelError as error:
    print(str(error).partition(") is ")[2])

#: a plain function, which a kernel cannot call; write @kernel above it


# %% on_compile, compiled

import time

from cardlab.engine.kernel import compiled, kernel, on_compile

NOW = time.time_ns()  # a new constant: no kernel in the cache on disk fits


@kernel
def elapsed(now):
    """Return the time since this example began."""
    return now - NOW


with on_compile(lambda name: print("compiling", name)):
    elapsed(NOW + 5)
    print(elapsed(NOW + 10))  # compiled already
print(compiled[-1])

#: compiling __example__.elapsed
#: 10
#: __example__.elapsed(int64,)


# %% cache_folder, prune_cache

import os
from pathlib import Path

from cardlab.engine.kernel import cache_folder, prune_cache

print(cache_folder())

folder = Path("kernels")
folder.mkdir()
(folder / "new.kernel").touch()
(folder / "old.kernel").touch()
os.utime(folder / "old.kernel", (0, 0))  # last used in 1970
print(prune_cache(folder, days=30), [path.name for path in folder.iterdir()])

#: ...
#: 1 ['new.kernel']


# %% global_names

from cardlab.engine.kernel import global_names

LIMIT = 31


def fits(count, value):
    return min(count, LIMIT) + value <= LIMIT


print(sorted(global_names(fits.__code__)))

#: ['LIMIT', 'min']
