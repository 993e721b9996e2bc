"""Players of Cribbage that differ in the play alone: learned, mixed, searched.

All keep the hand with the best mean over the cuts, as `hand_max_avg` does, which pegs greedily. In
the play each takes the card that is worth most to it, the lowest of equals:

    cribbage_learned_pegging    points at once plus what the rest of the play promises, own less
                                other's: a sum of weights learned by reinforcement alone
                                (`pegging_ntuples`, `learning.pegging_values`)
    cribbage_mixed_pegging      offence and defence weighed by role and stage of the game, as
                                learned (`pegging_features`, `learning.pegging_mix`)
    cribbage_searched_pegging   the expert's search over samples of the other hand

The first two always play a card that reaches the target at once: the rules end the game there.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cardlab.engine.array_files import load_array
from cardlab.engine.game import Array, Turn, Turns
from cardlab.engine.kernel import int64, kernel, lowest_bit
from cardlab.games.cribbage import PACKAGE
from cardlab.games.cribbage.agents.expert import (
    Scratch,
    best_of,
    chances_of_points,
    laying,
    play_card,
    value_hands,
)
from cardlab.games.cribbage.pegging_features import (
    NUM_FEATURES,
    NUM_STAGES,
    stage_of,
    write_features,
)
from cardlab.games.cribbage.pegging_ntuples import NUM_TUPLES, NUM_WEIGHTS, weight_indices
from cardlab.games.cribbage.rules import LAY_AWAY, fitting
from cardlab.games.cribbage.scoring import card_value, follow, peg_points
from cardlab.games.cribbage.solvers.knowledge import shipped_knowledge

GREEDY, LEARNED, MIXED = range(3)  # ways to peg that value cards one by one
ROLES = 2  # 0 is the pone, 1 the dealer
SCALE = 512  # a learned weight is kept as a whole number of such parts of a point
WON = 1000.0  # more than any play is worth
NO_VALUES = np.zeros(0, dtype=np.float32)
NO_MIX = np.zeros((0, 0, 0))


class Pegger(NamedTuple):
    """A way to peg and what it has learned: the tables of the other ways are empty."""

    way: int
    values: Array  # one weight for each entry of the n-tuple tables
    mix: Array  # weights of features by role and stage

    @classmethod
    def greedy(cls) -> Pegger:
        """Return the pegger that takes the most points at once."""
        return cls(GREEDY, NO_VALUES, NO_MIX)

    @classmethod
    def learned(cls, values: Array) -> Pegger:
        """Return the pegger that adds learned values of the table after the card."""
        return cls(LEARNED, values, NO_MIX)

    @classmethod
    def mixed(cls, mix: Array) -> Pegger:
        """Return the pegger that weighs offence and defence."""
        return cls(MIXED, NO_VALUES, mix)


class CardScratch(NamedTuple):
    """Scratch arrays for the value of a card."""

    indices: Array  # of its weights
    features: Array

    @classmethod
    def new(cls) -> CardScratch:
        """Return scratch for one card at a time."""
        return cls(np.zeros(NUM_TUPLES, dtype=np.int64), np.zeros(NUM_FEATURES))


@kernel
def lay_best_hand(s: Any, work: Any) -> int:
    """Return the action that keeps the hand with the best mean, the first in a tie."""
    value_hands(s.hands[s.seat], work.discard, work.worth)
    return laying(work.discard.cards, best_of(work.worth))


@kernel
def worth_after(values: Any, indices: Any) -> float:
    """Return what the rest of the play promises: the sum of the weights at these indices."""
    worth = 0.0
    for part in range(NUM_TUPLES):
        worth += values[indices[part]]
    return worth


@kernel
def worth_mixed(s: Any, seat: int, card: int, mix: Any, work: Any) -> float:
    """Return the weighted sum of a card's features, by role and stage."""
    write_features(s, seat, card, work.features)
    weights = mix[1 if s.dealer == seat else 0, stage_of(s, seat)]
    worth = 0.0
    for i in range(NUM_FEATURES):
        worth += weights[i] * work.features[i]
    return worth


@kernel
def rank_worth(s: Any, seat: int, card: int, pegger: Any, work: Any) -> float:
    """Return what playing a card of this rank is worth to a pegger."""
    points = peg_points(follow(s.series, card), int64(s.tally) + card_value(card))
    if pegger.way == GREEDY:
        return float(points)
    if int64(s.scores[seat]) + points >= s.target:
        return WON
    if pegger.way == LEARNED:
        weight_indices(s, seat, card, work.indices)
        return points + worth_after(pegger.values, work.indices)
    return worth_mixed(s, seat, card, pegger.mix, work)


@kernel
def peg_by_worth(s: Any, seat: int, pegger: Any, work: Any) -> int:
    """Return the card that is worth most, the lowest in a tie."""
    cards = s.hands[seat] & fitting(s.tally)
    best, most, previous = int64(-1), 0.0, int64(-1)
    while cards:
        card = lowest_bit(cards)
        cards &= cards - 1
        if card >> 2 == previous:
            continue
        previous = card >> 2
        worth = rank_worth(s, seat, card, pegger, work)
        if best < 0 or worth > most:
            best, most = card, worth
    return best


@kernel
def choose_all(views: Any, seats: Any, pegger: Any, work: Any, scratch: Any, out: Any) -> None:
    """Write the choice for every turn of a player that values cards one by one."""
    for row in range(len(views)):
        s = views[row]
        if s.phase == LAY_AWAY:
            out[row] = lay_best_hand(s, work)
        else:
            out[row] = peg_by_worth(s, int64(seats[row]), pegger, scratch)


@kernel
def search_all(
    views: Any, seats: Any, streams: Any, samples: int, known: Any, work: Any, out: Any
) -> None:
    """Write the choice for every turn of a player that searches, each from its own stream."""
    for row in range(len(views)):
        s = views[row]
        if s.phase == LAY_AWAY:
            out[row] = lay_best_hand(s, work)
        else:
            work.rng[0] = streams[row]
            out[row] = play_card(s, int64(seats[row]), samples, known, work)


@kernel
def value_legal(
    views: Any, seat: int, legal: Any, pegger: Any, work: Any, scratch: Any, out: Any
) -> None:
    """Write what every legal action of the only turn is worth, in points."""
    s = views[0]
    if s.phase == LAY_AWAY:
        value_hands(s.hands[seat], work.discard, out)
    else:
        for i in range(len(legal)):
            out[i] = rank_worth(s, seat, int64(legal[i]), pegger, scratch)


# Tables


def load_values(path: Path) -> Array:
    """Return learned weights of the play from an npz file, in points."""
    whole = load_array(path, "weights", (NUM_WEIGHTS,), "learned weights of the play")
    return (whole / SCALE).astype(np.float32)


def load_mix(path: Path) -> Array:
    """Return weights of offence and defence from an npz file, by role, stage and feature."""
    shape = (ROLES, NUM_STAGES, NUM_FEATURES)
    return load_array(path, "mix", shape, "weights of offence and defence").astype(np.float64)


@functools.cache
def shipped_values() -> Array:
    """Return the learned weights of the play that come with the package."""
    return load_values(PACKAGE.shipped("pegging_values.npz"))


@functools.cache
def shipped_mix() -> Array:
    """Return the weights of offence and defence that come with the package."""
    return load_mix(PACKAGE.shipped("pegging_mix.npz"))


# Agents


class LearnedPegging:
    """Keeps the best hand and plays by learned values of the table after each card."""

    def __init__(self, weights: Array, name: str) -> None:
        """Take one weight, in points, for every entry of the tables of `pegging_ntuples`."""
        self.name = name
        self.pegger = Pegger.learned(weights)

    def act(self, turn: Turn, rng: np.random.Generator) -> int:
        """Return the action worth most."""
        return int(_choose(turn.view.array, np.array([turn.seat]), self.pegger)[0])

    def act_many(self, turns: Turns, rngs: Sequence[np.random.Generator]) -> Array:
        """Return the action worth most for every turn."""
        return _choose(turns.views, turns.seats, self.pegger)

    def values(self, turn: Turn, rng: np.random.Generator) -> Array:
        """Return the expected return of every legal action.

        Points count as the chance to win that they are worth at this score.
        """
        out = np.zeros(len(turn.legal))
        view, work, scratch = turn.view.array, Scratch.new(), CardScratch.new()
        value_legal(view, turn.seat, turn.legal, self.pegger, work, scratch, out)
        won = out >= WON
        found = np.ones(len(out))
        if not won.all():
            points = out[~won]
            found[~won] = chances_of_points(view[0], turn.seat, points, shipped_knowledge())
        return 2 * found - 1


class MixedPegging:
    """Keeps the best hand and plays by a learned mix of offence and defence."""

    def __init__(self, mix: Array, name: str) -> None:
        """Take weights by role, stage and feature of `pegging_features`."""
        self.name = name
        self.pegger = Pegger.mixed(mix)

    def act(self, turn: Turn, rng: np.random.Generator) -> int:
        """Return the action worth most."""
        return int(_choose(turn.view.array, np.array([turn.seat]), self.pegger)[0])

    def act_many(self, turns: Turns, rngs: Sequence[np.random.Generator]) -> Array:
        """Return the action worth most for every turn."""
        return _choose(turns.views, turns.seats, self.pegger)


@dataclass(frozen=True)
class SearchedPegging:
    """Keeps the best hand and searches in the play as the expert does."""

    samples: int = 30
    name: str = "cribbage_searched_pegging"

    def act(self, turn: Turn, rng: np.random.Generator) -> int:
        """Return the best hand's choice, or the card that the search prefers."""
        return int(self._choose(turn.view.array, np.array([turn.seat]), [rng])[0])

    def act_many(self, turns: Turns, rngs: Sequence[np.random.Generator]) -> Array:
        """Return the choice for every turn."""
        return self._choose(turns.views, turns.seats, rngs)

    def _choose(self, views: Array, seats: Array, rngs: Sequence[np.random.Generator]) -> Array:
        streams = np.array([rng.integers(1, 1 << 63) for rng in rngs], dtype=np.int64)
        out = np.empty(len(views), dtype=np.int64)
        search_all(views, seats, streams, self.samples, shipped_knowledge(), Scratch.new(), out)
        return out


def _choose(views: Array, seats: Array, pegger: Pegger) -> Array:
    out = np.empty(len(views), dtype=np.int64)
    choose_all(views, seats, pegger, Scratch.new(), CardScratch.new(), out)
    return out


def learned(
    table: Path | str | None = None, name: str = "cribbage_learned_pegging"
) -> LearnedPegging:
    """Return the agent with the shipped weights of the play, or with those in a file."""
    return LearnedPegging(shipped_values() if table is None else load_values(Path(table)), name)


def mixed(table: Path | str | None = None, name: str = "cribbage_mixed_pegging") -> MixedPegging:
    """Return the agent with the shipped mix of offence and defence, or with that in a file."""
    return MixedPegging(shipped_mix() if table is None else load_mix(Path(table)), name)
