"""The thesis's future work on pegging, measured: greedy, mixed, learned and searched play compared.

"Policy Improvement in Cribbage through Reinforcement", section 5.1.1.1, pegs greedily and proposes
a player trained by reinforcement alone, and a learned combination of offence and defence. All
players here keep the same four cards, so that only the play differs; every deal is played in both
seatings.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from cardlab.agents.catalog import find_agent
from cardlab.arena.match import Match, play_match
from cardlab.engine.batch import Batch
from cardlab.engine.game import ActsInBatches
from cardlab.engine.registry import find_game

DEAL = 10  # decisions
TIMED_GAMES, TIMED_STEPS = 100, 5 * DEAL
PLAYERS = {
    "greedy": "hand_max_avg",
    "mixed": "cribbage_mixed_pegging",
    "learned": "cribbage_learned_pegging",
    "searched": "cribbage_searched_pegging:30",
}


class Row(NamedTuple):
    """How the first of a pair of players did against the second."""

    pair: tuple[str, str]
    games: int
    share: float  # of games won, from 0 to 1
    interval: tuple[float, float] | None  # 95 %; None for too few deals
    milliseconds: tuple[float, float]  # of CPU time for a decision of each, many asked at once


def plans(games: int, seed: int) -> dict[tuple[str, str], Match]:
    """Return the match of every pair of players, the one that thinks further first."""
    return {
        (first, second): Match.plan("cribbage", [PLAYERS[first], PLAYERS[second]], games, seed)
        for second, first in combinations(PLAYERS, 2)
    }


def milliseconds_of(name: str) -> float:
    """Return the CPU time that an agent takes for a decision, of games against itself in step."""
    game = find_game("cribbage")
    agent = find_agent(name, game)
    assert isinstance(agent, ActsInBatches)
    spent = asked = 0.0
    for timed in (False, True):  # the first time it may compile
        batch = Batch(game, TIMED_GAMES, seeds=np.arange(TIMED_GAMES))
        actions = np.zeros(TIMED_GAMES, dtype=np.int64)
        for _ in range(TIMED_STEPS if timed else DEAL):
            waiting = np.flatnonzero(batch.mover >= 0)
            turns = batch.turns(waiting)
            rngs = [np.random.default_rng(int(row)) for row in waiting]
            began = time.process_time()
            actions[waiting] = agent.act_many(turns, rngs)
            if timed:
                spent += time.process_time() - began
                asked += len(waiting)
            batch.step(actions)
    return 1000 * spent / asked


def compare(
    games: int = 10_000,
    seed: int = 2026,
    *,
    workers: int = 1,
    progress: Callable[[str, int, int], None] | None = None,
) -> list[Row]:
    """Return a row for every pair of players, after `games` games each on mirrored deals."""
    times = {player: milliseconds_of(name) for player, name in PLAYERS.items()}
    rows = []
    for pair, match in plans(games, seed).items():

        def report(done: int, total: int, pair: tuple[str, str] = pair) -> None:
            if progress:
                progress(" against ".join(pair), done, total)

        result = play_match(match, workers=workers, progress=report)
        first = result.standings[0]
        milliseconds = (times[pair[0]], times[pair[1]])
        rows.append(Row(pair, result.games, first.score, first.score_interval, milliseconds))
    return rows


def markdown(rows: Sequence[Row]) -> str:
    """Return the rows as a table."""
    lines = ["| play | against | games | wins | CPU ms a decision |", "|---|---|---|---|---|"]
    for row in rows:
        margin = f" ± {50 * (row.interval[1] - row.interval[0]):.1f}" if row.interval else ""
        milliseconds = ", ".join(f"{value:.4f}" for value in row.milliseconds)
        cells = (*row.pair, f"{row.games:,}", f"{100 * row.share:.1f}{margin} %", milliseconds)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)
