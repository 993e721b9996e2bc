"""What one coordinator can feed: its service times, a model of its queue, and a check of the model.

    python benchmarks/coordinator.py [--store postgresql://...] [--emulate N ...] [--quick]

The coordinator hands out shards, receives games and stores them; workers play. Measured: what
each step costs for a shard and for a game, and what handing out costs with many workers, on
processes and on Ray. Model: twice as many shards as workers go round between the workers and
one server, the coordinator; times are exponential, so the throughput is that of a birth-death
chain. Check: many real processes that sleep for as long as a shard would take and answer with
real games, against the real coordinator and the real store.
"""

from __future__ import annotations

import argparse
import logging
import multiprocessing
import pickle
import random
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import count, repeat
from pathlib import Path
from typing import Any

import numpy as np

from cardlab.arena import workers as pools
from cardlab.arena.shard import Match, Shard, ShardResult, play_deals
from cardlab.arena.standings import Results
from cardlab.arena.store import Store
from cardlab.arena.tournament import (
    CLUSTER_SECONDS,
    MOST_DEALS_IN_A_SHARD,
    SHARD_SECONDS,
    Plan,
    enter,
)

SEATINGS = 2
GAME_SECONDS = (20e-6, 1e-3, 30e-3, 1.0, 30.0)
WORKERS = (1, 2, 10, 100, 1000)
SIZES = (1, 4, 16, 64, 256)  # deals of a shard
REPEATS = 5
PLAYS, PACKS = "a worker plays (`random`, `heuristic`)", "a worker packs"
ENOUGH = 2048  # games for one number


@dataclass(frozen=True)
class Line:
    """A time that grows with the number of games: seconds for a shard and for each game."""

    shard: float
    game: float

    def at(self, games: float) -> float:
        """Return the seconds of a shard of so many games."""
        return self.shard + self.game * games

    def __add__(self, other: Line) -> Line:
        return Line(self.shard + other.shard, self.game + other.game)


def fit(games: Sequence[float], seconds: Sequence[float]) -> Line:
    """Return the line through some times, each weighted by its size; nothing takes less than 0."""
    x, y = np.array(games), np.array(seconds)
    if len(x) == 1:
        return Line(seconds[0], 0.0)
    slope, start = np.polyfit(x, y, 1, w=1 / y)
    return Line(max(float(start), 0.0), float(slope))


def played_shards(match: Match, deals: int) -> list[ShardResult]:
    """Return real games in shards of one size."""
    number = max(2, ENOUGH // SEATINGS // deals // REPEATS)
    return [play_deals(Shard(match, i * deals, deals, keep_records=True)) for i in range(number)]


def usual(work: Callable[[ShardResult], object], results: Sequence[ShardResult]) -> float:
    """Return the seconds for one shard, the lower quartile: a busy machine changes little."""
    found = []
    for result in list(results) * REPEATS:
        began = time.perf_counter()
        work(result)
        found.append(time.perf_counter() - began)
    return float(np.quantile(found, 0.25))


def service(plan: Plan, stores: dict[str, Store]) -> tuple[dict[str, Line], int]:
    """Return what every step takes, and the bytes of a game on its way."""
    match = plan.matches[0]
    play_deals(Shard(match, 0, 1, keep_records=True))  # compiles
    found: dict[str, list[float]] = {}
    size = 0
    for deals in SIZES:
        results = played_shards(match, deals)
        size = len(pickle.dumps(results[0])) // (deals * SEATINGS)
        results = Results(plan.matches)
        shard = Shard(match, 0, deals, keep_records=True)

        def play(_: ShardResult, shard: Shard = shard) -> None:
            play_deals(shard)

        steps: dict[str, Callable[[ShardResult], object]] = {
            PLAYS: play,
            PACKS: pickle.dumps,
            "counts": results.add,
        }
        for name, store in stores.items():
            steps[f"stores, {name}"] = Keeping(store, plan)
        for name, step in steps.items():
            found.setdefault(name, []).append(usual(step, results))
    games = [SEATINGS * deals for deals in SIZES]
    return {name: fit(games, seconds) for name, seconds in found.items()}, size


class Keeping:
    """Writes every shard as one that the store does not have yet."""

    def __init__(self, store: Store, plan: Plan) -> None:
        self.store, self.entered, self.numbers = store, enter(plan, store), count()

    def __call__(self, result: ShardResult) -> None:
        """Keep the games under a pairing of their own."""
        self.store.add(self.entered.id, replace(result, pairing=next(self.numbers)))


def nothing(_: object) -> None:
    """Answer at once: what is left is handing out."""


def steady(
    stream: Iterator[object], skip: int, seconds: float, work: Callable[..., object]
) -> Rate:
    """Return answers a second, and CPU time of this process for one, once all workers are there."""
    work(next(stream))
    began = time.perf_counter()
    for _ in range(skip):
        work(next(stream))
        if time.perf_counter() - began > 2 * seconds:
            break  # all are there, and wait
    began, cpu, done = time.perf_counter(), time.process_time(), 0
    while time.perf_counter() - began < seconds:
        work(next(stream))
        done += 1
    wall = time.perf_counter() - began
    return Rate(done / wall, (time.process_time() - cpu) / done)


@dataclass(frozen=True)
class Rate:
    """How fast answers came in, and what one took of this process."""

    a_second: float
    cpu: float


def light_processes() -> None:
    """Let a pool fork its workers from a process that has everything loaded: 1,000 fit."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["cardlab.arena.standings", "cardlab.arena.tournament"])
    pools.multiprocessing.get_context = lambda _: context  # type: ignore[attr-defined,assignment]


def handing_to_processes(workers: int, seconds: float) -> float:
    """Return the CPU time of this process for handing one shard to one of many processes."""
    match = Match.plan("crazy_eights", ["random", "heuristic"], 2)
    shards: Iterable[Shard] = (Shard(match, i, 1, keep_records=True) for i in count())
    return through_processes(nothing, shards, workers, seconds, nothing).cpu


def through_processes(
    function: Callable[[Any], Any],
    shards: Iterable[Any],
    workers: int,
    seconds: float,
    work: Callable[[Any], object],
) -> Rate:
    """Return the rate of a pool of processes, whose answers this process works on."""
    stream = pools.stream_results(function, shards, max(2, workers))
    try:
        return steady(stream, workers, seconds, work)
    finally:
        stream.close()  # type: ignore[attr-defined]  # it is a generator


def receiving(match: Match, folder: Path, seconds: float) -> Line:
    """Return the CPU time of this process for receiving a shard of games from a process."""
    games, found = [SEATINGS * deals for deals in SIZES[::2]], []
    for number in games:
        wishes = repeat((prepare(match, folder, number), 0.0))
        found.append(through_processes(sleep_and_answer, wishes, 2, seconds, nothing).cpu)
    return fit(games, found)


def handing_to_ray(workers: Sequence[int], seconds: float) -> tuple[dict[int, float], float]:
    """Return CPU time for a shard with many in flight, and seconds between two of one worker.

    One worker is enough: what many cost this process is to keep track of twice as many shards.
    """
    import ray

    ray.init(
        num_cpus=1,
        log_to_driver=False,
        logging_level=logging.ERROR,
        object_store_memory=80 << 20,
        include_dashboard=False,
    )
    match = Match.plan("crazy_eights", ["random", "heuristic"], 2)
    found, gap = {}, 0.0
    known = ray.cluster_resources
    for number in workers:
        ray.cluster_resources = lambda number=number: {"CPU": number}
        shards = (Shard(match, i, 1, keep_records=True) for i in count())
        stream = pools._as_tasks(nothing, shards)
        rate = steady(stream, 50, seconds, nothing)
        stream.close()  # type: ignore[attr-defined]
        found[number] = rate.cpu
        if number == min(workers):
            gap = max(0.0, 1 / rate.a_second - rate.cpu)
    ray.cluster_resources = known
    ray.shutdown()
    return found, gap


def throughput(workers: int, at_worker: float, at_coordinator: float) -> float:
    """Return shards a second with twice as many shards as workers.

    The chain's state is how many of them wait for the coordinator or are served by it.
    """
    jobs = 2 * workers
    waiting = np.arange(jobs)
    ratios = np.minimum(workers, jobs - waiting) * at_coordinator / at_worker
    logs = np.concatenate([[0.0], np.cumsum(np.log(ratios))])
    chances = np.exp(logs - logs.max())
    return float((1 - chances[0] / chances.sum()) / at_coordinator)


def games_of(game_seconds: float, shard_seconds: float) -> int:
    """Return the games of a shard, as a tournament chooses them."""
    deals = int(shard_seconds / (SEATINGS * game_seconds))
    return SEATINGS * max(1, min(MOST_DEALS_IN_A_SHARD, deals))


def prepare(match: Match, folder: Path, games: int) -> Path:
    """Write real games down for emulated workers to answer with, and return where."""
    file = folder / f"shard-{games}"
    shard = Shard(match, 0, games // SEATINGS, keep_records=True)
    file.write_bytes(pickle.dumps(play_deals(shard)))
    return file


@cache
def prepared(file: Path) -> ShardResult:
    """Return real games that lie ready."""
    result: ShardResult = pickle.loads(file.read_bytes())
    return result


def sleep_and_answer(wish: tuple[Path, float]) -> ShardResult:
    """Do what a worker does, as far as the coordinator can tell."""
    file, seconds = wish
    result = prepared(file)
    time.sleep(random.uniform(0.5, 1.5) * seconds)
    return result


def emulate(
    plan: Plan, store: Store, folder: Path, workers: int, game_seconds: float, seconds: float
) -> tuple[float, float]:
    """Return games a second, and the coordinator's CPU time for one, with sleeping workers."""
    games = games_of(game_seconds, SHARD_SECONDS)
    wishes = repeat((prepare(plan.matches[0], folder, games), games * game_seconds))
    keep, results = Keeping(store, plan), Results(plan.matches)

    def work(result: ShardResult) -> None:
        keep(result)
        results.add(result)

    rate = through_processes(sleep_and_answer, wishes, workers, seconds, work)
    return rate.a_second * games, rate.cpu / games


def name_of(seconds: float) -> str:
    """Return a time with its unit."""
    for unit, size in [("s", 1.0), ("ms", 1e-3)]:
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} µs"


def rounded(number: float) -> str:
    """Return a number with two or three digits that count."""
    return f"{float(f'{number:.2g}'):,.0f}" if number >= 10 else f"{number:.2g}"


def row(*cells: object) -> None:
    """Print a row of a Markdown table."""
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


def head(*cells: str) -> None:
    """Print the first two rows of a Markdown table."""
    print()
    row(*cells)
    print("|---" + "|---:" * (len(cells) - 1) + "|")


def predict(
    title: str, keeping: Line, hand_out: Callable[[int], float], gap: Line, shard_seconds: float
) -> None:
    """Print the games a second that the model expects."""
    head(title, *(f"{number:,}" for number in WORKERS), "at most", "reached by")
    for game in GAME_SECONDS:
        games = games_of(game, shard_seconds)
        at_worker = gap.at(games) + games * game
        cells = []
        for number in WORKERS:
            served = keeping.at(games) + hand_out(number)
            rate = throughput(number, at_worker, served)
            share = rate * at_worker / number
            cells.append(f"{rounded(rate * games)} ({100 * share:.0f} %)")
        most = 1 / (keeping.at(games) + hand_out(WORKERS[-1]))
        row(name_of(game), *cells, rounded(most * games), rounded(most * at_worker))


def main() -> None:
    """Measure, predict, and compare with emulated workers."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--store", help="a PostgreSQL store to measure beside SQLite")
    parser.add_argument("--emulate", type=int, nargs="*", default=[10, 100, 1000], metavar="N")
    parser.add_argument("--seconds", type=float, default=8, help="for each emulated number")
    parser.add_argument("--quick", action="store_true", help="two workers, half a second, no Ray")
    asked = parser.parse_args()
    many = [2] if asked.quick else sorted(set(asked.emulate))
    seconds = 0.5 if asked.quick else asked.seconds
    plan = Plan.make("crazy_eights", ["random", "heuristic"], SEATINGS * ENOUGH)
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        stores = {"SQLite": Store(str(Path(folder) / "games.db"))}
        if asked.store:
            stores["PostgreSQL"] = Store(asked.store)
        steps, size = service(plan, stores)
        light_processes()
        steps["hands out, receives"] = receiving(plan.matches[0], Path(folder), min(seconds, 2))
        head("step", "a shard", "a game")
        for name, line in steps.items():
            row(name, name_of(line.shard), name_of(line.game))
        print(f"\na game on its way: {size} bytes")

        found = {number: handing_to_processes(number, min(seconds, 3)) for number in (2, *many)}
        handed = fit(list(found), list(found.values()))
        head("handing out a shard", *(f"{number:,}" for number in found))
        row("processes", *(name_of(one) for one in found.values()))
        receive = Line(0.0, steps["hands out, receives"].game) + steps["counts"]
        at_worker = Line(steps[PLAYS].shard, 0.0) + steps[PACKS]
        if not asked.quick:
            on_ray, gap = handing_to_ray(WORKERS, 2)
            row("Ray", *(f"{number:,}: {name_of(one)}" for number, one in on_ray.items()))
            print(f"\nbetween two shards of one worker of Ray: {name_of(gap)}")
            for name in stores:
                predict(
                    f"games a second, Ray, {name}: a game takes",
                    receive + steps[f"stores, {name}"],
                    lambda number: on_ray[number],
                    at_worker + Line(gap, 0.0),
                    CLUSTER_SECONDS,
                )

        head(
            "emulated",
            "a game takes",
            "workers",
            "predicted",
            "measured",
            "ratio",
            "CPU a game",
            "of a core",
        )
        for name, store in stores.items():
            keeping = receive + steps[f"stores, {name}"]
            for number in many:
                for game in (1e-3,) if asked.quick else (1e-3, 30e-3, 1.0):
                    games = games_of(game, SHARD_SECONDS)
                    at_coordinator = keeping.at(games) + handed.at(number)
                    expected = games * throughput(number, games * game, at_coordinator)
                    measured, cpu = emulate(plan, store, Path(folder), number, game, seconds)
                    row(
                        name,
                        name_of(game),
                        f"{number:,}",
                        f"{expected:,.0f}",
                        f"{measured:,.0f}",
                        f"{measured / expected:.2f}",
                        name_of(cpu),
                        f"{100 * measured * cpu:.0f} %",
                    )
        for store in stores.values():
            store.close()


if __name__ == "__main__":
    main()
