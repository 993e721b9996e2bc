"""Speed beside what others offer, all in one run on one core.

Prints a table of ratios; with `--json FILE` also writes every number. Loops are timed several times
in turn, in CPU seconds, and the best run of each counts.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import open_spiel_peer as open_spiel
import rlcard_peer as rlcard
from cardlab import find_game
from cardlab.agents.searchers import MonteCarlo, UctOpen
from cardlab.engine import seeding
from cardlab.engine.batch import Batch
from cardlab.engine.game import State, Turn
from cardlab.engine.playouts import play_randomly
from cardlab.testing import random_table, retrace
from speed import Speed, best_of_each

SECONDS = 0.5
CRAZY_EIGHTS = find_game("crazy_eights")


@dataclass(frozen=True)
class Comparison:
    """One line of the table: what is counted, ours, a peer's loop, the ratio that is wanted."""

    title: str
    measure: str
    ours: Callable[[], Speed]
    peer: Callable[[], Speed]
    wanted: float


def our_loop(name: str, chunk: int, **options: Any) -> Callable[[], Speed]:
    """Return a loop of random play of ours."""
    game = find_game(name)

    def loop() -> Speed:
        games = decisions = 0
        start = time.process_time()
        while (elapsed := time.process_time() - start) < SECONDS:
            taken, _ = play_randomly(game, chunk, seed=games, options=options)
            games += chunk
            decisions += taken
        return Speed("cardlab", games, decisions, elapsed)

    play_randomly(game, 10, options=options)
    return loop


def comparisons() -> list[Comparison]:
    """Return everything that is compared with a peer."""
    default, aligned = open_spiel.DEFAULT_RULES, open_spiel.ALIGNED_RULES
    eights = our_loop("crazy_eights", 50_000)
    aligned_eights = our_loop("crazy_eights", 50_000, hand_size=7, optional_draw=True)
    uno = our_loop("uno", 20_000, rules="rlcard")
    cribbage = our_loop("cribbage", 20_000)
    games, decisions = "games_per_second", "decisions_per_second"
    return [
        Comparison("Crazy Eights, default rules, games/s: OpenSpiel's C++ loop", games, eights,
                   lambda: open_spiel.cpp_loop(default, SECONDS), 25),
        Comparison("Crazy Eights, default rules, games/s: OpenSpiel from Python", games, eights,
                   lambda: open_spiel.python_loop(default, SECONDS), 60),
        Comparison("Crazy Eights, aligned rules, decisions/s: OpenSpiel's C++ loop", decisions,
                   aligned_eights, lambda: open_spiel.cpp_loop(aligned, SECONDS), 10),
        Comparison("Crazy Eights, aligned rules, decisions/s: OpenSpiel from Python", decisions,
                   aligned_eights, lambda: open_spiel.python_loop(aligned, SECONDS), 35),
        Comparison("Uno, 2 seats, games/s: RLCard's env.run", games, uno,
                   lambda: rlcard.env_run_loop(2, SECONDS), 400),
        Comparison("Uno, 2 seats, games/s: RLCard's bare loop", games, uno,
                   lambda: rlcard.bare_loop(2, SECONDS), 90),
        Comparison("Cribbage, games/s: OpenSpiel's C++ loop", games, cribbage,
                   lambda: open_spiel.cpp_loop("cribbage", SECONDS), 6),
    ]  # fmt: skip


def batch_steps(size: int = 4096, steps: int = 200) -> float:
    """Return the steps a second of a batch with redeals; choosing actions is not counted."""
    batch = Batch(CRAZY_EIGHTS, size, seed=1, redeal=True)
    rng = np.random.default_rng(0)
    spent = []
    for _ in range(steps):
        actions = (batch.mask * rng.random(batch.mask.shape, dtype=np.float32)).argmax(axis=1)
        start = time.perf_counter()
        batch.step(actions)
        spent.append(time.perf_counter() - start)
    return size / float(np.median(spent))


def positions(count: int) -> list[State]:
    """Return positions of random games in which there is something to decide."""
    found: list[State] = []
    seed = 0
    while len(found) < count:
        course = retrace(random_table(CRAZY_EIGHTS, {}, seed))
        found += [table.state.copy() for table in course if len(table.state.legal()) > 1]
        seed += 1
    return found[:count]


def milliseconds(choose: Callable[[State], object], states: list[State]) -> float:
    """Return the mean time of one decision."""
    choose(states[0])
    start = time.process_time()
    for state in states:
        choose(state)
    return 1000 * (time.process_time() - start) / len(states)


def turn_of(state: State) -> Turn:
    """Return the turn that a state waits for."""
    return Turn(state.game, state.mover, state.view(state.mover), state.legal())


def alone() -> list[tuple[str, float, str]]:
    """Return what is measured without a peer: title, number, what is wanted."""
    koi_koi = best_of_each({"": our_loop("koi_koi", 5_000)})[""]
    birds = best_of_each({"": our_loop("birds_of_a_feather", 50_000)})[""]
    states = positions(300)
    rng = seeding.generator(0, "bench")
    uct, flat = UctOpen(1000), MonteCarlo(1000)
    return [
        ("Koi-Koi, eight-round games/s", koi_koi.games_per_second, ">= 80,000"),
        ("Birds of a Feather, games/s", birds.games_per_second, ">= 500,000"),
        ("Crazy Eights, uct_open:1000, ms a decision",
         milliseconds(lambda s: uct.act_open(s, rng), states), "<= 2"),
        ("Crazy Eights, monte_carlo:1000, ms a decision",
         milliseconds(lambda s: flat.act(turn_of(s), rng), states), ""),
        ("Crazy Eights, batch of 4,096 games, steps/s", batch_steps(), ">= 8,000,000"),
    ]  # fmt: skip


def main() -> None:
    """Measure, print the tables, write JSON if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write all numbers to this file")
    parser.add_argument("--compile", action="store_true", help="compile everything and stop")
    arguments = parser.parse_args()
    if arguments.compile:
        comparisons()
        return
    # Code from the cache lies in one piece and runs up to a sixth faster than in the process that
    # compiled it: so that all runs are alike, another process compiles.
    subprocess.run([sys.executable, __file__, "--compile"], check=True)
    console = Console(highlight=False, width=110)
    report: dict[str, Any] = {
        "machine": platform.processor() or platform.machine(),
        "python": platform.python_version(),
        "comparisons": [],
        "alone": [],
    }
    table = Table("random play on one core", "cardlab", "peer", "ratio", "wanted")
    for one in comparisons():
        best = best_of_each({"ours": one.ours, "peer": one.peer})
        ours, peer = (getattr(best[name], one.measure) for name in ("ours", "peer"))
        row = (f"{ours:,.0f}", f"{peer:,.0f}", f"{ours / peer:.1f}", f">= {one.wanted:g}")
        table.add_row(one.title, *row)
        report["comparisons"].append(
            {"title": one.title, "ours": ours, "peer": peer, "ratio": ours / peer}
        )
    numbers = Table("alone, one core", "cardlab", "wanted")
    for title, value, wanted in alone():
        numbers.add_row(title, f"{value:,.0f}" if value > 100 else f"{value:.2f}", wanted)
        report["alone"].append({"title": title, "value": value, "wanted": wanted})
    console.print(table)
    console.print(numbers)
    if arguments.json:
        arguments.json.write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
