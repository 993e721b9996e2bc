"""How likely a game of Koi-Koi is won after a round: from points, dealer and rounds left.

Two ways to make the same table. `logistic` is the paper's: for each number of rounds left a
logistic regression of the result on lead and dealer. The authors name its fit as a limitation.
`dynamic` needs no such shape: it measures how rounds end - what the dealer wins or loses, by rounds
left and lead - and computes the probability backwards from the last round, where it is known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cardlab.engine.game import Array
from cardlab.games.koi_koi.rules import START
from cardlab.games.koi_koi.table import MOST_ROUNDS
from cardlab.games.koi_koi.win_chances import look_up

PREDICTORS = ("logistic", "dynamic")
LEADS = 2 * START + 1  # from -START to START: beyond, the game is over
BEYOND = 120  # what a round may bring, for the histogram; more counts as this
LEAD_STEPS = (-9, -3, 0, 1, 4, 10)  # lower ends of classes of leads
PRIOR = 100  # rounds that stand in for a lead from its class, and for a class from all rounds


@dataclass(frozen=True)
class Rounds:
    """How the rounds of many games ended; arrays are (games, rounds), seat 0's view."""

    gains: Array
    played: Array  # (games,) rounds that were played
    dealers: Array
    before: Array  # seat 0's lead over the start when a round began
    rounds: int

    @property
    def results(self) -> Array:
        """The share of the win that seat 0 got in each game."""
        lead = self.before[:, 0] + self.gains.sum(1)
        return np.where(lead > 0, 1.0, np.where(lead < 0, 0.0, 0.5))

    @property
    def happened(self) -> Array:
        """Which rounds were played."""
        return np.arange(self.rounds)[None, :] < self.played[:, None]

    def only(self, games: Array) -> Rounds:
        """Return the rounds of some of the games."""
        kept = (self.gains[games], self.played[games], self.dealers[games], self.before[games])
        return Rounds(*kept, self.rounds)


def rounds_of(states: Array, first_dealers: Array) -> Rounds:
    """Return how the rounds of finished games ended."""
    rounds = int(states["rounds"][0])
    gains = states["gains"][:, :rounds].astype(np.int64)
    # The winner of a round deals the next one; a round that nobody stops is won by its dealer.
    winners = np.where(gains > 0, 0, 1)
    dealers = np.concatenate([first_dealers[:, None].astype(np.int64), winners[:, :-1]], axis=1)
    before = np.concatenate([np.zeros((len(gains), 1), dtype=np.int64), gains[:, :-1]], axis=1)
    played = states["round_number"].astype(np.int64)
    return Rounds(gains, played, dealers, before.cumsum(1), rounds)


def blank_table() -> Array:
    """Return P(win) by (rounds left, I deal, lead) with what is certain filled in."""
    table = np.full((MOST_ROUNDS + 1, 2, LEADS), 0.5)
    leads = np.arange(-START, START + 1)
    table[0] = np.where(leads > 0, 1.0, np.where(leads < 0, 0.0, 0.5))
    table[:, :, 0], table[:, :, -1] = 0.0, 1.0
    return table


def after_rounds(table: Array, rounds: Rounds) -> Array:
    """Return both seats' probability to win after each round: (games, rounds, 2)."""
    left = rounds.rounds - 1 - np.arange(rounds.rounds)[None, :]
    lead = rounds.before + rounds.gains
    first = look_up(table, left, (rounds.gains > 0).astype(np.int64), lead)
    return np.stack([first, 1.0 - first], axis=-1)


def fit(kind: str, rounds: Rounds) -> Array:
    """Return the table that a kind of predictor makes of games."""
    return fit_logistic(rounds) if kind == "logistic" else fit_dynamic(rounds)


def fit_logistic(rounds: Rounds) -> Array:
    """Return the table of logistic regressions, one for each number of rounds left."""
    table = blank_table()
    lead = rounds.before + rounds.gains
    going_on = rounds.happened & (np.abs(lead) < START)
    leads = np.arange(1 - START, START)
    for left in range(1, rounds.rounds):
        rows = going_on[:, rounds.rounds - 1 - left]
        if not rows.any():
            continue
        x = lead[rows, rounds.rounds - 1 - left]
        deals = np.where(rounds.gains[rows, rounds.rounds - 1 - left] > 0, 1.0, -1.0)
        won = rounds.results[rows]
        # Each game is seen from both seats, so that no constant is needed.
        inputs = np.concatenate([np.stack([x, deals], 1), np.stack([-x, -deals], 1)])
        weights = _newton(inputs / [START, 1.0], np.concatenate([won, 1.0 - won]))
        for mine in range(2):
            score = weights[0] * leads / START + weights[1] * (1 if mine else -1)
            table[left, mine, 1:-1] = 1.0 / (1.0 + np.exp(-score))
    for left in range(rounds.rounds, MOST_ROUNDS + 1):
        table[left] = table[rounds.rounds - 1]
    return table


def _newton(inputs: Array, won: Array, steps: int = 25) -> Array:
    """Return the weights of a logistic regression; a training runs where scipy is missing."""
    weights = np.zeros(inputs.shape[1])
    for _ in range(steps):
        chance = 1.0 / (1.0 + np.exp(-np.clip(inputs @ weights, -30, 30)))
        slope = inputs.T @ (won - chance) - 0.01 * weights
        bend = (inputs * (chance * (1 - chance))[:, None]).T @ inputs + 0.01 * np.eye(len(weights))
        step = np.linalg.solve(bend, slope)
        weights = weights + step
        if np.abs(step).max() < 1e-9:
            break
    return weights


def fit_dynamic(rounds: Rounds) -> Array:
    """Return the table that follows from how rounds end, backwards from the last one."""
    table = blank_table()
    sign = np.where(rounds.dealers == 0, 1, -1)
    gain, lead = (sign * rounds.gains)[rounds.happened], (sign * rounds.before)[rounds.happened]
    left = np.broadcast_to(rounds.rounds - np.arange(rounds.rounds), rounds.gains.shape)[
        rounds.happened
    ]
    place = np.clip(gain, -BEYOND, BEYOND) + BEYOND
    classes = np.digitize(lead, LEAD_STEPS)
    overall = np.bincount(place, minlength=2 * BEYOND + 1).astype(float)
    overall /= overall.sum()
    gains = np.arange(-BEYOND, BEYOND + 1)
    leads = np.arange(1 - START, START)
    for now in range(1, MOST_ROUNDS + 1):
        same = left == min(now, rounds.rounds)
        of_class = _smoothed(classes[same], place[same], len(LEAD_STEPS) + 1, overall)
        start = of_class[np.digitize(leads, LEAD_STEPS)]
        chances = _smoothed(lead[same] + START - 1, place[same], len(leads), start)
        then = look_up(table, now - 1, (gains > 0).astype(int), leads[:, None] + gains)
        table[now, 1, 1:-1] = _rising((chances * then).sum(1))
        table[now, 0, 1:-1] = 1.0 - table[now, 1, 1:-1][::-1]
    return table


def _rising(chances: Array) -> Array:
    """Return chances that never fall with the lead: who leads by more could play as if by less."""
    above, below = np.maximum.accumulate(chances), np.minimum.accumulate(chances[::-1])[::-1]
    return (above + below) / 2


def _smoothed(rows: Array, columns: Array, count: int, start: Array) -> Array:
    """Return how often each column was met in each row, begun with `PRIOR` rounds of `start`."""
    width = start.shape[-1]
    seen = np.bincount(rows * width + columns, minlength=count * width).reshape(count, width)
    return (seen + PRIOR * start) / (seen.sum(1, keepdims=True) + PRIOR)


def compare(rounds: Rounds) -> dict[str, float]:
    """Return the log loss of both predictors on games that they have not seen."""
    halves = np.arange(len(rounds.played)) % 2
    losses = {}
    for kind in PREDICTORS:
        parts = []
        for half in range(2):
            table = fit(kind, rounds.only(np.flatnonzero(halves == half)))
            parts.append(log_losses(table, rounds.only(np.flatnonzero(halves != half))))
        losses[kind] = float(np.concatenate(parts).mean())
    return losses


def log_losses(table: Array, rounds: Rounds) -> Array:
    """Return the log loss of every prediction after a round that did not decide the game."""
    chance = after_rounds(table, rounds)[..., 0]
    lead = rounds.before + rounds.gains
    open_still = rounds.happened & (np.abs(lead) < START)
    open_still[:, -1] = False
    chance = np.clip(chance[open_still], 1e-6, 1 - 1e-6)
    won = np.broadcast_to(rounds.results[:, None], lead.shape)[open_still]
    return -(won * np.log(chance) + (1 - won) * np.log(1 - chance))
