"""The same rules on a GPU: kernels compiled for CUDA from the same source.

A `@kernel` is a plain function over one record, so its source is compiled a second time for CUDA
(numba-cuda, extra `gpu`): every kernel that it reaches becomes a device function, and counting bits
uses the GPU's instruction. Random streams give the same numbers on both, so a game of a seed is the
same game, to the bit.

Each thread plays one game after another; its deck order, its list of actions and, in play-outs, its
state are in memory of its own.
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
from cardlab.engine.arguments import options_in_a_dict, read_count
from cardlab.engine.batch import (
    Results,
    Rows,
    Scratch,
    as_array,
    make_batch_kernels,
    row_bytes,
)
from cardlab.engine.errors import CardlabError, IllegalAction, require
from cardlab.engine.game import OVER, Array, Game
from cardlab.engine.memory import memory_error, require_memory
from cardlab.engine.playouts import make_playouts
from cardlab.engine.registry import find_game
from cardlab.engine.seeding import branch

__all__ = ["GpuBatch", "Played", "device_function", "play_randomly", "require_gpu"]

# Small launches leave most of a GPU idle, which is meant where few games are played.
warnings.filterwarnings("ignore", message=r".*Grid size \d+ will likely result")
vars(np).setdefault("row_stack", np.vstack)  # gone in NumPy 2.5; numba-cuda compiles with it
cuda: Any = numba.cuda  # untyped, and its simulator looks for it among a kernel's globals
THREADS = 128  # in a block
BLOCKS = 4096  # in a launch of play-outs: a thread takes the next game when its game is over
NO_ROW = np.iinfo(np.int64).max


def require_gpu() -> None:
    """Raise a sentence that says what is missing unless there are a GPU and its library."""
    require("playing on a GPU", "gpu", "numba_cuda")
    if not cuda.is_available():
        raise CardlabError(
            "playing on a GPU needs an NVIDIA GPU and its driver, and none was found; play on the "
            "CPU, where the games are the same"
        )


# From kernels to device functions


def _for_launch(function: Callable[..., None]) -> Any:
    return cuda.jit(function)


def _for_device(function: Callable[..., Any]) -> Any:
    return cuda.jit(device=True)(function)


@functools.cache
def _instructions() -> dict[int, Any]:
    """Return the GPU's versions of the kernels that are instructions of a processor, by id."""

    @_for_device
    def count_bits(mask: Any) -> Any:
        return np.int64(cuda.popc(np.int64(mask)))

    @_for_device
    def lowest_bit(mask: Any) -> Any:
        return np.int64(cuda.ffs(np.int64(mask))) - np.int64(1)

    return {id(kernels.count_bits): count_bits, id(kernels.lowest_bit): lowest_bit}


_made: dict[int, tuple[Any, Any]] = {}  # holds the kernel, too, so that no other gets its id


def device_function(function: Any) -> Any:
    """Return a kernel, with every kernel that it calls, as a function for the GPU."""
    if id(function) in _instructions():
        return _instructions()[id(function)]
    if id(function) not in _made:
        plain = getattr(function, "py_func", function)
        _made[id(function)] = (function, _for_device(_rebuilt(plain)))
    return _made[id(function)][1]


def _rebuilt(function: types.FunctionType) -> types.FunctionType:
    """Return a function that calls the GPU's versions of all kernels."""
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

    A GPU needs that alignment; records of games have no gaps, so their fields are not aligned.
    """
    fields = [(name, record[name]) for name in record.names or ()]
    return np.dtype((np.record, np.dtype(fields, align=True)))


# Play-outs


class Played(NamedTuple):
    """The results of random games: row i is the game with the i-th seed."""

    decisions: Array  # number of actions, by game
    returns: Array  # by game and seat

    def totals(self) -> tuple[int, Array]:
        """Return the number of decisions and the sum of returns by seat."""
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


@options_in_a_dict
def play_randomly(
    game: str | Game,
    games: int,
    *,
    seed: int = 0,
    first: int = 0,
    bring: bool = True,
    options: dict[str, Any] | None = None,
) -> Played:
    """Play new games at random on the GPU: the same games as `engine.playouts.play_randomly`.

    With `bring=False` the arrays stay on the GPU, where other libraries can read them.
    """
    game, games = find_game(game), read_count(games, "games")
    first = read_count(first, "first", 0)
    require_gpu()
    fresh = game.fresh(**game.read_options(options))
    row = 4 * (1 + int(fresh[0].seats))  # one count, and a return for every seat
    _require_device_memory(games * row, f"playing {games:,} games of {game.name}", row)
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


def _require_device_memory(needed: int, what: str, row: int) -> None:
    """Raise a sentence unless the GPU has so much memory left, for rows of `row` bytes."""
    left = cuda.current_context().get_memory_info().free
    if needed > left:
        raise memory_error(needed, f"{what} on the GPU", row, int(left))


class GpuBatch:
    """Many games on the GPU that step together, as those of `cardlab.Batch` on a core.

    The arrays `mover`, `mask`, `done`, `over`, `returns`, `points` and `states` are those of
    `cardlab.Batch`. They stay on the GPU, where other libraries can read them
    (`__cuda_array_interface__`); `copy_to_host()` returns a NumPy array. The records of `states`
    have gaps between fields, as a GPU needs them; `astype(game.state)` removes the gaps.
    """

    @options_in_a_dict
    def __init__(
        self,
        game: str | Game,
        size: int,
        *,
        seed: int = 0,
        redeal: bool = False,
        options: dict[str, Any] | None = None,
    ) -> None:
        game, size = find_game(game), read_count(size, "batch size")
        require_gpu()
        self.game, self.size, self.redeal = game, size, bool(redeal)
        self.options = game.read_options(options)
        fresh = game.fresh(**self.options).astype(aligned(game.state))
        self.seats = int(fresh[0].seats)
        gaps = fresh.itemsize - game.state.itemsize
        row, what = row_bytes(game, self.seats) + gaps, f"a batch of {size:,} games of {game.name}"
        _require_device_memory(size * row, what, row)
        require_memory(size * row, what, row)  # the arrays are made on the host first
        start = seeding.stream(seed, "game")
        seeds = np.fromiter((branch(start, i) for i in range(size)), np.int64, size)
        self._fresh, self._seeds = cuda.to_device(fresh), cuda.to_device(seeds)
        self.states = cuda.to_device(np.repeat(fresh, size))
        self._deals = cuda.to_device(np.zeros(size, dtype=np.int64))
        self.mover = cuda.to_device(np.zeros(size, dtype=np.int8))
        self.mask = cuda.to_device(np.zeros((size, game.num_actions), dtype=np.bool_))
        self.done = cuda.to_device(np.zeros(size, dtype=np.bool_))
        self.over = cuda.to_device(np.zeros(size, dtype=np.bool_))
        self.returns = cuda.to_device(np.zeros((size, self.seats), dtype=np.float32))
        self.points = cuda.to_device(np.zeros((size, self.seats), dtype=np.float32))
        self._grid = (-(-size // THREADS), THREADS)
        self._rows = Rows(self.states, self._seeds, self._deals, self.mover, self.mask)
        self._results = Results(self.done, self.returns, self.points)
        begin, self._find, self._step = _make_steps(game)
        begin[self._grid](self._rows, self.over)

    def step(self, actions: Any) -> None:
        """Take one action in every game that is not over; entries for finished games are ignored.

        All actions are checked before the first is taken.
        """
        on_gpu = hasattr(actions, "__cuda_array_interface__")
        actions = cuda.as_cuda_array(actions) if on_gpu else as_array(actions)
        if actions.shape != (self.size,) or actions.dtype.kind not in "iu":
            raise CardlabError(
                f"actions of a batch of {self.size} games must be {self.size} whole numbers, got "
                f"{actions.dtype} of shape {actions.shape}"
            )
        if not on_gpu:
            actions = cuda.to_device(np.ascontiguousarray(actions, dtype=np.int64))
        wrong = cuda.to_device(np.array([NO_ROW]))
        self._find[self._grid](self.mover, self.mask, actions, wrong)
        row = int(wrong.copy_to_host()[0])
        if row != NO_ROW:
            raise IllegalAction(
                f"{self.game.name}, row {row}: seat {int(self.mover[row])} cannot take action "
                f"{int(actions[row])}; take one that is True in `mask`"
            )
        self._step[self._grid](
            actions, self.redeal, self._fresh, self._results, self._rows, self.over
        )


@functools.cache
def _make_steps(game: Game) -> tuple[Any, Any, Any]:
    rules = make_batch_kernels(game)
    begin_rows, step_rows = device_function(rules.begin), device_function(rules.step)
    find_in_rows = device_function(rules.find_illegal)
    deck, num_actions = game.deck, game.num_actions

    @_for_launch
    def begin(rows: Any, over: Any) -> None:
        order = cuda.local.array(deck, np.uint8)
        buffer = cuda.local.array(num_actions, np.int16)
        rng = cuda.local.array(1, np.int64)
        row = cuda.grid(1)
        if row < len(rows.states):
            begin_rows(row, row + 1, rows, Scratch(order, buffer, rng))
            over[row] = rows.movers[row] == OVER

    @_for_launch
    def find_illegal(movers: Any, mask: Any, actions: Any, wrong: Any) -> None:
        row = cuda.grid(1)
        if row < len(movers) and find_in_rows(row, row + 1, movers, mask, actions) >= 0:
            cuda.atomic.min(wrong, 0, row)

    @_for_launch
    def step(actions: Any, redeal: bool, fresh: Any, results: Any, rows: Any, over: Any) -> None:
        order = cuda.local.array(deck, np.uint8)
        buffer = cuda.local.array(num_actions, np.int16)
        rng = cuda.local.array(1, np.int64)
        row = cuda.grid(1)
        if row < len(rows.states):
            scratch = Scratch(order, buffer, rng)
            step_rows(row, row + 1, actions, redeal, fresh, results, rows, scratch)
            over[row] = rows.movers[row] == OVER

    return begin, find_illegal, step
