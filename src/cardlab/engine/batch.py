"""Thousands of games at once, stepped by one compiled call into arrays that stay in place."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from cardlab.engine import seeding
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
    require_game,
)
from cardlab.engine.kernel import int64, kernel
from cardlab.engine.seeding import GAME, branch

__all__ = ["Batch", "BatchKernels", "make_batch_kernels"]

NO_SEED = -(1 << 63)  # of a game whose cards come from the batch's dealer; no seed is that small
MOST_ROWS = 2**31 - 1


class Rows(NamedTuple):
    """What a batch holds of every game, row by row."""

    states: Any
    seeds: Any
    deals: Any  # how many deck orders the game has used
    movers: Any
    mask: Any


class Results(NamedTuple):
    """What the last step ended, row by row, and with which result for every seat."""

    done: Any
    returns: Any
    points: Any


class Scratch(NamedTuple):
    """Memory that the kernels of a batch work in: a deck order, actions, a stream."""

    order: Any
    buffer: Any
    rng: Any


class Batch:
    """Many games of one kind, each with a seed of its own.

    After construction and after every `step`, row i of

    - `mover` is the seat to move or OVER,
    - `mask` says which actions are legal,
    - `done` says whether the game ended in the last step,
    - `returns` and `points` hold the utility and the points of every seat where `done`.

    With `redeal`, a finished game is replaced at once by the next one of its row, so that `mover`
    and `mask` already belong to the new game while `done` and `returns` belong to the old one.

    With `dealer`, the n-th deck order of row i is `dealer(i, n)`, and there are no seeds.
    """

    def __init__(
        self,
        game: Game,
        size: int,
        *,
        seed: int = 0,
        seeds: Sequence[int] | Array | None = None,
        redeal: bool = False,
        options: dict[str, Any] | None = None,
        dealer: Callable[[int, int], Array] | None = None,
    ) -> None:
        require_game(game)
        size = _read_size(size)
        if not isinstance(redeal, (bool, np.bool_)):
            raise CardlabError(f"redeal must be True or False, got {redeal!r:.60}")
        self.game = game
        self.size = size
        self.options = game.read_options({} if options is None else options)
        self.redeal = redeal
        self.dealer = dealer
        if dealer and (redeal or seeds is not None):
            raise CardlabError("a batch with a dealer takes neither seeds nor redeal")
        self._fresh = game.fresh(**self.options)
        self.seats = int(self._fresh[0].seats)
        start = seeding.stream(seed, "game")
        try:
            self._make_arrays(size)
        except MemoryError:
            raise CardlabError(
                f"batch size {size} needs more memory than there is; give a smaller one"
            ) from None
        if dealer:
            self.seeds: Array = np.full(size, NO_SEED)
        elif seeds is None:
            self.seeds = np.array([branch(start, row) for row in range(size)], dtype=np.int64)
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

    def step(self, actions: Array) -> None:
        """Take one action in every game that is not over; what stands for the others is ignored.

        All actions are checked before the first is taken.
        """
        actions = np.asarray(actions)
        if actions.shape != (self.size,) or actions.dtype.kind not in "iu":
            raise CardlabError(
                f"a batch of {self.size} games takes as many whole numbers, not "
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
        """Take an action in these rows only; `actions` has one for every row of the batch."""
        others = np.ones(self.size, dtype=np.bool_)
        others[rows] = False
        movers = self.mover.copy()
        self.mover[others] = OVER  # nothing is done where a game is over
        try:
            self.step(actions)
        finally:
            self.mover[others] = movers[others]

    def restart(self, rows: Array, seeds: Array) -> None:
        """Begin new games in some rows, with these seeds; the others stay as they are."""
        self.states[rows] = self._fresh[0]
        self.seeds[rows] = seeds
        self._deals[rows] = 0
        self._begin(rows)
        self._deal()

    def _begin(self, rows: Array) -> None:
        """Find out who is to move in some rows, and what is legal there."""
        some = Rows(*(part[rows] for part in self._rows))
        self._kernels.begin(0, len(some.states), some, self._scratch)
        for part, fresh in zip(self._rows, some, strict=True):
            part[rows] = fresh

    @property
    def deals(self) -> Array:
        """How many deck orders every game has used so far."""
        return self._deals

    def turns(self, rows: Array | Sequence[int]) -> Turns:
        """Return the decisions that the games in `rows` wait for, each with its own view."""
        rows = np.arange(self.size)[rows]
        seats = self.mover[rows].astype(np.int64)
        if (seats < 0).any():
            raise CardlabError(f"game {rows[seats < 0][0]} of the batch is over; nobody is to move")
        return Turns(self.game, seats, self.views(rows, seats), self.mask[rows].copy())

    def views(self, rows: Array, seats: Array) -> Array:
        """Return what a seat of each of these games knows, whether it is to move or not."""
        views: Array = self.states[np.asarray(rows)]  # a copy: rows are listed, not sliced
        self._kernels.conceal_all(views, seats)
        return views

    def _deal(self) -> None:
        """Deal where the kernels could not: without a dealer they have, unless it has no end."""
        if self.mover.min() != DEALER:
            return
        for _ in range(MOST_DEALS_IN_A_ROW if self.dealer else 0):
            rows = np.flatnonzero(self.mover == DEALER)
            for row in rows.tolist():
                assert self.dealer
                order = self.dealer(row, int(self._deals[row]))
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


def _read_size(size: object) -> int:
    if isinstance(size, bool) or not isinstance(size, (int, np.integer)):
        raise CardlabError(f"batch size must be a whole number, got {size!r:.60}")
    if size < 1:
        raise CardlabError(f"batch size must be at least 1, got {size}")
    if size > MOST_ROWS:
        raise CardlabError(f"batch size must be at most {MOST_ROWS:,}, got {size}")
    return int(size)


def _read_seeds(seeds: object, size: int) -> Array:
    """Return the seeds of a batch in an array of its own."""
    try:
        found = np.asarray(seeds)
    except (ValueError, TypeError):  # rows of different lengths, or what converts itself badly
        found = np.empty(0)
    if found.shape != (size,) or found.dtype.kind not in "iu":
        raise CardlabError(
            f"seeds of a batch of {size} games must be {size} whole numbers below 2**63, got "
            f"{found.dtype} of shape {found.shape}"
        )
    for seed in (found.min(), found.max()):
        seeding.read_seed(seed)
    return found.astype(np.int64)


class BatchKernels(NamedTuple):
    """Kernels of many games at once; all but the last for rows from a first one up to an end.

    The loop over rows is inside: to hand all these arrays over costs as much as a step.
    """

    begin: Callable[..., None]
    find_illegal: Callable[..., int]
    step: Callable[..., None]
    conceal_all: Callable[..., None]


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

    @kernel
    def begin(first: int, end: int, rows: Any, scratch: Any) -> None:
        states, seeds, deals, movers, mask = rows
        order, buffer, rng = scratch
        for row in range(first, end):
            movers[row] = settle(states[row], row, seeds, deals, order, rng)
            write_mask(states[row], row, mask, buffer)

    @kernel
    def find_illegal(first: int, end: int, movers: Any, mask: Any, actions: Any) -> int:
        for row in range(first, end):
            action = actions[row]
            if movers[row] != OVER and not (0 <= action < mask.shape[1] and mask[row, action]):
                return row
        return -1

    @kernel
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

    @kernel
    def conceal_all(views: Any, seats: Any) -> None:
        for row in range(len(views)):
            conceal(views[row], seats[row])

    return BatchKernels(begin, find_illegal, step, conceal_all)
