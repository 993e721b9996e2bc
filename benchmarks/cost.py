"""What a million games cost on one core, as the Markdown table of docs/explanation/costs.md.

Every agent plays against itself through `play_deals`, as a worker of the arena does, in CPU time of
one process; writing games down comes on top and is measured by `arena.py`. The first column is the
rules alone: compiled random play-outs. ± is a 95 % interval over shards of games.

    python benchmarks/cost.py --ways

prints another table: a million games in this process, on a pool of processes and on Ray, in CPU
time of all processes together and as a multiple of the first, games kept in SQLite.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

from cardlab.agents.supervisor import descendants
from cardlab.arena.match import Match
from cardlab.arena.shard import Shard, play_deals
from cardlab.arena.store import Store
from cardlab.arena.tournament import MOST_DEALS_IN_A_SHARD, Plan, enter
from cardlab.arena.workers import stream_results
from cardlab.engine.playouts import play_randomly
from cardlab.engine.registry import find_game

SHARDS = 5  # for the interval
T_95 = 2.776  # the quantile of Student's distribution that belongs to them
SEARCHES = {
    "crazy_eights": "guided:300",
    "uno": "guided:300",
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
    while spent < budget / SHARDS / 4:  # grow until a shard is long enough to time
        size *= 2
        began = time.process_time()
        games = play(0, size)
        spent = time.process_time() - began
    size = max(1, round(size * budget / SHARDS / spent))
    found, total = [], 0
    for shard in range(SHARDS):
        began = time.process_time()
        games = play(shard * size, size)
        found.append(1e6 * (time.process_time() - began) / games)
        total += games
    half = T_95 * statistics.stdev(found) / math.sqrt(SHARDS)
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
        deals, seatings, _ = play_deals(Shard(match, first, size, keep_records=False)).returns.shape
        return int(deals * seatings)

    return play


def cpu_of_all() -> float:
    """Return the CPU seconds of this process and of all that it has started and that still run."""
    total = 0
    for process in [os.getpid(), *descendants(os.getpid())]:
        with suppress(OSError):
            after_name = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
            total += int(after_name[11]) + int(after_name[12])
    return total / os.sysconf("SC_CLK_TCK")


@contextmanager
def cluster(nodes: int) -> Iterator[str]:
    """Start Ray with nodes of one core each on this machine, and yield its address."""
    import ray
    from ray.cluster_utils import Cluster

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Ray's own
        node = {"num_cpus": 1, "object_store_memory": 80 << 20}
        made = Cluster(initialize_head=True, head_node_args=node)
        for _ in range(nodes - 1):
            made.add_node(**node)
        made.wait_for_nodes()
        try:
            yield made.address
        finally:
            ray.shutdown()
            made.shutdown()


def through(
    agents: list[str], workers: int, ray: str | None, seconds: float
) -> tuple[float, float]:
    """Return CPU seconds of a million games of Crazy Eights in all processes, and games a second.

    Shards take a third of a second at most, so that few are under way when the clock stops;
    everything has started before it does.
    """
    plan = Plan.make("crazy_eights", agents, 2)
    shard = Shard(plan.matches[0], 0, 1, keep_records=True)
    play_deals(shard)
    pace = play_deals(shard).elapsed
    deals = max(1, min(MOST_DEALS_IN_A_SHARD, int(0.3 / pace)))
    shards = (Shard(plan.matches[0], i * deals, deals, True) for i in count())
    with tempfile.TemporaryDirectory() as folder, Store(str(Path(folder) / "games.db")) as store:
        entered = enter(plan, store)
        stream = stream_results(play_deals, shards, workers, ray=ray)
        for _ in range(3 * workers):
            store.add(entered.id, next(stream))
        cpu, began, games = cpu_of_all(), time.perf_counter(), 0
        while cpu_of_all() - cpu < seconds * workers:
            result = next(stream)
            store.add(entered.id, result)
            games += len(result.games)
        spent, wall = cpu_of_all() - cpu, time.perf_counter() - began
        stream.close()  # type: ignore[attr-defined]  # it is a generator
    return 1e6 * spent / games, games / wall


def ways(seconds: float) -> None:
    """Print what handing games to others costs, for quick agents and for one that thinks."""
    pairs = {
        "`random`, 0.02 ms a decision": ["random", "cardlab.agents.random_agent:RandomAgent"],
        "`information_set`, 1 ms and more": ["information_set:1500", "information_set:2000"],
    }
    names = ("this process", "2 processes", "Ray, 1 node", "Ray, 2 nodes")
    print(f"| a million games of | {' | '.join(names)} |")
    print("|---" + "|---:" * len(names) + "|")
    for name, agents in pairs.items():
        found = [through(agents, workers, None, seconds) for workers in (1, 2)]
        for nodes in (1, 2):
            with cluster(nodes) as address:
                found.append(through(agents, nodes, address, seconds))
        alone, pace = found[0]
        cells = [f"{words(cpu)}, {cpu / alone:.2f} ({speed / pace:.2f})" for cpu, speed in found]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)
    print("\nCPU time, as a multiple of the first, and in brackets the speed likewise")


def main() -> None:
    """Measure game by game and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=4, help="CPU time for each number")
    parser.add_argument("--ways", action="store_true", help="the same games by processes and Ray")
    parser.add_argument("games", nargs="*", default=list(SEARCHES))
    arguments = parser.parse_args()
    if arguments.ways:
        ways(arguments.seconds)
        return
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
