"""What a million games cost on one core, as the Markdown table of docs/scale.md.

Every agent plays against itself through `play_deals`, as a worker of the arena does, in CPU time of
one process; writing games down comes on top and is measured by `arena.py`. The first column is the
rules alone: compiled random play-outs. ± is a 95 % interval over stretches of games.
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from collections.abc import Callable

from cardlab.arena.match import Match
from cardlab.arena.stretch import Task, play_deals
from cardlab.games import find_game
from cardlab.search.playouts import play_randomly

STRETCHES = 5  # for the interval
T_95 = 2.776  # the quantile of Student's distribution that belongs to them
SEARCHES = {
    "crazy_eights": "fair:300",
    "uno": "fair:300",
    "birds_of_a_feather": "solver",
    "koi_koi": "monte_carlo:100",
    "cribbage": "cribbage_expert:30",
}
HOUR, MINUTE = 3600, 60


def words(seconds: float) -> str:
    """Return a time as a person would say it, three digits at most."""
    for unit, size in [("h", HOUR), ("min", MINUTE)]:
        if seconds >= 2 * size:
            return (
                f"{seconds / size:,.0f} {unit}"
                if seconds >= 10 * size
                else (f"{seconds / size:.1f} {unit}")
            )
    return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"


def cost(play: Callable[[int, int], int], budget: float) -> tuple[float, float, int]:
    """Return the CPU seconds of a million games, half an interval, and the games played.

    `play(first, size)` plays that many deals from the first on and says how many games it were.
    """
    play(0, 1)
    size, spent, games = 1, 0.0, 1
    while spent < budget / STRETCHES / 4:  # grow until a stretch is long enough to time
        size *= 2
        began = time.process_time()
        games = play(0, size)
        spent = time.process_time() - began
    size = max(1, round(size * budget / STRETCHES / spent))
    found, total = [], 0
    for stretch in range(STRETCHES):
        began = time.process_time()
        games = play(stretch * size, size)
        found.append(1e6 * (time.process_time() - began) / games)
        total += games
    half = T_95 * statistics.stdev(found) / math.sqrt(STRETCHES)
    return statistics.mean(found), half, total


def rules_alone(game: str) -> Callable[[int, int], int]:
    """Return a loop of compiled random play-outs."""
    found = find_game(game)

    def play(first: int, size: int) -> int:
        play_randomly(found, 100 * size, seed=first)
        return 100 * size

    return play


def against_itself(game: str, agent: str) -> Callable[[int, int], int]:
    """Return a loop of games as a worker of the arena plays them."""
    found = find_game(game)
    options = tuple(found.read_options({}).items())
    match = Match(game, (agent,) * int(found.start().seats), 1, seed=0, options=options)

    def play(first: int, size: int) -> int:
        deals, seatings, _ = play_deals(Task(match, first, size, keep_records=False)).returns.shape
        return int(deals * seatings)

    return play


def main() -> None:
    """Measure game by game and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=4, help="CPU time for each number")
    parser.add_argument("games", nargs="*", default=list(SEARCHES))
    arguments = parser.parse_args()
    print("| a million games of | rules alone | `random` | `heuristic` | a fair search |")
    print("|---|---:|---:|---:|---:|")
    played = 0
    for game in arguments.games:
        cells = []
        search = SEARCHES[game]
        loops = [rules_alone(game)]
        loops += [against_itself(game, one) for one in ("random", "heuristic", search)]
        for loop in loops:
            mean, half, games = cost(loop, arguments.seconds)
            cells.append(f"{words(mean)} ± {100 * half / mean:.0f} %")
            played += games
        print(f"| {find_game(game).title} | {' | '.join(cells)}, `{search}` |", flush=True)
    print(f"\n{played:,} games, {arguments.seconds:g} s of CPU time for each number")


if __name__ == "__main__":
    main()
