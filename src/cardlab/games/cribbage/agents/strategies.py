"""Eight discard strategies for Cribbage, and the agent that weighs them by the score.

"Policy Improvement in Cribbage through Reinforcement", section 3.1. A strategy says how desirable
each of the 15 choices of four cards to keep is:

    hand_max_min             least points of the hand over the 46 cuts, most wanted
    hand_max_avg             their mean
    hand_max_med             their median
    hand_max_poss            the greatest
    crib_min_avg             mean points of the crib, fewest wanted - by the dealer too
    pegging_max_avg_gained   mean points that four cards of such ranks peg, most wanted
    pegging_max_med_gained   their median
    pegging_min_avg_given    mean points that they let the other seat peg, fewest wanted

Each is scaled over the 15 choices: 1 for the best, 0 for the worst; 1 for all where they are equal.
With these numbers S[choice, strategy] and weights w[own score, other's score, role, strategy] the
choice is the one that maximises S w, the first in the order of legal actions where some are equal.
Weights are not negative and sum to 1. In the play every agent here takes the card that pegs most
at once, the lower one of equals.

Weights may be a coarser grid than one vector for each score: with n rows, each covers 121 / n
scores, rounded up. Scores of a shorter game count from its end. Blending (section 4.3.2) replaces
a vector by (1 - Y) times itself plus Y times the sum over its 3 x 3 neighbourhood, as far as that
exists, scaled to sum to 1.

Deviations: what hands peg is looked up by ranks and role, in a table that `learning.greedy_pegging`
makes once; the thesis looked it up by cards, in a base that grew while agents learned and at first
knew few hands. It does not say how ties between choices are broken.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cardlab.engine import seeding
from cardlab.engine.array_files import load_array
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Array, Turn, Turns
from cardlab.engine.kernel import int64, kernel
from cardlab.games.cribbage import PACKAGE
from cardlab.games.cribbage.agents.expert import greedy_card, laying
from cardlab.games.cribbage.rules import LAY_AWAY
from cardlab.games.cribbage.solvers.hand_statistics import (
    CHOICES,
    RANK_HANDS,
    ClassTable,
    HandScratch,
    analyse_hand,
    quad_number,
    split,
)

STRATEGIES = (
    "hand_max_min",
    "hand_max_avg",
    "hand_max_med",
    "hand_max_poss",
    "crib_min_avg",
    "pegging_max_avg_gained",
    "pegging_max_med_gained",
    "pegging_min_avg_given",
)
NUM_STRATEGIES = len(STRATEGIES)
FULL = 121
ROLES = 2  # 0 is the pone, 1 the dealer
PEGGED = ("gained", "median", "given")


class Scratch(NamedTuple):
    """Scratch arrays for the values of a hand; `wanted` and `weights` hold its results."""

    wanted: Array  # S[choice, strategy]
    weights: Array  # of the cell that the scores fall in
    table: ClassTable  # of the one hand
    hand: HandScratch

    @classmethod
    def new(cls, remembered: int = RANK_HANDS) -> Scratch:
        """Return scratch that remembers the crib sums of so many hands of six ranks."""
        return cls(
            np.zeros((CHOICES, NUM_STRATEGIES)),
            np.zeros(NUM_STRATEGIES),
            ClassTable.new(np.zeros(1, dtype=np.int64)),
            HandScratch.new(remembered),
        )


@kernel
def desirabilities(hand: int, role: int, pegging: Any, work: Any) -> None:
    """Write how much each strategy wants each choice of six cards to `work.wanted`.

    `pegging` has mean and median points gained and mean points given, by role and ranks.
    """
    wanted, table = work.wanted, work.table
    analyse_hand(hand, 0, table, work.hand)
    for choice in range(CHOICES):
        ranks = quad_number(split(hand, choice, work.hand.cards))
        wanted[choice, 0] = table.least[0, choice]
        wanted[choice, 1] = table.total[0, choice]
        wanted[choice, 2] = table.median[0, choice]
        wanted[choice, 3] = table.most[0, choice]
        wanted[choice, 4] = -table.crib[0, choice]
        wanted[choice, 5] = pegging[0, role, ranks]
        wanted[choice, 6] = pegging[1, role, ranks]
        wanted[choice, 7] = -pegging[2, role, ranks]
    for strategy in range(NUM_STRATEGIES):
        scale(wanted, strategy)


@kernel
def scale(wanted: Any, strategy: int) -> None:
    """Scale the values of a strategy to [0, 1]; all are 1 where they are equal."""
    low = high = wanted[0, strategy]
    for choice in range(1, CHOICES):
        low = min(low, wanted[choice, strategy])
        high = max(high, wanted[choice, strategy])
    for choice in range(CHOICES):
        if high > low:
            wanted[choice, strategy] = (wanted[choice, strategy] - low) / (high - low)
        else:
            wanted[choice, strategy] = 1.0


@kernel
def cell(score: int, rows: int) -> int:
    """Return the row of a grid that a score falls in."""
    return int64(score) // ((FULL + rows - 1) // rows)


@kernel
def weigh(weights: Any, own: int, other: int, role: int, blend: float, out: Any) -> None:
    """Write the weights for these scores, blended with those of neighbouring cells."""
    rows = len(weights)
    i, j = cell(own, rows), cell(other, rows)
    for k in range(NUM_STRATEGIES):
        out[k] = weights[i, j, role, k]
    if blend > 0.0:
        total = 0.0
        for k in range(NUM_STRATEGIES):
            near = 0.0
            for x in range(max(i - 1, 0), min(i + 2, rows)):
                for y in range(max(j - 1, 0), min(j + 2, rows)):
                    near += weights[x, y, role, k]
            out[k] = (1.0 - blend) * out[k] + blend * near
            total += out[k]
        for k in range(NUM_STRATEGIES):
            out[k] /= total


@kernel
def worth(wanted: Any, choice: int, weights: Any) -> float:
    """Return the weighted sum of what all strategies say of a choice."""
    value = 0.0
    for k in range(NUM_STRATEGIES):
        value += weights[k] * wanted[choice, k]
    return value


@kernel
def best_choice(wanted: Any, weights: Any) -> int:
    """Return the choice that is worth most, the first in a tie."""
    best = int64(0)
    most = worth(wanted, 0, weights)
    for choice in range(1, CHOICES):
        value = worth(wanted, choice, weights)
        if value > most:
            best, most = int64(choice), value
    return best


@kernel
def choose(s: Any, seat: int, weights: Any, pegging: Any, work: Any) -> int:
    """Return the discard of the weighted strategies, or the card that pegs most at once."""
    if s.phase != LAY_AWAY:
        return greedy_card(s, seat)
    role = 1 if s.dealer == seat else 0
    ahead = FULL - int64(s.target)  # a shorter game is the end of a full one
    own, other = int64(s.scores[seat]) + ahead, int64(s.scores[1 - seat]) + ahead
    desirabilities(s.hands[seat], role, pegging, work)
    weigh(weights, own, other, role, 0.0, work.weights)
    return laying(work.hand.cards, best_choice(work.wanted, work.weights))


@kernel
def choose_all(views: Any, seats: Any, weights: Any, pegging: Any, work: Any, out: Any) -> None:
    """Write the chosen action of every turn."""
    for row in range(len(views)):
        out[row] = choose(views[row], int64(seats[row]), weights, pegging, work)


@kernel
def blend_all(weights: Any, blend: float, out: Any) -> None:
    """Write every cell's weights blended with those of its neighbours."""
    rows = len(weights)
    width = (FULL + rows - 1) // rows
    for i in range(rows):
        for j in range(rows):
            for role in range(ROLES):
                weigh(weights, i * width, j * width, role, blend, out[i, j, role])


# For Python


def blended(weights: Array, blend: float) -> Array:
    """Return the weights that an agent acts by if it blends those of neighbouring cells."""
    out = np.empty_like(weights)
    blend_all(weights, blend, out)
    return out


def load_pegging(path: Path) -> Array:
    """Return what hands peg and give, from an npz file."""
    tables = [load_array(path, name, None, "table of pegging") for name in PEGGED]
    return np.stack(tables).astype(np.float64)


@functools.cache
def pegging_table() -> Array:
    """Return mean and median points gained and mean points given, by role and ranks."""
    return load_pegging(PACKAGE.shipped("greedy_pegging.npz"))


def random_weights(seed: int, *path: str | int, rows: int = FULL) -> Array:
    """Return weights drawn uniformly and scaled to sum to 1 in every cell."""
    drawn = seeding.generator(seed, "weights", *path).random((rows, rows, ROLES, NUM_STRATEGIES))
    return np.asarray(drawn / drawn.sum(axis=-1, keepdims=True))


def pure_weights(strategy: str) -> Array:
    """Return weights that follow one strategy at every score."""
    return np.tile(np.eye(NUM_STRATEGIES)[STRATEGIES.index(strategy)], (1, 1, ROLES, 1))


def load_weights(path: Path) -> Array:
    """Return the weights in an npz file."""
    weights = load_array(path, "weights", None, "weights of strategies").astype(np.float64)
    if weights.ndim != 4 or weights.shape != (len(weights),) * 2 + (ROLES, NUM_STRATEGIES):
        raise CardlabError(
            f"{path} holds weights of shape {weights.shape}; needed are (n, n, 2, 8), "
            "for own and other's score, role and strategy"
        )
    if not (weights >= 0).all() or not (weights.sum(axis=-1) > 0).all():
        raise CardlabError(f"{path} holds weights below 0, or none above 0 at some score")
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


@functools.cache
def shipped_weights() -> Array:
    """Return the learned weights that come with the package."""
    return load_weights(PACKAGE.shipped("strategy_weights.npz"))


class Weighted:
    """Discards by strategies weighted by the score, and pegs greedily."""

    def __init__(self, weights: Array, name: str) -> None:
        """Take weights (n, n, 2, 8) for own and other's score, role and strategy."""
        self.name = name
        self.weights = weights

    def act(self, turn: Turn, rng: np.random.Generator) -> int:
        """Return the most wanted action."""
        return int(self._choose(turn.view.array, np.array([turn.seat]))[0])

    def act_many(self, turns: Turns, rngs: Sequence[np.random.Generator]) -> Array:
        """Return the most wanted action of every turn."""
        return self._choose(turns.views, turns.seats)

    def _choose(self, views: Array, seats: Array) -> Array:
        out = np.empty(len(views), dtype=np.int64)
        work = Scratch.new(min(len(views), RANK_HANDS))
        choose_all(views, seats, self.weights, pegging_table(), work, out)
        return out


def learned(table: Path | str | None = None, name: str = "cribbage_weighted") -> Weighted:
    """Return the agent with the shipped weights, or with those in a file."""
    return Weighted(shipped_weights() if table is None else load_weights(Path(table)), name)


def unlearned(seed: int = 0, name: str = "cribbage_random_weights") -> Weighted:
    """Return an agent with weights drawn at random, another for each seed."""
    return Weighted(random_weights(seed), name)


def _pure(strategy: str) -> Weighted:
    return Weighted(pure_weights(strategy), strategy)


hand_max_min = functools.partial(_pure, "hand_max_min")
hand_max_avg = functools.partial(_pure, "hand_max_avg")
hand_max_med = functools.partial(_pure, "hand_max_med")
hand_max_poss = functools.partial(_pure, "hand_max_poss")
crib_min_avg = functools.partial(_pure, "crib_min_avg")
pegging_max_avg_gained = functools.partial(_pure, "pegging_max_avg_gained")
pegging_max_med_gained = functools.partial(_pure, "pegging_max_med_gained")
pegging_min_avg_given = functools.partial(_pure, "pegging_min_avg_given")
