"""Print what Cribbage's statistics and its expert are measured by: exact means, speed, averages."""

from __future__ import annotations

import sys
import time

import numpy as np

from cardlab.engine import seeding
from cardlab.engine.batch import Batch
from cardlab.games.cribbage.agents.expert import CribbageExpert
from cardlab.games.cribbage.learning.win_probability import (
    EVENTS,
    ExpertDeals,
    averages,
    chances_by_score,
    play_deals,
)
from cardlab.games.cribbage.rules import GAME
from cardlab.games.cribbage.solvers.hand_statistics import (
    CHOICES,
    MANY,
    analyse_hands,
    every_class,
    means_of,
)

DEALS = 20_000
GAMES = 4_000
BATCH = 500
SEED = 1  # other deals than those of the shipped tables


def main() -> None:
    """Print every figure; numbers of deals and of games may be given."""
    given = [int(text) for text in sys.argv[1:3]]
    deals, games = given + [DEALS, GAMES][len(given) :]
    show_statistics()
    show_deals(deals)
    show_games(games)


def show_statistics() -> None:
    """Print the time for all exact statistics, and the means of plain rules over all deals."""
    hands, weights = every_class()
    analyse_hands(hands[: 2 * MANY])  # compiled before the clock starts
    analyse_hands(hands[:1])
    began = time.process_time()
    hands, weights = every_class()
    table = analyse_hands(hands, weights)
    seconds = time.process_time() - began
    print(f"all {len(hands):,} suit classes x {CHOICES} choices: {seconds:.2f} s of CPU time")
    some = hands[:: len(hands) // (MANY - 1)][: MANY - 1].copy()
    began = time.process_time()
    for _ in range(20):
        analyse_hands(some)
    each = (time.process_time() - began) / 20 / len(some)
    print(f"one decision, {CHOICES} rows: {1e6 * each:.1f} microseconds of CPU time")
    rules = {
        "hand_max_min": table.least,
        "hand_max_avg": table.total,
        "hand_max_med": table.median,
        "hand_max_poss": table.most,
        "crib_min_avg": -table.crib,
        "random": np.zeros_like(table.least),
    }
    for name, worth in rules.items():
        found = means_of(table, worth)
        print(f"{name:14} hand {found.hand:.4f}  crib {found.crib:.4f}  ties {found.ties:.1%}")


def show_deals(deals: int) -> None:
    """Print what dealer and pone get out of a deal of the expert with itself."""
    events = np.zeros((deals, EVENTS), dtype=np.int8)
    start = seeding.stream(SEED, "benchmark")
    samples = CribbageExpert().samples
    setting = ExpertDeals.new(samples)
    play_deals(start, 0, setting, events[:1])
    began = time.process_time()
    play_deals(start, 0, setting, events)
    each = 1000 * (time.process_time() - began) / deals
    print(f"{deals:,} deals of cribbage_expert:{samples} with itself, {each:.2f} ms a deal:")
    print(", ".join(f"{name} {value}" for name, value in averages(events).items()))
    share = 100 * chances_by_score(events)[0, 0, 1]
    print(f"games made of such deals: the first dealer wins {share:.1f} %")


def show_games(games: int) -> None:
    """Print how often the first dealer wins whole games of the expert with itself."""
    agent = CribbageExpert()
    won = decisions = 0
    began = time.process_time()
    for first in range(0, games, BATCH):
        batch = Batch(GAME, min(BATCH, games - first), seed=SEED + first)
        dealers = batch.states["dealer"].copy()
        rngs = [seeding.generator(SEED, "agent", first + row) for row in range(batch.size)]
        actions = np.zeros(batch.size, dtype=np.int64)
        winners = np.zeros(batch.size, dtype=np.int64)
        while (batch.mover >= 0).any():
            rows = np.flatnonzero(batch.mover >= 0)
            actions[rows] = agent.act_many(batch.turns(rows), [rngs[row] for row in rows])
            decisions += len(rows)
            batch.step(actions)
            winners[batch.done] = batch.returns[batch.done].argmax(axis=1)
        won += int((winners == dealers).sum())
    each = 1000 * (time.process_time() - began) / decisions
    margin = 1.96 * (0.25 / games) ** 0.5
    print(
        f"{games:,} games of cribbage_expert:{agent.samples} with itself: the first dealer wins "
        f"{won / games:.1%} ± {margin:.1%}; {each:.2f} ms of CPU time a decision"
    )


if __name__ == "__main__":
    main()
