"""Speed, beside OpenSpiel's Crazy Eights, all in one run on one core.

Prints a table of ratios; with `--json FILE` also writes every number. Each loop is timed several
times in turn, in CPU seconds, and its best run counts, so that a busy machine harms all alike.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import open_spiel_peer as peer
from cardlab import find_game, seeding
from cardlab.agents.searchers import MonteCarlo, UctOpen
from cardlab.batch import Batch
from cardlab.game import State
from cardlab.search.playouts import play_randomly
from cardlab.testing import random_table, retrace
from open_spiel_peer import Speed

ROUNDS = 5
SECONDS = 0.6
GAME = find_game("crazy_eights")
ALIGNED = {"hand_size": 7, "optional_draw": True}


def our_loop(options: dict[str, Any], seconds: float) -> Speed:
    """Time random play of ours."""
    games = decisions = 0
    start = time.process_time()
    while (elapsed := time.process_time() - start) < seconds:
        taken, _ = play_randomly(GAME, 50_000, seed=games, **options)
        games += 50_000
        decisions += taken
    return Speed("cardlab", games, decisions, elapsed)


def best(loops: dict[str, Callable[[], Speed]], by: str) -> dict[str, float]:
    """Run the loops in turn and return the best speed of each."""
    found = dict.fromkeys(loops, 0.0)
    for _ in range(ROUNDS):
        for name, loop in loops.items():
            found[name] = max(found[name], getattr(loop(), by))
    return found


def batch_steps(size: int = 4096, steps: int = 200) -> float:
    """Return the steps a second of a batch with redeals; choosing actions is not counted."""
    batch = Batch(GAME, size, seed=1, redeal=True)
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
        course = retrace(random_table(GAME, {}, seed))
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


def main() -> None:
    """Measure, print the table, write JSON if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write all numbers to this file")
    arguments = parser.parse_args()
    play_randomly(GAME, 10)
    default = best(
        {
            "cardlab": lambda: our_loop({}, SECONDS),
            "cpp": lambda: peer.cpp_loop(peer.DEFAULT_RULES, SECONDS),
            "python": lambda: peer.python_loop(peer.DEFAULT_RULES, SECONDS),
        },
        "games_per_second",
    )
    aligned = best(
        {
            "cardlab": lambda: our_loop(ALIGNED, SECONDS),
            "cpp": lambda: peer.cpp_loop(peer.ALIGNED_RULES, SECONDS),
            "python": lambda: peer.python_loop(peer.ALIGNED_RULES, SECONDS),
        },
        "decisions_per_second",
    )
    table = Table("random play, one core", "cardlab", "OpenSpiel", "ratio", "wanted")
    rows = [
        ("games/s, default rules, its C++ loop", default, "cpp", 25),
        ("games/s, default rules, its Python loop", default, "python", 60),
        ("decisions/s, aligned rules, its C++ loop", aligned, "cpp", 10),
        ("decisions/s, aligned rules, its Python loop", aligned, "python", 35),
    ]
    for name, speeds, loop, wanted in rows:
        ratio = speeds["cardlab"] / speeds[loop]
        table.add_row(
            name,
            f"{speeds['cardlab']:,.0f}",
            f"{speeds[loop]:,.0f}",
            f"{ratio:.1f}",
            f">= {wanted}",
        )
    states = positions(300)
    rng = seeding.generator(0, "bench")
    uct, flat = UctOpen(1000), MonteCarlo(1000)
    single = {
        "uct_open:1000, ms a decision": milliseconds(lambda s: uct.act_open(s, rng), states),
        "monte_carlo:1000, ms a decision": milliseconds(lambda s: flat.act(_turn(s), rng), states),
        "batch of 4,096 games, million steps/s": batch_steps() / 1e6,
    }
    wanted_single = ("<= 2", "", ">= 8")
    numbers = Table("cardlab alone", "measured", "wanted")
    for (name, value), wanted_text in zip(single.items(), wanted_single, strict=True):
        numbers.add_row(name, f"{value:.2f}", wanted_text)
    console = Console()
    console.print(table)
    console.print(numbers)
    if arguments.json:
        report = {
            "machine": platform.processor() or platform.machine(),
            "python": platform.python_version(),
            "games_per_second_default_rules": default,
            "decisions_per_second_aligned_rules": aligned,
            "single": single,
        }
        arguments.json.write_text(json.dumps(report, indent=2) + "\n")


def _turn(state: State) -> Any:
    from cardlab.game import Turn

    return Turn(GAME, state.mover, state.view(state.mover), state.legal())


if __name__ == "__main__":
    main()
