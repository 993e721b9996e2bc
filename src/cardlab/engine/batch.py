"""Thousands of games that step together in one compiled call; their arrays stay in place."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from cardlab.engine import seeding
from cardlab.engine.arguments import options_in_a_dict, read_count, shorten
from cardlab.engine.errors import CardlabError, IllegalAction
from cardlab.engine.game import (
    DEALER,
    MOST_DEALS_IN_A_ROW,
    OVER,
    Array,
    Game,
    State,
    Turns,
    endless_deals,
)
from cardlab.engine.kernel import int64, kernel, short_kernel
from cardlab.engine.memory import memory_error, require_memory
from cardlab.engine.play import read_deal
from cardlab.engine.registry import find_game
from cardlab.engine.seeding import GAME, branch

__all__ = ["Batch", "BatchKernels", "make_batch_kernels"]

NO_SEED = -(1 << 63)  # of a game whose cards come from the batch's dealer; smaller than all seeds
MOST_ROWS = 2**31 - 1


class Rows(NamedTuple):
    """The arrays of a batch that describe its games, row by row."""

    states: Any
    seeds: Any
    deals: Any  # number of deck orders that the game has used
    movers: Any
    mask: Any


class Results(NamedTuple):
    """The arrays of a batch that hold results, row by row."""

    done: Any
    returns: Any
    points: Any


class Scratch(NamedTuple):
    """Scratch memory for the kernels of a batch: a deck order, actions, a stream."""

    order: Any
    buffer: Any
    rng: Any


class Batch:
    """Many games of one kind that step together, each with a seed of its own.

    After construction and after every `step`, these arrays describe the games, one row for each:

    - `mover`, int8: the seat to move, or OVER (-1)
    - `mask`, bool, by action: whether the action is legal; all False if the game is over
    - `done`, bool: whether a game of the row ended in the last step
    - `over`, bool: whether the game of the row has ended; with `redeal` always False
    - `returns`, float32, by seat: the utility, from -1 to 1, of the last game that ended in the row
    - `points`, float32, by seat: the points of that game, as on a scoreboard
    - `seeds`, int64: the seed of the game; `Table(game, seed=int(batch.seeds[i]))` is the same game
    - `states`, records: the complete games; agents get `turns` or `views`

    With `redeal=True` a game that ends is replaced in the same step by the next game of its row:
    `mover`, `mask`, `seeds` and `states` then belong to the new game, `done`, `returns` and
    `points` to the old one. With `dealer` the n-th deck order of row i is `dealer(i, n)`, and there
    are no seeds.

        batch = Batch("NAME", 1000, seed=1)
        while not batch.over.all():
            batch.step(batch.mask.argmax(axis=1))  # the first legal action of every game
        print(batch.returns.mean(axis=0))
    """

    @options_in_a_dict
    def __init__(
        self,
        game: str | Game,
        size: int,
        *,
        seed: int = 0,
        seeds: Sequence[int] | Array | None = None,
        redeal: bool = False,
        options: dict[str, Any] | None = None,
        dealer: Callable[[int, int], Array] | None = None,
    ) -> None:
        game = find_game(game)
        size = read_count(size, "batch size")
        if not isinstance(redeal, (bool, np.bool_)):
            raise CardlabError(f"redeal must be True or False, got {shorten(redeal)}")
        if dealer is not None and not callable(dealer):
            raise CardlabError(
                f"dealer must be a function of a row and the number of a deal, got "
                f"{shorten(dealer)}"
            )
        self.game = game
        self.size = size
        self.options = game.read_options(options)
        self.redeal = bool(redeal)
        self.dealer = dealer
        if dealer and (redeal or seeds is not None):
            raise CardlabError("a batch with a dealer takes neither seeds nor redeal")
        self._fresh = game.fresh(**self.options)
        self.seats = int(self._fresh[0].seats)
        start = seeding.stream(seed, "game")
        row, what = row_bytes(game, self.seats), f"a batch of {size:,} games of {game.name}"
        require_memory(size * row, what, row)
        read_count(size, "batch size", highest=MOST_ROWS)
        try:
            self._make_arrays(size)
        except MemoryError:
            raise memory_error(size * row, what, row) from None
        if dealer:
            self.seeds: Array = np.full(size, NO_SEED)
        elif seeds is None:
            self.seeds = np.fromiter((branch(start, i) for i in range(size)), np.int64, size)
        else:
            self.seeds = _read_seeds(seeds, size)
        self._rows = Rows(self.states, self.seeds, self._deals, self.mover, self.mask)
        self._results = Results(self.done, self.returns, self.points)
        self._scratch = Scratch(
            np.empty(game.deck, dtype=np.uint8),
            np.empty(game.num_actions, dtype=np.int16),
            np.zeros(1, dtype=np.int64),
        )
        self._kernels.begin(0, size, self._rows, self._scratch)
        self._deal()

    def _make_arrays(self, size: int) -> None:
        self.states: Array = np.repeat(self._fresh, size)
        self.mover = np.empty(size, dtype=np.int8)
        self.mask = np.zeros((size, self.game.num_actions), dtype=np.bool_)
        self.done = np.zeros(size, dtype=np.bool_)
        self.returns = np.zeros((size, self.seats), dtype=np.float32)
        self.points = np.zeros((size, self.seats), dtype=np.float32)
        self._deals = np.zeros(size, dtype=np.int64)

    @property
    def _kernels(self) -> BatchKernels:
        return make_batch_kernels(self.game)  # found again, not kept: batches can be pickled

    @property
    def over(self) -> Array:
        """Whether the game of each row has ended, as an array of bool; False with `redeal`."""
        over: Array = self.mover == OVER
        return over

    def step(self, actions: Array) -> None:
        """Take one action in every game that is not over; entries for finished games are ignored.

        All actions are checked before the first is taken.
        """
        actions = as_array(actions)
        if actions.shape != (self.size,) or actions.dtype.kind not in "iu":
            raise CardlabError(
                f"actions of a batch of {self.size} games must be {self.size} whole numbers, got "
                f"{actions.dtype} of shape {actions.shape}"
            )
        actions = np.ascontiguousarray(actions, dtype=np.int64)
        wrong = self._kernels.find_illegal(0, self.size, self.mover, self.mask, actions)
        if wrong >= 0:
            raise IllegalAction(
                f"{self.game.name}, row {wrong}: seat {self.mover[wrong]} cannot take action "
                f"{actions[wrong]}; legal: {self.game.actions_text(self.mask[wrong].nonzero()[0])}"
            )
        self._kernels.step(
            0,
            self.size,
            actions,
            self.redeal,
            self._fresh,
            self._results,
            self._rows,
            self._scratch,
        )
        self._deal()

    def step_some(self, rows: Array, actions: Array) -> None:
        """Take an action in some rows only; `actions` has an entry for every row of the batch."""
        others = np.ones(self.size, dtype=np.bool_)
        others[self._read_rows(rows)] = False
        movers = self.mover.copy()
        self.mover[others] = OVER  # nothing is done where a game is over
        try:
            self.step(actions)
        finally:
            self.mover[others] = movers[others]

    def restart(self, rows: Array, seeds: Array) -> None:
        """Start new games with these seeds in some rows; the other rows stay as they are."""
        rows = self._read_rows(rows)
        seeds = _read_seeds(seeds, len(rows))
        self.states[rows] = self._fresh[0]
        self.seeds[rows] = seeds
        self._deals[rows] = 0
        self._begin(rows)
        self._deal()

    def _begin(self, rows: Array) -> None:
        """Deal in some rows until a seat moves, and write mover and mask."""
        some = Rows(*(part[rows] for part in self._rows))
        self._kernels.begin(0, len(some.states), some, self._scratch)
        for part, fresh in zip(self._rows, some, strict=True):
            part[rows] = fresh

    @property
    def deals(self) -> Array:
        """The number of deck orders that each game has used so far."""
        return self._deals

    def turns(self, rows: Array | Sequence[int]) -> Turns:
        """Return the decisions that the games in `rows` wait for, each with the mover's view."""
        rows = self._read_rows(rows)
        seats = self.mover[rows].astype(np.int64)
        if (seats < 0).any():
            raise CardlabError(f"game {rows[seats < 0][0]} of the batch is over; nobody is to move")
        return Turns(self.game, seats, self.views(rows, seats), self.mask[rows].copy())

    def views(self, rows: Array, seats: Array) -> Array:
        """Return the view of one seat of each game in `rows`, whether it is to move or not."""
        rows, seats = self._read_rows(rows), as_array(seats)
        fits = seats.shape == rows.shape and seats.dtype.kind in "iu"
        if len(rows) and not (fits and seats.min() >= 0 and seats.max() < self.seats):
            raise CardlabError(
                f"seats must be {len(rows)} whole numbers from 0 to {self.seats - 1}, one for each "
                f"row, got {shorten(seats.tolist())}"
            )
        views: Array = self.states[rows]  # a copy: rows are listed, not sliced
        self._kernels.conceal_all(views, seats.astype(np.int64))
        return views

    def _read_rows(self, rows: object) -> Array:
        """Return rows of the batch, given as numbers, a slice or a mask, as an array of numbers."""
        found = None
        with contextlib.suppress(IndexError, TypeError, ValueError, OverflowError):
            given = np.empty(0) if isinstance(rows, slice) else np.asarray(rows)
            if given.dtype.kind in "b" or not (given < 0).any():
                found = np.atleast_1d(np.arange(self.size)[rows])  # type: ignore[call-overload]
        if found is None or found.ndim != 1:
            raise CardlabError(
                f"rows must be numbers from 0 to {self.size - 1} or a mask of {self.size} games, "
                f"got {shorten(rows)}"
            )
        return found

    def _deal(self) -> None:
        """Deal where the kernels could not: in games with a dealer; others that wait never end."""
        if self.mover.min() != DEALER:
            return
        for _ in range(MOST_DEALS_IN_A_ROW if self.dealer else 0):
            rows = np.flatnonzero(self.mover == DEALER)
            for row in rows.tolist():
                assert self.dealer
                n = int(self._deals[row])
                order = read_deal(self.game, self.dealer(row, n), n)
                self.game.bindings.deal(self.states, row, order)
                self._deals[row] += 1
            self._begin(rows)
            for row in rows[self.mover[rows] == OVER].tolist():  # a deal may leave nothing to play
                state = State(self.game, self.states[row : row + 1])
                self.done[row] = True
                self.returns[row], self.points[row] = state.returns(), state.points()
            if self.mover.min() != DEALER:
                return
        raise CardlabError(endless_deals(self.game))


def row_bytes(game: Game, seats: int) -> int:
    """Return the bytes of memory that one game of a batch needs."""
    results = 2 * seats * np.dtype(np.float32).itemsize
    numbers = 2 * np.dtype(np.int64).itemsize  # its seed, its deck orders
    return game.state.itemsize + game.num_actions + results + numbers + 2  # mover, done


def as_array(given: object) -> Array:
    """Return what a person gives as an array; what is not one is an empty array."""
    try:
        return np.asarray(given)
    except (ValueError, TypeError, OverflowError):  # ragged rows, or a failing conversion
        return np.empty(0)


def _read_seeds(seeds: object, size: int) -> Array:
    """Return the seeds of a batch in an array of its own."""
    found = as_array(seeds)
    if found.shape != (size,) or found.dtype.kind not in "iu":
        raise CardlabError(
            f"seeds of a batch of {size} games must be {size} whole numbers below 2**63, got "
            f"{found.dtype} of shape {found.shape}"
        )
    for seed in (found.min(), found.max()) if size else ():
        seeding.read_seed(seed)
    return found.astype(np.int64)


class BatchKernels(NamedTuple):
    """Kernels of a batch; all but the last work on the rows from `first` to `end`.

    The loop over rows is inside the kernel: passing all arrays costs as much as a step.
    """

    begin: Callable[..., None]  # deals until a seat moves; writes movers and masks
    find_illegal: Callable[..., int]  # first row with an illegal action, or -1
    step: Callable[..., None]  # takes an action in every row
    conceal_all: Callable[..., None]  # turns states into views of seats


@functools.cache
def make_batch_kernels(game: Game) -> BatchKernels:
    """Return the kernels of batches of a game."""
    mover, deal, legal, apply = game.mover, game.deal, game.legal, game.apply
    returns, points, conceal, shuffle = game.returns, game.points, game.conceal, game.shuffle

    @kernel
    def settle(s: Any, row: int, seeds: Any, deals: Any, order: Any, rng: Any) -> int:
        """Deal until somebody moves; return who."""
        who = mover(s)
        first = deals[row]
        if seeds[row] == NO_SEED:
            return int64(who)
        while who == DEALER and deals[row] - first < MOST_DEALS_IN_A_ROW:
            shuffle(seeds[row], deals[row], order, rng)
            deals[row] += 1
            deal(s, order)
            who = mover(s)
        return int64(who)

    @kernel
    def write_mask(s: Any, row: int, mask: Any, buffer: Any) -> None:
        for action in range(mask.shape[1]):
            mask[row, action] = False
        if mover(s) >= 0:
            for i in range(legal(s, buffer)):
                mask[row, buffer[i]] = True

    @short_kernel
    def begin(first: int, end: int, rows: Any, scratch: Any) -> None:
        states, seeds, deals, movers, mask = rows
        order, buffer, rng = scratch
        for row in range(first, end):
            movers[row] = settle(states[row], row, seeds, deals, order, rng)
            write_mask(states[row], row, mask, buffer)

    @short_kernel
    def find_illegal(first: int, end: int, movers: Any, mask: Any, actions: Any) -> int:
        for row in range(first, end):
            action = actions[row]
            if movers[row] != OVER and not (0 <= action < mask.shape[1] and mask[row, action]):
                return row
        return -1

    @short_kernel
    def step(
        first: int,
        end: int,
        actions: Any,
        redeal: bool,
        fresh: Any,
        results: Any,
        rows: Any,
        scratch: Any,
    ) -> None:
        states, seeds, deals, movers, mask = rows
        done, utilities, scores = results
        order, buffer, rng = scratch
        for row in range(first, end):
            done[row] = False
            if movers[row] == OVER:
                continue
            s = states[row]
            apply(s, actions[row])
            who = mover(s)
            if who == DEALER:
                who = settle(s, row, seeds, deals, order, rng)
            if who == OVER:
                done[row] = True
                for seat in range(utilities.shape[1]):
                    utilities[row, seat] = returns(s, seat)
                    scores[row, seat] = points(s, seat)
                for _ in range(MOST_DEALS_IN_A_ROW):  # a deal may leave nothing to play
                    if not redeal or who != OVER:
                        break
                    states[row] = fresh[0]
                    seeds[row] = branch(seeds[row], GAME)
                    deals[row] = 0
                    who = settle(s, row, seeds, deals, order, rng)
            movers[row] = who
            write_mask(s, row, mask, buffer)

    @short_kernel
    def conceal_all(views: Any, seats: Any) -> None:
        for row in range(len(views)):
            conceal(views[row], seats[row])

    return BatchKernels(begin, find_illegal, step, conceal_all)
