"""Games between two sets of strategy weights: matches, mirrored comparisons, agreement.

A match is that of "Policy Improvement in Cribbage through Reinforcement", section 3.1.3: 101 games,
2 points for a win, 3 for a skunk (31 points or more between the scores), ties by the sum of all
differences of scores; where that is equal too, the first named wins. A comparison plays every deal
twice with the seats exchanged; the mean of the two games is one observation.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from cardlab.engine import seeding
from cardlab.engine.game import DEALER, OVER, Array
from cardlab.engine.kernel import bit, int64, kernel
from cardlab.engine.seeding import below, branch, deck_order
from cardlab.engine.statistics import mean_and_margin
from cardlab.games.cribbage.agents.expert import greedy_card
from cardlab.games.cribbage.agents.strategies import (
    FULL,
    Scratch,
    best_choice,
    choose,
    desirabilities,
    pegging_table,
    weigh,
)
from cardlab.games.cribbage.rules import DEALT, DECK, GAME, LAY_AWAY, apply, deal, mover, skunk

MATCH = 101


class GameScratch(NamedTuple):
    """What games are played with: tables, records, and what choices are worked out in."""

    fresh: Array  # a game that waits for its first deal
    state: Array  # the game that is played
    order: Array
    rng: Array
    pegging: Array
    hand: Scratch

    @classmethod
    def new(cls) -> GameScratch:
        """Return scratch for one game at a time."""
        return cls(
            GAME.fresh(**GAME.read_options({})),
            np.zeros(1, dtype=GAME.state),
            np.zeros(DECK, dtype=np.uint8),
            np.zeros(1, dtype=np.int64),
            pegging_table(),
            Scratch.new(),
        )


@kernel
def play_game(seed: int, zero: Any, one: Any, work: Any) -> None:
    """Play the game in `work.state` to its end, with the weights of both seats."""
    s = work.state[0]
    deals = 0
    while mover(s) != OVER:
        seat = mover(s)
        if seat == DEALER:
            deck_order(seed, deals, work.order, work.rng)
            deal(s, work.order)
            deals += 1
        elif s.phase == LAY_AWAY:
            apply(s, choose(s, seat, zero if seat == 0 else one, work.pegging, work.hand))
        else:
            apply(s, greedy_card(s, seat))


@kernel
def play_games(
    start: int, count: int, mirrored: bool, first: Any, second: Any, work: Any, out: Any
) -> None:
    """Write for each game who won (0 or 1), whether it was a skunk, and by how many points.

    The first set of weights sits on seat 0; if `mirrored`, every second game repeats the deals of
    the one before with the seats exchanged.
    """
    s = work.state[0]
    for number in range(count):
        work.state[0] = work.fresh[0]
        exchanged = mirrored and number % 2 == 1
        seed = branch(start, number // 2 if mirrored else number)
        zero, one = (second, first) if exchanged else (first, second)
        play_game(seed, zero, one, work)
        seat = 1 if exchanged else 0
        out[number, 0] = 0 if s.winner == seat else 1
        out[number, 1] = 1 if skunk(s) > 0 else 0
        out[number, 2] = int64(s.scores[seat]) - int64(s.scores[1 - seat])


@kernel
def starting_scores(spread: int, scores: Any, rng: Any) -> None:
    """Draw starting scores, each two that differ by `spread` or less equally often."""
    scores[0] = below(rng, FULL)
    scores[1] = below(rng, FULL)
    while abs(int64(scores[0]) - int64(scores[1])) > spread:
        scores[0] = below(rng, FULL)
        scores[1] = below(rng, FULL)


@kernel
def choose_on_random_hands(weights: Any, spread: int, scores: Any, work: Any, out: Any) -> None:
    """Write what each of many weights chooses, on random hands at random scores and roles."""
    rng, judged = work.rng, work.hand
    for row in range(len(out)):
        starting_scores(spread, scores, rng)
        role = below(rng, 2)
        hand = int64(0)
        for _ in range(DEALT):
            card = bit(below(rng, DECK))
            while hand & card:
                card = bit(below(rng, DECK))
            hand |= card
        desirabilities(hand, role, work.pegging, judged)
        for i in range(len(weights)):
            weigh(weights[i], scores[0], scores[1], role, 0.0, judged.weights)
            out[row, i] = best_choice(judged.wanted, judged.weights)


# For Python


class MatchPoints(NamedTuple):
    """What a match came to, seen from the agent named first."""

    points: tuple[int, int]
    wins: tuple[int, int]
    spread: int

    @property
    def won(self) -> bool:
        """Whether the agent named first has won the match."""
        return (self.points[0], self.spread) >= (self.points[1], 0)


class Comparison(NamedTuple):
    """The share of mirrored games that the first weights won, with its 95 % interval."""

    share: float
    margin: float
    spread: float  # mean difference of the final scores
    games: int

    def __str__(self) -> str:
        """Return the share in per cent."""
        return f"{100 * self.share:.2f} ± {100 * self.margin:.2f} % of {self.games:,} games"


def _results(first: Array, second: Array, start: int, count: int, mirrored: bool) -> Array:
    out = np.zeros((count, 3), dtype=np.int64)
    play_games(start, count, mirrored, first, second, GameScratch.new(), out)
    return out


def play_match(first: Array, second: Array, seed: int, *, games: int = MATCH) -> MatchPoints:
    """Return the result of a match, each game with deals of its own."""
    out = _results(first, second, seeding.stream(seed, "match"), games, False)
    wins = [out[:, 0] == side for side in range(2)]
    points = [int(2 * won.sum() + out[won, 1].sum()) for won in wins]
    won, lost = (int(side.sum()) for side in wins)
    return MatchPoints((points[0], points[1]), (won, lost), int(out[:, 2].sum()))


def compare(first: Sequence[Array], second: Sequence[Array], deals: int, seed: int) -> Comparison:
    """Return how often the first of each pair of weights wins, each pair on `deals` mirrored deals.

    The interval is taken over deals, all pairs together.
    """
    rows = [
        _results(a, b, seeding.stream(seed, "compare", number), 2 * deals, True)
        for number, (a, b) in enumerate(zip(first, second, strict=True))
    ]
    out = np.concatenate(rows)
    won = (1 - out[:, 0]).reshape(-1, 2).mean(axis=1)
    share, margin = mean_and_margin(won)
    return Comparison(share, min(1.0, margin), float(out[:, 2].mean()), len(out))


def choices_on_random_hands(weights: Array, hands: int, seed: int, *, spread: int = 60) -> Array:
    """Return what each of many weights chooses, by hand and weights."""
    out = np.zeros((hands, len(weights)), dtype=np.int64)
    work = GameScratch.new()
    work.rng[0] = seeding.stream(seed, "agreement")
    choose_on_random_hands(weights, spread, np.zeros(2, dtype=np.int64), work, out)
    return out


def agreement(weights: Array, hands: int, seed: int, *, spread: int = 60) -> float:
    """Return how often two of many weights choose alike on random hands, over all pairs."""
    out = choices_on_random_hands(weights, hands, seed, spread=spread)
    alike = [
        float((out[:, i] == out[:, j]).mean()) for i, j in combinations(range(len(weights)), 2)
    ]
    return float(np.mean(alike))
