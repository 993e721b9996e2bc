"""The whole tree of a small game as arrays: positions, chances, information sets.

Positions stand level by level, so that a parent comes before its children, and the children of a
position stand beside each other in the order of their actions. The positions of an information set
look the same to the seat that moves there and follow the same own decisions of that seat (perfect
recall, even if a view does not show all of the past).

The strategies of all seats are one array: `tree.slots` numbers, one for each action of each
information set, in the order of `tree.start`.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from cardlab.engine.arguments import options_in_a_dict, read_count
from cardlab.engine.batch import make_batch_kernels
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import DEALER, OVER, Array, Game
from cardlab.engine.kernel import int64, kernel
from cardlab.engine.registry import find_game

__all__ = ["GameTree", "build_tree"]

MOST_POSITIONS = 5_000_000
MOST_DEALS = 50_000  # orders of the cards that matter


class Nodes(NamedTuple):
    """What kernels read of a tree; one entry for each position, or for each information set."""

    mover: Any  # the seat that moves, DEALER or OVER
    first: Any  # the first child
    count: Any  # number of children
    chance: Any  # probability of this position after its parent, if the parent is a deal
    info: Any  # the information set of a seat that moves, otherwise -1
    payoffs: Any  # by seat; 0 unless the game is over
    decisions: Any  # by seat: number of its own decisions before this position
    start: Any  # by information set: its first slot; one more entry at the end
    head: Any  # by information set: one of its positions


@dataclass(frozen=True, eq=False)
class GameTree:
    """All positions and information sets of a game, with payoffs in points."""

    game: Game
    options: dict[str, Any]
    seats: int
    nodes: Nodes
    actions: Array  # by slot: the action
    infosets: tuple[tuple[int, bytes], ...]  # seat and view of each information set

    @property
    def positions(self) -> int:
        """The number of positions, deals and ends included."""
        return len(self.nodes.mover)

    @property
    def slots(self) -> int:
        """The number of actions in all information sets."""
        return len(self.actions)

    def uniform(self) -> Array:
        """Return the strategies that take every legal action with the same probability."""
        sizes = np.diff(self.nodes.start)
        shares: Array = np.repeat(1.0 / sizes, sizes)
        return shares

    def read_strategies(self, strategies: object) -> Array:
        """Return strategies as an array of numbers that add up to 1 in every information set."""
        given = np.asarray(strategies, dtype=np.float64)
        if given.shape != (self.slots,):
            raise CardlabError(
                f"strategies of {self.game.name} must be {self.slots} numbers, one for each action "
                f"of each information set, got an array of shape {given.shape}"
            )
        sums = np.add.reduceat(given, self.nodes.start[:-1])
        if given.min() < 0 or not np.allclose(sums, 1, atol=1e-6):
            raise CardlabError(
                f"strategies of {self.game.name} must be probabilities that add up to 1 in every "
                "information set"
            )
        return given

    def table(self, strategies: Array) -> dict[tuple[int, bytes], dict[int, float]]:
        """Return the probability of every action by seat and view."""
        starts = self.nodes.start.tolist()
        return {
            infoset: dict(
                zip(self.actions[a:b].tolist(), np.asarray(strategies)[a:b].tolist(), strict=True)
            )
            for infoset, (a, b) in zip(self.infosets, itertools.pairwise(starts), strict=True)
        }


@options_in_a_dict
def build_tree(
    game: str | Game, *, options: dict[str, Any] | None = None, most: int = MOST_POSITIONS
) -> GameTree:
    """Return the tree of a game that is small enough; a larger one raises a sentence."""
    game = find_game(game)
    most = read_count(most, "positions")
    read = game.read_options(options)
    return _Builder(game, read, most).build()


class _Builder:
    """Expands a game level by level."""

    def __init__(self, game: Game, options: dict[str, Any], most: int) -> None:
        self.game, self.options, self.most = game, options, most
        self.kernels = _make_kernels(game)
        self.conceal = make_batch_kernels(game).conceal_all
        self.known: dict[tuple[int, bytes, int], int] = {}  # seat, view, own decision before
        self.legal: list[tuple[int, ...]] = []  # by information set
        self.start = [0]
        self.head: list[int] = []
        self.levels: list[dict[str, Array]] = []
        self.orders: Array | None = None

    def build(self) -> GameTree:
        states = self.game.fresh(**self.options)
        seats = int(states[0].seats)
        chance = np.ones(1)
        last = np.full((1, seats), -1, dtype=np.int64)  # slot of each seat's last own decision
        decisions = np.zeros((1, seats), dtype=np.int32)
        total = 0
        while len(states):
            if total + len(states) > self.most:
                raise CardlabError(
                    f"the tree of {self.game.name} has more than {self.most:,} positions, too many "
                    "for an exact solution; choose a smaller game or option"
                )
            level, children = self._expand(states, chance, last, decisions, total)
            total += len(states)
            level["first"] += total  # children stand in the next level
            self.levels.append(level)
            states, chance, last, decisions = children
        columns = {
            name: np.concatenate([level[name] for level in self.levels]) for name in self.levels[0]
        }
        nodes = Nodes(**columns, start=np.array(self.start), head=np.array(self.head))
        return GameTree(
            self.game,
            self.options,
            seats,
            nodes,
            np.array([action for legal in self.legal for action in legal], dtype=np.int64),
            tuple((seat, view) for seat, view, _ in self.known),
        )

    def _expand(
        self, states: Array, chance: Array, last: Array, decisions: Array, offset: int
    ) -> tuple[dict[str, Array], tuple[Array, Array, Array, Array]]:
        """Return the columns of a level, and states and more of the next one."""
        count, seats = last.shape
        mover = np.empty(count, dtype=np.int64)
        mask = np.zeros((count, self.game.num_actions), dtype=np.bool_)
        payoffs = np.zeros((count, seats))
        buffer = np.empty(self.game.num_actions, dtype=np.int16)
        self.kernels.look(states, mover, mask, payoffs, buffer)
        info = np.full(count, -1, dtype=np.int64)
        sizes = mask.sum(axis=1)
        playing = np.flatnonzero(mover >= 0)
        info[playing] = self._infosets(states, mover, mask, last, playing, offset)

        parents, actions = np.nonzero(mask)
        played = states[parents]
        self.kernels.act(played, actions)
        next_last, next_decisions = last[parents], decisions[parents].copy()
        rows = np.arange(len(parents))
        # np.nonzero lists a parent's actions in order: the n-th has the n-th slot of its set.
        nth = rows - np.repeat(np.cumsum(sizes) - sizes, sizes)
        next_last[rows, mover[parents]] = np.array(self.start)[info[parents]] + nth
        next_decisions[rows, mover[parents]] += 1
        next_chance = np.ones(len(parents))

        dealing = np.flatnonzero(mover == DEALER)
        if len(dealing):
            dealt, weights, homes = self._deal(states, dealing)
            sizes += np.bincount(homes, minlength=count)
            parents = np.concatenate([parents, homes])
            by_parent = np.argsort(parents, kind="stable")
            played = np.concatenate([played, dealt])[by_parent]
            next_chance = np.concatenate([next_chance, weights])[by_parent]
            next_last = np.concatenate([next_last, last[homes]])[by_parent]
            next_decisions = np.concatenate([next_decisions, decisions[homes]])[by_parent]
        level = {
            "mover": mover,
            "first": np.cumsum(sizes) - sizes,
            "count": sizes,
            "chance": chance,
            "info": info,
            "payoffs": payoffs,
            "decisions": decisions,
        }
        return level, (played, next_chance, next_last, next_decisions)

    def _infosets(
        self, states: Array, mover: Array, mask: Array, last: Array, rows: Array, offset: int
    ) -> list[int]:
        """Return the information set of each row, new ones included."""
        views = states[rows]
        self.conceal(views, mover[rows])
        size = views.dtype.itemsize
        raw = views.tobytes()
        found = []
        for n, row in enumerate(rows.tolist()):
            seat = int(mover[row])
            key = (seat, raw[n * size : (n + 1) * size], int(last[row, seat]))
            legal = tuple(np.flatnonzero(mask[row]).tolist())
            number = self.known.setdefault(key, len(self.known))
            if number == len(self.legal):
                self.legal.append(legal)
                self.start.append(self.start[-1] + len(legal))
                self.head.append(offset + row)
            elif self.legal[number] != legal:
                raise CardlabError(
                    f"{self.game.name}: seat {seat} has different legal actions in positions that "
                    "it cannot distinguish; `cardlab check` says more"
                )
            found.append(number)
        return found

    def _deal(self, states: Array, rows: Array) -> tuple[Array, Array, Array]:
        """Return the different deals after some positions: states, probabilities, parents."""
        orders = self._orders()
        if len(rows) * len(orders) > self.most:
            raise CardlabError(
                f"the tree of {self.game.name} has more than {self.most:,} positions, too many for "
                "an exact solution; choose a smaller game or option"
            )
        dealt, weights, homes = [], [], []
        for row in rows.tolist():
            some = np.repeat(states[row : row + 1], len(orders))
            self.kernels.deal(some, orders)
            raw = some.view(np.uint8).reshape(len(some), -1)
            _, first, times = np.unique(raw, axis=0, return_index=True, return_counts=True)
            dealt.append(some[first])
            weights.append(times / len(orders))
            homes.append(np.full(len(first), row))
        return np.concatenate(dealt), np.concatenate(weights), np.concatenate(homes)

    def _orders(self) -> Array:
        """Return all orders of the cards that matter; each is as likely as any other."""
        if self.orders is None:
            deck = self.game.deck
            used = deck if self.game.used_cards is None else self.game.used_cards
            if math.perm(deck, used) > MOST_DEALS:
                raise CardlabError(
                    f"{self.game.name} has {math.perm(deck, used):,} deals, more than "
                    f"{MOST_DEALS:,}, too many for an exact solution; choose a smaller game"
                )
            rows = [
                [*front, *(card for card in range(deck) if card not in front)]
                for front in itertools.permutations(range(deck), used)
            ]
            self.orders = np.array(rows, dtype=np.uint8)
        return self.orders


class Kernels(NamedTuple):
    """Kernels over many positions of a game."""

    look: Callable[..., None]
    act: Callable[..., None]
    deal: Callable[..., None]


@functools.cache
def _make_kernels(game: Game) -> Kernels:
    """Return the kernels that expand a level."""
    mover, deal, legal, apply, points = game.mover, game.deal, game.legal, game.apply, game.points

    @kernel
    def look(states: Any, movers: Any, mask: Any, payoffs: Any, buffer: Any) -> None:
        """Write who moves, the legal actions, and the points where the game is over."""
        for row in range(len(states)):
            s = states[row]
            who = int64(mover(s))
            movers[row] = who
            if who == OVER:
                for seat in range(payoffs.shape[1]):
                    payoffs[row, seat] = points(s, seat)
            elif who != DEALER:
                for i in range(legal(s, buffer)):
                    mask[row, int64(buffer[i])] = True

    @kernel
    def act_all(states: Any, actions: Any) -> None:
        """Take one action in every position."""
        for row in range(len(states)):
            apply(states[row], int64(actions[row]))

    @kernel
    def deal_all(states: Any, orders: Any) -> None:
        """Deal one order to every position."""
        for row in range(len(states)):
            deal(states[row], orders[row])

    return Kernels(look, act_all, deal_all)
