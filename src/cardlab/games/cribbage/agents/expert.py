"""The Cribbage expert, and a simpler player with the same discards.

The expert discards by expected points: of its hand, of the crib with the usual discards of the
other seat, and of the pegging with these ranks. In the play it samples hands of the other seat by
how often such hands are kept and by the cards played so far, solves each sample with both hands
open and takes the best card on average. When a seat is near the target, both decisions use the
probability of winning instead of points.

The expert sees only the view of its seat and tables that come with the package.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from cardlab.engine.cards import ALL_CARDS, cards_in
from cardlab.engine.game import Array, Turn, Turns
from cardlab.engine.kernel import int64, kernel, lowest_bit
from cardlab.games.cribbage.rules import DECK, LAY, LAY_AWAY, fitting
from cardlab.games.cribbage.scoring import card_value, follow, peg_points
from cardlab.games.cribbage.solvers.discards import (
    DiscardScratch,
    chances,
    expected_points,
    value_choices,
)
from cardlab.games.cribbage.solvers.hand_statistics import (
    CHOICES,
    CUTS,
    PLACES,
    RANKS,
    count_ranks,
    hand_counts,
    list_cards,
    split,
)
from cardlab.games.cribbage.solvers.knowledge import FULL, Knowledge, shipped_knowledge
from cardlab.games.cribbage.solvers.pegging import PeggingScratch, value_cards

ROUNDING = 1e-9
LEAST_STEP = (
    1e-12  # between the chances of two discards, so that they keep the order of their points
)
NEAR = 30  # points to the target from which on chances to win decide the play


class Scratch(NamedTuple):
    """Scratch arrays of the expert."""

    discard: DiscardScratch
    pegging: PeggingScratch
    worth: Array  # of 15 choices
    cards: Array  # the worth of playing each rank
    rng: Array

    @classmethod
    def new(cls) -> Scratch:
        """Return scratch for one turn at a time."""
        parts = DiscardScratch.new(), PeggingScratch.new()
        return cls(*parts, np.zeros(CHOICES), np.zeros(RANKS), np.ones(1, dtype=np.int64))


@kernel
def laying_of(low: int, high: int) -> int:
    """Return the action that discards two cards; `low` is the lower one."""
    return LAY + low * (2 * DECK - 1 - low) // 2 + high - low - 1


@kernel
def laying(cards: Any, choice: int) -> int:
    """Return the action that discards the cards of a choice."""
    return laying_of(int64(cards[PLACES[choice, 0]]), int64(cards[PLACES[choice, 1]]))


@kernel
def best_of(worth: Any) -> int:
    """Return the place of the greatest number, the first in a tie."""
    best = 0
    for i in range(1, len(worth)):
        if worth[i] > worth[best]:
            best = i
    return best


@kernel
def value_hands(hand: int, work: Any, out: Any) -> None:
    """Write the mean points of the hand that each of the 15 choices keeps."""
    list_cards(hand, work.cards)
    count_ranks(ALL_CARDS & ~hand, work.counts)
    for choice in range(CHOICES):
        kept = split(hand, choice, work.cards)
        hand_counts(kept, ALL_CARDS & ~hand, work.counts, work.cut_counts)
        total = int64(0)
        for points in range(len(work.cut_counts)):
            total += points * work.cut_counts[points]
        out[choice] = total / CUTS


@kernel
def value_laying(s: Any, seat: int, known: Any, work: Any, out: Any) -> bool:
    """Write what discarding each pair is worth; return whether in chances to win, not points."""
    role = 1 if s.dealer == seat else 0
    short = FULL - int64(s.target)
    own, other = int64(s.scores[seat]) + short, int64(s.scores[1 - seat]) + short
    return value_choices(s.hands[seat], role, own, other, known, out, work)


@kernel
def lay_by_points(s: Any, seat: int, known: Any, work: Any) -> int:
    """Return the discard with the most expected points."""
    role = 1 if s.dealer == seat else 0
    expected_points(s.hands[seat], role, known, work.worth, work.discard)
    return laying(work.discard.cards, best_of(work.worth))


@kernel
def value_play(s: Any, seat: int, samples: int, known: Any, work: Any) -> bool:
    """Write what playing each rank is worth; return whether as chances to win, or as points."""
    by_wins = s.target - max(int64(s.scores[0]), int64(s.scores[1])) <= NEAR
    value_cards(s, seat, samples, by_wins, known, work.rng, work.cards, work.pegging)
    return by_wins


@kernel
def greedy_card(s: Any, seat: int) -> int:
    """Return the card that pegs most at once, the lowest in a tie."""
    cards = s.hands[seat] & fitting(s.tally)
    best, most = int64(0), int64(-1)
    while cards:
        card = lowest_bit(cards)
        cards &= cards - 1
        points = peg_points(follow(s.series, card), int64(s.tally) + card_value(card))
        if points > most:
            best, most = card, points
    return best


@kernel
def play_card(s: Any, seat: int, samples: int, known: Any, work: Any) -> int:
    """Return the card that is worth most over guessed worlds, of equals the greedy one."""
    cards = s.hands[seat] & fitting(s.tally)
    best = greedy_card(s, seat)
    if cards & ~(int64(15) << (best & ~3)) == 0:
        return best  # one rank, no choice
    value_play(s, seat, samples, known, work)
    while cards:
        card = lowest_bit(cards)
        cards &= cards - 1
        if work.cards[card >> 2] > work.cards[best >> 2] + ROUNDING:
            best = card
    return best


@kernel
def choose_expertly(
    views: Any, seats: Any, streams: Any, samples: int, known: Any, work: Any, out: Any
) -> None:
    """Write the expert's choice for every turn, each from a random stream of its own."""
    for row in range(len(views)):
        s, seat = views[row], int64(seats[row])
        work.rng[0] = streams[row]
        if s.phase == LAY_AWAY:
            value_laying(s, seat, known, work.discard, work.worth)
            out[row] = laying(work.discard.cards, best_of(work.worth))
        else:
            out[row] = play_card(s, seat, samples, known, work)


@kernel
def choose_plainly(views: Any, seats: Any, known: Any, work: Any, out: Any) -> None:
    """Write the choice of the plainer player for every turn."""
    for row in range(len(views)):
        s, seat = views[row], int64(seats[row])
        if s.phase == LAY_AWAY:
            out[row] = lay_by_points(s, seat, known, work)
        else:
            out[row] = greedy_card(s, seat)


@kernel
def value_all(s: Any, seat: int, samples: int, legal: Any, known: Any, work: Any, out: Any) -> bool:
    """Write what every legal action is worth; return whether as chances to win, or as points."""
    if s.phase == LAY_AWAY:
        return value_laying(s, seat, known, work.discard, out)
    by_wins = value_play(s, seat, samples, known, work)
    for i in range(len(legal)):
        out[i] = work.cards[legal[i] >> 2]
    return by_wins


@kernel
def value_at(
    views: Any, seat: int, samples: int, legal: Any, known: Any, work: Any, out: Any
) -> bool:
    """Write what every legal action of the only turn is worth, as `value_all` does."""
    return value_all(views[0], seat, samples, legal, known, work, out)


# Agents


@dataclass(frozen=True)
class CribbageExpert:
    """Discards by the values of hand, crib and pegging, and searches in the play."""

    samples: int = 30
    name: str = "cribbage_expert"

    def act(self, turn: Turn, rng: np.random.Generator) -> int:
        """Return the action worth most."""
        return int(self._choose(turn.view.array, np.array([turn.seat]), [rng])[0])

    def act_many(self, turns: Turns, rngs: Sequence[np.random.Generator]) -> Array:
        """Return the action worth most for every turn."""
        return self._choose(turns.views, turns.seats, rngs)

    def values(self, turn: Turn, rng: np.random.Generator) -> Array:
        """Return the expected return of every legal action, the greatest for the one of `act`.

        A discard has the chance to win that `advise` reports. Far from the end of a game discards
        are chosen by points; then one of fewer points never has the greater value.
        """
        work, known = Scratch.new(), shipped_knowledge()
        work.rng[0] = rng.integers(1, 1 << 63)
        out = np.zeros(len(turn.legal))
        view = turn.view.array
        if not value_at(view, turn.seat, self.samples, turn.legal, known, work, out):
            chances_of = chances_of_laying if view[0].phase == LAY_AWAY else chances_of_points
            out = chances_of(view[0], turn.seat, out, known)
        return 2 * out - 1

    def _choose(self, views: Array, seats: Array, rngs: Sequence[np.random.Generator]) -> Array:
        streams = np.array([rng.integers(1, 1 << 63) for rng in rngs], dtype=np.int64)
        out = np.empty(len(views), dtype=np.int64)
        known = shipped_knowledge()
        choose_expertly(views, seats, streams, self.samples, known, Scratch.new(), out)
        return out


def chances_of_points(s: Any, seat: int, points: Array, known: Knowledge) -> Array:
    """Return chances to win: the best choice has that of the score, points less cost what they do.

    The chance of the score is that of players who choose well, so it belongs to the best choice.
    """
    own, other, role = _score(s, seat)
    step = min(5, FULL - own)
    now = known.win[own, other, role]
    then = known.win[own + step, other, role] if own + step < FULL else 1.0
    return np.clip(now + (then - now) / step * (points - points.max()), 0, 1)


def chances_of_laying(s: Any, seat: int, points: Array, known: Knowledge) -> Array:
    """Return the chance to win with each discard, in the order of their points.

    A discard of fewer points whose chance is greater is given the chance of the one before it.
    """
    own, other, role = _score(s, seat)
    found = chances(cards_in(int(s.hands[seat])), bool(role), own, other, known)
    order = np.argsort(-points, kind="stable").tolist()
    for before, after in itertools.pairwise(order):
        step = LEAST_STEP if points[after] < points[before] else 0.0
        found[after] = min(found[after], found[before] - step)
    return found


def _score(s: Any, seat: int) -> tuple[int, int, int]:
    """Return the own score and the other's in a game to 121, and the role."""
    short = FULL - int(s.target)
    return int(s.scores[seat]) + short, int(s.scores[1 - seat]) + short, int(s.dealer == seat)


@dataclass(frozen=True)
class CribbageExpectedValue:
    """Discards by expected points as the expert does, and pegs greedily."""

    name: str = "cribbage_expected_value"

    def act(self, turn: Turn, rng: np.random.Generator) -> int:
        """Return the choice of most expected points, or the card that pegs most."""
        return int(_choose_plainly(turn.view.array, np.array([turn.seat]))[0])

    def act_many(self, turns: Turns, rngs: Sequence[np.random.Generator]) -> Array:
        """Return the choice for every turn."""
        return _choose_plainly(turns.views, turns.seats)


def _choose_plainly(views: Array, seats: Array) -> Array:
    out = np.empty(len(views), dtype=np.int64)
    choose_plainly(views, seats, shipped_knowledge(), Scratch.new(), out)
    return out
