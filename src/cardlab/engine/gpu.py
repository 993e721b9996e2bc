"""The same rules on a GPU: kernels compiled for CUDA from the same source.

A `@kernel` is a plain function over one record, so the source that runs on a core is compiled once
more for CUDA (numba-cuda, extra `gpu`): every kernel that it reaches becomes a device function, and
the counting of bits the GPU's own. Streams are the same numbers on both, so a game of a seed is the
same game, to the bit.

One thread plays one game after the other; its deck order and list of actions, and in play-outs its
state, lie in memory of its own.
"""

from __future__ import annotations

import functools
import types
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numba.cuda
import numpy as np

from cardlab.engine import kernel as kernels
from cardlab.engine import seeding
from cardlab.engine.batch import Results, Rows, Scratch, make_batch_kernels
from cardlab.engine.errors import CardlabError, IllegalAction, require
from cardlab.engine.game import Array, Game
from cardlab.engine.playouts import make_playouts
from cardlab.engine.seeding import branch

__all__ = ["GpuBatch", "Played", "device_function", "play_randomly", "require_gpu"]

# Small launches leave most of a GPU idle, which is meant where few games are played.
warnings.filterwarnings("ignore", message=r".*Grid size \d+ will likely result")
vars(np).setdefault("row_stack", np.vstack)  # gone in NumPy 2.5; numba-cuda compiles with it
cuda: Any = numba.cuda  # untyped, and its simulator looks for it among a kernel's globals
THREADS = 128  # in a block
BLOCKS = 4096  # in a launch of play-outs: threads take the next game when theirs is over
NO_ROW = np.iinfo(np.int64).max


def require_gpu() -> None:
    """Make sure that there is a GPU and the library for it, or say what is missing."""
    require("playing on a GPU", "gpu", "numba_cuda")
    if not cuda.is_available():
        raise CardlabError(
            "playing on a GPU needs an NVIDIA GPU and its driver, and none was found; leave the "
            "GPU out, the same games run on the CPU"
        )


# From kernels to device functions


def _for_launch(function: Callable[..., None]) -> Any:
    return cuda.jit(function)


def _for_device(function: Callable[..., Any]) -> Any:
    return cuda.jit(device=True)(function)


@functools.cache
def _instructions() -> dict[int, Any]:
    """Return what stands on a GPU for the kernels that are instructions of a processor."""

    @_for_device
    def count_bits(mask: Any) -> Any:
        return np.int64(cuda.popc(np.int64(mask)))

    @_for_device
    def lowest_bit(mask: Any) -> Any:
        return np.int64(cuda.ffs(np.int64(mask))) - np.int64(1)

    return {id(kernels.count_bits): count_bits, id(kernels.lowest_bit): lowest_bit}


_made: dict[int, tuple[Any, Any]] = {}  # with the kernel itself, so that no other gets its id


def device_function(function: Any) -> Any:
    """Return a kernel, with all that it calls, as a function for the GPU."""
    if id(function) in _instructions():
        return _instructions()[id(function)]
    if id(function) not in _made:
        plain = getattr(function, "py_func", function)
        _made[id(function)] = (function, _for_device(_rebuilt(plain)))
    return _made[id(function)][1]


def _rebuilt(function: types.FunctionType) -> types.FunctionType:
    """Return a function whose kernels, of its module or from around it, are the GPU's."""
    names = dict(function.__globals__)
    for name in kernels.global_names(function.__code__) & names.keys():
        names[name] = _translated(names[name])
    around = tuple(
        types.CellType(_translated(cell.cell_contents)) for cell in function.__closure__ or ()
    )
    made = types.FunctionType(
        function.__code__, names, function.__name__, function.__defaults__, around
    )
    made.__qualname__, made.__module__ = function.__qualname__, function.__module__
    return made


def _translated(value: Any) -> Any:
    ours = id(value) in _instructions() or hasattr(value, "py_func")
    return device_function(value) if ours else value


def aligned(record: np.dtype[Any]) -> np.dtype[Any]:
    """Return a record type with every field, in every row, at a multiple of its size.

    A GPU reads nothing else; records of games have no gaps, so their rows lie anywhere.
    """
    fields = [(name, record[name]) for name in record.names or ()]
    return np.dtype((np.record, np.dtype(fields, align=True)))


# Play-outs


class Played(NamedTuple):
    """Random games: row i is the game with the i-th seed."""

    decisions: Array
    returns: Array

    def totals(self) -> tuple[int, Array]:
        """Return the decisions taken and the summed returns by seat."""
        return int(self.decisions.sum()), self.returns.sum(axis=0, dtype=np.float64)


@functools.cache
def _make_play(game: Game) -> Any:
    play_one = device_function(make_playouts(game).play_one)
    returns, leave = device_function(game.returns), device_function(branch)
    record, deck, actions = aligned(game.state), game.deck, game.num_actions

    @_for_launch
    def play(fresh: Any, start: int, first: int, decisions: Any, results: Any) -> None:
        work = cuda.local.array(1, record)
        order = cuda.local.array(deck, np.uint8)
        buffer = cuda.local.array(actions, np.int16)
        rng = cuda.local.array(1, np.int64)
        i = cuda.grid(1)
        while i < len(decisions):
            work[0] = fresh[0]
            s = work[0]
            decisions[i] = play_one(s, leave(start, first + i), order, buffer, rng)
            for seat in range(results.shape[1]):
                results[i, seat] = returns(s, seat)
            i += cuda.gridsize(1)

    return play


def play_randomly(
    game: Game, games: int, *, seed: int = 0, first: int = 0, bring: bool = True, **options: Any
) -> Played:
    """Play fresh games at random on the GPU: the games of `engine.playouts.play_randomly`.

    With `bring=False` the arrays stay on the GPU, for other libraries to read them there.
    """
    require_gpu()
    fresh = game.fresh(**game.read_options(options))
    decisions = cuda.device_array(games, np.int32)
    results = cuda.device_array((games, int(fresh[0].seats)), np.float32)
    blocks = max(1, min(BLOCKS, -(-games // THREADS)))
    start = seeding.stream(seed, "game")
    given = cuda.to_device(fresh.astype(aligned(game.state)))
    _make_play(game)[blocks, THREADS](given, start, first, decisions, results)
    if not bring:
        return Played(decisions, results)
    return Played(decisions.copy_to_host(), results.copy_to_host())


# Batches


class GpuBatch:
    """Many games on the GPU that step together, as `cardlab.Batch` does on a core.

    `mover`, `mask`, `done`, `returns`, `points` and `states` stay on the GPU; other libraries read
    them there (`__cuda_array_interface__`), `copy_to_host()` brings them back. The records of
    `states` have gaps between fields, as a GPU needs them; `astype(game.state)` removes them.
    """

    def __init__(
        self,
        game: Game,
        size: int,
        *,
        seed: int = 0,
        redeal: bool = False,
        options: dict[str, Any] | None = None,
    ) -> None:
        if size < 1:
            raise CardlabError(f"batch size must be at least 1, got {size}")
        require_gpu()
        self.game, self.size, self.redeal = game, size, redeal
        fresh = game.fresh(**game.read_options(options or {})).astype(aligned(game.state))
        self.seats = int(fresh[0].seats)
        start = seeding.stream(seed, "game")
        seeds = np.array([branch(start, row) for row in range(size)], dtype=np.int64)
        self._fresh, self._seeds = cuda.to_device(fresh), cuda.to_device(seeds)
        self.states = cuda.to_device(np.repeat(fresh, size))
        self._deals = cuda.to_device(np.zeros(size, dtype=np.int64))
        self.mover = cuda.to_device(np.zeros(size, dtype=np.int8))
        self.mask = cuda.to_device(np.zeros((size, game.num_actions), dtype=np.bool_))
        self.done = cuda.to_device(np.zeros(size, dtype=np.bool_))
        self.returns = cuda.to_device(np.zeros((size, self.seats), dtype=np.float32))
        self.points = cuda.to_device(np.zeros((size, self.seats), dtype=np.float32))
        self._grid = (-(-size // THREADS), THREADS)
        self._rows = Rows(self.states, self._seeds, self._deals, self.mover, self.mask)
        self._results = Results(self.done, self.returns, self.points)
        begin, self._find, self._step = _make_steps(game)
        begin[self._grid](self._rows)

    def step(self, actions: Any) -> None:
        """Take one action in every game that is not over, after checking them all."""
        if isinstance(actions, np.ndarray):
            actions = cuda.to_device(np.ascontiguousarray(actions, dtype=np.int64))
        else:
            actions = cuda.as_cuda_array(actions)
        if actions.shape != (self.size,):
            raise CardlabError(
                f"a batch of {self.size} games takes as many whole numbers, not an array of shape "
                f"{actions.shape}"
            )
        wrong = cuda.to_device(np.array([NO_ROW]))
        self._find[self._grid](self.mover, self.mask, actions, wrong)
        row = int(wrong.copy_to_host()[0])
        if row != NO_ROW:
            raise IllegalAction(
                f"{self.game.name}, row {row}: seat {int(self.mover[row])} cannot take action "
                f"{int(actions[row])}; the mask says what is legal"
            )
        self._step[self._grid](actions, self.redeal, self._fresh, self._results, self._rows)


@functools.cache
def _make_steps(game: Game) -> tuple[Any, Any, Any]:
    rules = make_batch_kernels(game)
    begin_rows, step_rows = device_function(rules.begin), device_function(rules.step)
    find_in_rows = device_function(rules.find_illegal)
    deck, num_actions = game.deck, game.num_actions

    @_for_launch
    def begin(rows: Any) -> None:
        order = cuda.local.array(deck, np.uint8)
        buffer = cuda.local.array(num_actions, np.int16)
        rng = cuda.local.array(1, np.int64)
        row = cuda.grid(1)
        if row < len(rows.states):
            begin_rows(row, row + 1, rows, Scratch(order, buffer, rng))

    @_for_launch
    def find_illegal(movers: Any, mask: Any, actions: Any, wrong: Any) -> None:
        row = cuda.grid(1)
        if row < len(movers) and find_in_rows(row, row + 1, movers, mask, actions) >= 0:
            cuda.atomic.min(wrong, 0, row)

    @_for_launch
    def step(actions: Any, redeal: bool, fresh: Any, results: Any, rows: Any) -> None:
        order = cuda.local.array(deck, np.uint8)
        buffer = cuda.local.array(num_actions, np.int16)
        rng = cuda.local.array(1, np.int64)
        row = cuda.grid(1)
        if row < len(rows.states):
            scratch = Scratch(order, buffer, rng)
            step_rows(row, row + 1, actions, redeal, fresh, results, rows, scratch)

    return begin, find_illegal, step
