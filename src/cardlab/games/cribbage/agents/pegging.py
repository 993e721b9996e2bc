"""Players of Cribbage that differ in the play alone: learned, mixed, searched.

All keep the hand with the best mean over the cuts, as `hand_max_avg` does, which pegs greedily. In
the play each takes the card that is worth most to it, the lowest of equals:

    cribbage_learned_pegging    points at once plus what the rest of the play promises, own less
                                other's: a sum of weights learned by reinforcement alone
                                (`pegging_slots`, `learning.pegging_values`)
    cribbage_mixed_pegging      offence and defence weighed by role and stage of the game, as
                                learned (`pegging_features`, `learning.pegging_mix`)
    cribbage_searched_pegging   the expert's search over guesses at the other hand

A card that reaches the target at once is played by the first two whatever they have learned: the
rules end the game there.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cardlab.engine.game import Array, Turn, Turns
from cardlab.engine.kernel import int64, kernel, lowest_bit
from cardlab.engine.shipped import load_array
from cardlab.games.cribbage import PACKAGE
from cardlab.games.cribbage.agents.expert import (
    Memory,
    best_of,
    chances_of_points,
    laying,
    play_card,
    value_hands,
)
from cardlab.games.cribbage.pegging_features import NUM_STAGES, NUM_TERMS, stage_of, terms
from cardlab.games.cribbage.pegging_slots import NUM_SLOTS, NUM_WEIGHTS, slots
from cardlab.games.cribbage.rules import LAY_AWAY, fitting
from cardlab.games.cribbage.scoring import card_value, follow, peg_points
from cardlab.games.cribbage.solvers.tables import shipped_knowledge

__all__ = [
    "GREEDY",
    "LEARNED",
    "MIXED",
    "ROLES",
    "SCALE",
    "LearnedPegging",
    "MixedPegging",
    "Pegging",
    "Player",
    "SearchedPegging",
    "lay_best_hand",
    "learned",
    "load_mix",
    "load_values",
    "mixed",
    "peg_by_worth",
    "rank_worth",
    "shipped_mix",
    "shipped_values",
    "worth_after",
]

GREEDY, LEARNED, MIXED = range(3)  # ways to peg that value cards one by one
ROLES = 2  # 0 is the pone, 1 the dealer
SCALE = 512  # a learned weight is kept as a whole number of such parts of a point
WON = 1000.0  # more than any play is worth


class Player(NamedTuple):
    """What a way to peg knows: the tables of the others may be empty."""

    values: Array  # one weight for each slot
    mix: Array  # weights of terms by role and stage


class Pegging(NamedTuple):
    """What pegging works in."""

    places: Array  # of the weights for one card
    terms: Array  # of one card

    @classmethod
    def new(cls) -> Pegging:
        """Return empty memory."""
        return cls(np.zeros(NUM_SLOTS, dtype=np.int64), np.zeros(NUM_TERMS))


@kernel
def lay_best_hand(s: Any, memory: Any) -> int:
    """Return the action that keeps the hand with the best mean, of equals the first."""
    value_hands(s.hands[s.seat], memory.lay, memory.worth)
    return laying(memory.lay.cards, best_of(memory.worth))


@kernel
def worth_after(values: Any, places: Any) -> float:
    """Return what the rest of the play promises: the sum of the weights at these places."""
    worth = 0.0
    for part in range(NUM_SLOTS):
        worth += values[places[part]]
    return worth


@kernel
def worth_mixed(s: Any, seat: int, card: int, mix: Any, work: Any) -> float:
    """Return the sum of what speaks for and against a card, weighed by role and stage."""
    terms(s, seat, card, work.terms)
    weights = mix[1 if s.dealer == seat else 0, stage_of(s, seat)]
    worth = 0.0
    for term in range(NUM_TERMS):
        worth += weights[term] * work.terms[term]
    return worth


@kernel
def rank_worth(s: Any, seat: int, card: int, way: int, player: Any, work: Any) -> float:
    """Return what playing a card of this rank is worth to a way of pegging."""
    points = peg_points(follow(s.series, card), int64(s.tally) + card_value(card))
    if way == GREEDY:
        return float(points)
    if int64(s.scores[seat]) + points >= s.target:
        return WON
    if way == LEARNED:
        slots(s, seat, card, work.places)
        return points + worth_after(player.values, work.places)
    return worth_mixed(s, seat, card, player.mix, work)


@kernel
def peg_by_worth(s: Any, seat: int, way: int, player: Any, work: Any) -> int:
    """Return the card that is worth most, the lowest of equals."""
    cards = s.hands[seat] & fitting(s.tally)
    best, most, previous = int64(-1), 0.0, int64(-1)
    while cards:
        card = lowest_bit(cards)
        cards &= cards - 1
        if card >> 2 == previous:
            continue
        previous = card >> 2
        worth = rank_worth(s, seat, card, way, player, work)
        if best < 0 or worth > most:
            best, most = card, worth
    return best


@kernel
def choose_all(
    views: Any, seats: Any, way: int, player: Any, memory: Any, work: Any, out: Any
) -> None:
    """Write the choice for every turn of a player that values cards one by one."""
    for row in range(len(views)):
        s = views[row]
        if s.phase == LAY_AWAY:
            out[row] = lay_best_hand(s, memory)
        else:
            out[row] = peg_by_worth(s, int64(seats[row]), way, player, work)


@kernel
def search_all(
    views: Any, seats: Any, streams: Any, samples: int, known: Any, memory: Any, out: Any
) -> None:
    """Write the choice for every turn of a player that searches, each from its own stream."""
    for row in range(len(views)):
        s = views[row]
        if s.phase == LAY_AWAY:
            out[row] = lay_best_hand(s, memory)
        else:
            memory.rng[0] = streams[row]
            out[row] = play_card(s, int64(seats[row]), samples, known, memory)


@kernel
def value_legal(
    views: Any,
    seat: int,
    legal: Any,
    way: int,
    player: Any,
    memory: Any,
    work: Any,
    out: Any,
) -> None:
    """Write what every legal action of the only turn is worth, in points."""
    s = views[0]
    if s.phase == LAY_AWAY:
        value_hands(s.hands[seat], memory.lay, out)
    else:
        for i in range(len(legal)):
            out[i] = rank_worth(s, seat, int64(legal[i]), way, player, work)


# Tables


def load_values(path: Path) -> Array:
    """Return learned weights of the play from an npz file, in points."""
    whole = load_array(path, "weights", (NUM_WEIGHTS,), "learned weights of the play")
    return (whole / SCALE).astype(np.float32)


def load_mix(path: Path) -> Array:
    """Return weights of offence and defence from an npz file, by role, stage and term."""
    shape = (ROLES, NUM_STAGES, NUM_TERMS)
    return load_array(path, "mix", shape, "weights of offence and defence").astype(np.float64)


@functools.cache
def shipped_values() -> Array:
    """Return the learned weights of the play that come with the package."""
    return load_values(PACKAGE.shipped("pegging_values.npz"))


@functools.cache
def shipped_mix() -> Array:
    """Return the weights of offence and defence that come with the package."""
    return load_mix(PACKAGE.shipped("pegging_mix.npz"))


NO_VALUES = np.zeros(0, dtype=np.float32)
NO_MIX = np.zeros((0, 0, 0))

# Agents


class LearnedPegging:
    """Keeps the best hand and plays by learned values of the table after each card."""

    def __init__(self, weights: Array, name: str) -> None:
        """Take one weight, in points, for every slot of `pegging_slots`."""
        self.name = name
        self.player = Player(weights, NO_MIX)

    def act(self, turn: Turn, rng: np.random.Generator) -> int:
        """Return the action worth most."""
        return int(_choose(turn.view.array, np.array([turn.seat]), LEARNED, self.player)[0])

    def act_many(self, turns: Turns, rngs: Sequence[np.random.Generator]) -> Array:
        """Return the action worth most for every turn."""
        return _choose(turns.views, turns.seats, LEARNED, self.player)

    def values(self, turn: Turn, rng: np.random.Generator) -> Array:
        """Return the expected return of every legal action.

        Points count as the chance to win that they are worth at this score.
        """
        out = np.zeros(len(turn.legal))
        view, memory, work = turn.view.array, Memory.new(), Pegging.new()
        value_legal(view, turn.seat, turn.legal, LEARNED, self.player, memory, work, out)
        won = out >= WON
        found = np.ones(len(out))
        if not won.all():
            points = out[~won]
            found[~won] = chances_of_points(view[0], turn.seat, points, shipped_knowledge())
        return 2 * found - 1


class MixedPegging:
    """Keeps the best hand and plays by a learned mix of offence and defence."""

    def __init__(self, mix: Array, name: str) -> None:
        """Take weights by role, stage and term of `pegging_features`."""
        self.name = name
        self.player = Player(NO_VALUES, mix)

    def act(self, turn: Turn, rng: np.random.Generator) -> int:
        """Return the action worth most."""
        return int(_choose(turn.view.array, np.array([turn.seat]), MIXED, self.player)[0])

    def act_many(self, turns: Turns, rngs: Sequence[np.random.Generator]) -> Array:
        """Return the action worth most for every turn."""
        return _choose(turns.views, turns.seats, MIXED, self.player)


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
        search_all(views, seats, streams, self.samples, shipped_knowledge(), Memory.new(), out)
        return out


def _choose(views: Array, seats: Array, way: int, player: Player) -> Array:
    out = np.empty(len(views), dtype=np.int64)
    choose_all(views, seats, way, player, Memory.new(), Pegging.new(), out)
    return out


def learned(
    table: Path | str | None = None, name: str = "cribbage_learned_pegging"
) -> LearnedPegging:
    """Return the agent with the shipped weights of the play, or with those in a file."""
    return LearnedPegging(shipped_values() if table is None else load_values(Path(table)), name)


def mixed(table: Path | str | None = None, name: str = "cribbage_mixed_pegging") -> MixedPegging:
    """Return the agent with the shipped mix of offence and defence, or with that in a file."""
    return MixedPegging(shipped_mix() if table is None else load_mix(Path(table)), name)
