"""Games that change the weights of strategies: the thesis's update and a policy gradient.

Kernels for `strategy_weights`, which states the equations. A game notes for each seat and deal the
scores, the role and eight marks: the desirability of the choice made to each strategy, or by how
much that exceeds the mean over all choices. When it is over, the weights of all cells
that it met are changed.
"""

from __future__ import annotations

from math import exp
from typing import Any, NamedTuple

import numpy as np

from cardlab.engine.game import DEALER, OVER, Array
from cardlab.engine.kernel import int64, kernel
from cardlab.engine.seeding import SEAT, below, branch, deck_order
from cardlab.games.cribbage.agents.expert import greedy_card, laying
from cardlab.games.cribbage.agents.strategies import (
    FULL,
    NUM_STRATEGIES,
    ROLES,
    best_choice,
    cell,
    desirabilities,
    weigh,
    worth,
)
from cardlab.games.cribbage.learning.strategy_games import starting_scores
from cardlab.games.cribbage.rules import LAY_AWAY, apply, deal, mover
from cardlab.games.cribbage.solvers.hand_statistics import CHOICES

WITHIN = 0.3  # of the best: how near a strategy must be to count as one that advocated
ADVOCATES = NUM_STRATEGIES // 3
RANDOM_RESOLUTION = 1 << 30
MOST_DEALS_OF_A_GAME = 2 * FULL  # every deal gives at least the point for the last card
PRIOR, MEMORY = 10, 2000  # games that a chance to win starts with, and looks back on


class Rule(NamedTuple):
    """How to choose and to learn."""

    gradient: bool
    rate: float
    decay: float
    explore: float
    by_variance: bool
    random_ties: bool
    cap: float
    floor: float
    blend: float
    sharpness: float
    spread: int


class Trajectory(NamedTuple):
    """What a game keeps of each seat and deal, and what its choices are worked out in."""

    scores: Array  # [seat, deal]: own, other's, role
    marks: Array  # [seat, deal, strategy]
    chances: Array  # of the 15 choices
    advocates: Array
    draws: Array

    @classmethod
    def new(cls) -> Trajectory:
        """Return an empty trajectory."""
        return cls(
            np.zeros((2, MOST_DEALS_OF_A_GAME, 3), dtype=np.int64),
            np.zeros((2, MOST_DEALS_OF_A_GAME, NUM_STRATEGIES)),
            np.zeros(CHOICES),
            np.zeros(NUM_STRATEGIES, dtype=np.bool_),
            np.zeros(1, dtype=np.int64),
        )


@kernel
def variance(weights: Any) -> float:
    """Return the variance of a cell's weights."""
    total = squares = 0.0
    for k in range(NUM_STRATEGIES):
        total += weights[k]
        squares += weights[k] * weights[k]
    mean = total / NUM_STRATEGIES
    return squares / NUM_STRATEGIES - mean * mean


@kernel
def explore_or_best(judged: Any, rule: Any, draws: Any) -> int:
    """Return any choice with the chance to explore, otherwise the one that is worth most."""
    chance = rule.explore
    if rule.by_variance:
        chance -= variance(judged.weights)
    if below(draws, RANDOM_RESOLUTION) < chance * RANDOM_RESOLUTION:
        return below(draws, CHOICES)
    return best_choice(judged.wanted, judged.weights)


@kernel
def sample(judged: Any, sharpness: float, chances: Any, draws: Any) -> int:
    """Write the chances of all choices, exponential in their worth, and return one drawn so."""
    most = 0.0
    for choice in range(CHOICES):
        chances[choice] = worth(judged.wanted, choice, judged.weights)
        most = max(most, chances[choice])
    total = 0.0
    for choice in range(CHOICES):
        chances[choice] = exp(sharpness * (chances[choice] - most))
        total += chances[choice]
    left = below(draws, RANDOM_RESOLUTION) / RANDOM_RESOLUTION
    chosen = int64(-1)
    for choice in range(CHOICES):
        chances[choice] /= total
        left -= chances[choice]
        if left < 0.0 and chosen < 0:
            chosen = int64(choice)
    return chosen if chosen >= 0 else int64(CHOICES - 1)


@kernel
def lay_away(s: Any, seat: int, number: int, weights: Any, rule: Any, game: Any, met: Any) -> int:
    """Return the discard of a learner in deal `number`, and note it."""
    judged = game.hand
    own, other = int64(s.scores[seat]), int64(s.scores[1 - seat])
    role = 1 if s.dealer == seat else 0
    desirabilities(s.hands[seat], role, game.pegging, judged)
    weigh(weights, own, other, role, rule.blend, judged.weights)
    if rule.gradient:
        choice = sample(judged, rule.sharpness, met.chances, met.draws)
    else:
        choice = explore_or_best(judged, rule, met.draws)
    for k in range(NUM_STRATEGIES):
        mark = judged.wanted[choice, k]
        if rule.gradient:
            for i in range(CHOICES):
                mark -= met.chances[i] * judged.wanted[i, k]
        met.marks[seat, number, k] = mark
    met.scores[seat, number, 0] = own
    met.scores[seat, number, 1] = other
    met.scores[seat, number, 2] = role
    return laying(judged.hand.cards, choice)


@kernel
def renormalise(vector: Any, floor: float) -> None:
    """Lift weights to the floor and scale them to sum to 1."""
    total = 0.0
    for k in range(NUM_STRATEGIES):
        vector[k] = max(vector[k], floor)
        total += vector[k]
    for k in range(NUM_STRATEGIES):
        vector[k] /= total


@kernel
def find_advocates(marks: Any, random_ties: bool, advocates: Any, draws: Any) -> None:
    """Mark which strategies advocated most: within 30 % of the best, at most a third of all."""
    best = 0.0
    for k in range(NUM_STRATEGIES):
        advocates[k] = False
        best = max(best, marks[k])
    if best == 0.0:  # an explored choice that nobody wanted
        return
    for _ in range(ADVOCATES):
        chosen, equals = int64(-1), int64(0)
        for k in range(NUM_STRATEGIES):
            if advocates[k] or marks[k] < (1.0 - WITHIN) * best:
                continue
            if chosen < 0 or marks[k] > marks[chosen]:
                chosen, equals = int64(k), int64(1)
            elif random_ties and marks[k] == marks[chosen]:
                equals += 1
                if below(draws, equals) == 0:
                    chosen = int64(k)
        if chosen >= 0:
            advocates[chosen] = True


@kernel
def learn_as_the_thesis(
    weights: Any, seat: int, deals: int, difference: int, rule: Any, met: Any
) -> None:
    """Multiply the weights of what advocated most, by the difference of the final scores."""
    rows = len(weights)
    modifier = rule.rate * difference / FULL
    for number in range(deals - 1, -1, -1):
        scores = met.scores[seat, number]
        vector = weights[cell(scores[0], rows), cell(scores[1], rows), scores[2]]
        find_advocates(met.marks[seat, number], rule.random_ties, met.advocates, met.draws)
        for k in range(NUM_STRATEGIES):
            if met.advocates[k]:
                vector[k] *= 1.0 + modifier
                if rule.cap > 0.0:
                    vector[k] = min(vector[k], rule.cap)
        renormalise(vector, rule.floor)
        modifier *= 1.0 - rule.decay


@kernel
def learn_by_gradient(
    weights: Any, seat: int, deals: int, won: bool, rate: float, rule: Any, met: Any, values: Any
) -> None:
    """Follow the gradient of the chance to win, deal by deal, on the scale of logarithms."""
    rows = len(weights)
    after = 1.0 if won else 0.0
    for number in range(deals - 1, -1, -1):
        scores = met.scores[seat, number]
        before = values[scores[0], scores[1], scores[2]]
        vector = weights[cell(scores[0], rows), cell(scores[1], rows), scores[2]]
        step = rate * rule.sharpness * (after - before)
        for k in range(NUM_STRATEGIES):
            vector[k] *= exp(step * met.marks[seat, number, k])
        renormalise(vector, rule.floor)
        after = before


@kernel
def learn_values(seat: int, deals: int, won: bool, met: Any, critic: Any) -> None:
    """Move the chances to win at the scores that were met towards what happened."""
    values, visits = critic.values, critic.visits
    for number in range(deals):
        scores = met.scores[seat, number]
        own, other, role = scores[0], scores[1], scores[2]
        visits[own, other, role] += 1
        window = min(visits[own, other, role] + PRIOR, MEMORY)
        values[own, other, role] += ((1.0 if won else 0.0) - values[own, other, role]) / window


class Share(NamedTuple):
    """Some games of a training, by number; the step of the gradient falls as it goes on."""

    first: int
    games: int
    gone: float  # part of the training that is over before game 0
    each: float  # part of the training that every game is


class Pair(NamedTuple):
    """The weights of both seats; those of seat 0 always learn."""

    zero: Array
    one: Array
    both_learn: bool


class Critic(NamedTuple):
    """Chances to win by own score, other's score and role, and how often each was met."""

    values: Array
    visits: Array

    @classmethod
    def new(cls) -> Critic:
        """Return chances of one half everywhere, and no visits."""
        shape = (FULL, FULL, ROLES)
        return cls(np.full(shape, 0.5), np.zeros(shape, dtype=np.int64))


@kernel
def play_and_learn(
    start: int, share: Any, pair: Any, rule: Any, critic: Any, game: Any, met: Any
) -> None:
    """Play a share of the games of two agents, and learn from each."""
    s = game.state[0]
    for number in range(share.first, share.first + share.games):
        game.state[0] = game.fresh[0]
        seed = branch(start, number)
        met.draws[0] = branch(seed, SEAT)
        starting_scores(rule.spread, s.scores, met.draws)
        orders = deals = 0
        while mover(s) != OVER:
            seat = mover(s)
            if seat == DEALER:
                deck_order(seed, orders, game.order, game.rng)
                deal(s, game.order)
                orders += 1
                deals = int64(s.deals)
            elif s.phase == LAY_AWAY:
                weights = pair.zero if seat == 0 else pair.one
                apply(s, lay_away(s, seat, deals - 1, weights, rule, game, met))
            else:
                apply(s, greedy_card(s, seat))
        for seat in range(2 if pair.both_learn else 1):
            weights = pair.zero if seat == 0 else pair.one
            won = s.winner == seat
            if rule.gradient:
                rate = rule.rate * (1.0 - share.gone - share.each * number)
                learn_by_gradient(weights, seat, deals, won, rate, rule, met, critic.values)
                learn_values(seat, deals, won, met, critic)
            else:
                difference = int64(s.scores[seat]) - int64(s.scores[1 - seat])
                learn_as_the_thesis(weights, seat, deals, difference, rule, met)
