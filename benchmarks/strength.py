"""Measure how well the agents of each game play: a score against `heuristic`, and ratings.

Every agent plays every other one, both seats of each deal, and all pairings play the same deals.
From the games against `heuristic` comes the score; from all games come the ratings (Bradley-Terry,
on the scale of Elo, `heuristic` = 0), both with 95 % intervals over deals.

    python benchmarks/strength.py                          all games with two seats or more
    python benchmarks/strength.py uno --workers 16         one game
    python benchmarks/strength.py --out DIR --minutes 9    stop in time; run again to resume

DIR keeps the games (NAME.jsonl) and gets the tables (NAME.json). `--ship` also writes the tables
where `cardlab agents` and the documentation read them: `data/strength.json` in each game's folder.
Games that were played by other code are played again.

Budget: 30 minutes of CPU time for each game (`--cpu-minutes`), half of it for the pairings with
`heuristic`. Within a half, a pairing that has played enough deals leaves its time to slower ones.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cardlab.agents.catalog import agents_for
from cardlab.agents.entries import REFERENCE, Strength
from cardlab.arena.match import shares
from cardlab.arena.ratings import Outcome, rate
from cardlab.arena.shard import Match, Shard, play_deals
from cardlab.arena.workers import default_workers, stream_results
from cardlab.engine.registry import find_game, find_package, our_games
from cardlab.engine.statistics import mean_and_interval
from cardlab.engine.whole_files import whole_file
from cardlab.papers.code_digest import source_digest
from cardlab.papers.measurements import Ledger

SEED = 2026
MOST_DEALS = {True: 10_000, False: 1_000}  # of a pairing with the reference, and of any other
SHARD_SECONDS = 4.0  # of CPU time, about
MOST_DEALS_IN_A_SHARD = 500
SCORES = (0.0, 0.5, 1.0)  # of a game: lost, drawn, won

_seen: set[tuple[str, str]] = set()  # games and agents that this process has played


class Part(NamedTuple):
    """What a worker sends back: the first agent's halves of a point by deal and seating."""

    pairing: tuple[str, str]
    first: int
    halves: list[list[int]]  # 2: won, 1: drawn, 0: lost
    seconds: float  # of CPU time
    cold: bool  # kernels were loaded or compiled on the way, so `seconds` says little


def play_part(shard: Shard) -> Part:
    """Play some deals of a pairing in both seatings."""
    match = shard.match
    names = {(match.game, agent) for agent in match.agents}
    cold = not names <= _seen
    began = time.process_time()
    won = shares(play_deals(shard).returns)
    _seen.update(names)
    first = np.stack([won[:, 0, 0], won[:, 1, 1]], axis=1)  # the first agent is on seat 0, then 1
    halves = np.rint(2 * first).astype(int).tolist()
    pairing = (match.agents[0], match.agents[1])
    return Part(pairing, shard.first, halves, time.process_time() - began, cold)


def play_named(shard: Shard) -> tuple[str, Part]:
    """Play some deals, and say of which game."""
    return shard.match.game, play_part(shard)


class Pairing:
    """Two agents of a game: the deals they have played, those handed out, and the cost of one."""

    def __init__(self, game: str, agents: tuple[str, str]) -> None:
        """Begin without games."""
        self.agents = agents
        self.most = MOST_DEALS[REFERENCE in agents]
        self.match = Match.plan(game, agents, 2 * self.most, SEED)
        self.halves: dict[int, list[int]] = {}  # by deal
        self.handed: set[int] = set()
        self.seconds, self.timed = 0.0, 0  # CPU time, and the deals that took it

    def add(self, part: Part) -> None:
        """Count what a worker has played."""
        played = dict(enumerate(part.halves, part.first))
        self.halves.update(played)
        self.handed.update(played)
        if not part.cold:
            self.seconds += part.seconds
            self.timed += len(played)

    @property
    def pace(self) -> float | None:
        """Seconds of CPU time for a deal; None: not known yet."""
        return max(self.seconds / self.timed, 1e-6) if self.timed else None

    @property
    def is_waiting(self) -> bool:
        """Whether the cost is not known yet, and deals are being played that may show it."""
        return self.pace is None and len(self.handed) > len(self.halves)

    def next_shard(self, size: int) -> Shard:
        """Hand out the first deals that nobody has been given."""
        first = next(deal for deal in itertools.count() if deal not in self.handed)
        fitting = itertools.takewhile(
            lambda deal: deal < self.most and deal not in self.handed,
            range(first, first + size),
        )
        deals = list(fitting)
        self.handed.update(deals)
        return Shard(self.match, first, len(deals), False)


def fill(needs: Sequence[float], budget: float) -> list[float]:
    """Split a budget evenly; what some do not need goes to the others."""
    given = [0.0] * len(needs)
    for place, index in enumerate(sorted(range(len(needs)), key=needs.__getitem__)):
        given[index] = min(needs[index], budget / (len(needs) - place))
        budget -= given[index]
    return given


class Ladder:
    """All pairings of a game, and what their games say."""

    def __init__(self, name: str, out: Path, budget: float) -> None:
        """Read what an earlier run has kept."""
        self.name, self.budget = name, budget
        self.agents = [entry.usage for entry in agents_for(find_game(name))]
        pairs = itertools.combinations(self.agents, 2)
        self.pairings = {pair: Pairing(name, pair) for pair in pairs}
        self.ledger = Ledger(out / f"{name}.jsonl", source_digest(find_package(name)))
        for row in self.ledger.rows.values():
            part = Part(tuple(row[0]), *row[1:])
            if part.pairing in self.pairings:
                self.pairings[part.pairing].add(part)

    def add(self, part: Part) -> None:
        """Keep what a worker has played."""
        self.pairings[part.pairing].add(part)
        self.ledger.put(f"{' | '.join(part.pairing)} {part.first}+{len(part.halves)}", part)

    def targets(self) -> dict[tuple[str, str], float]:
        """Return how many deals each pairing can play within the budget."""
        found = {}
        for reference in (True, False):
            half = {
                pair: one for pair, one in self.pairings.items() if (REFERENCE in pair) == reference
            }
            needs = [(one.pace or 0.0) * one.most for one in half.values()]
            given = fill(needs, self.budget / 2)
            for (pair, one), seconds in zip(half.items(), given, strict=True):
                # A deal at the least: two agents that have never met have no rating.
                found[pair] = max(1.0, seconds / one.pace) if one.pace else float(one.most)
        return found

    def next_shard(self) -> Shard | None:
        """Return the next deals of the pairing that has the least of its deals; None: all done."""
        targets = self.targets()
        left = {
            pair: len(one.handed) / targets[pair]
            for pair, one in self.pairings.items()
            if len(one.handed) < min(one.most, int(targets[pair]))
        }
        if not left:
            return None
        # One whose cost is not known yet gets more only if there is nothing else to do.
        pair = min(left, key=lambda one: (self.pairings[one].is_waiting, left[one]))
        pairing = self.pairings[pair]
        size = 1
        if pairing.pace:
            size = min(MOST_DEALS_IN_A_SHARD, max(1, int(SHARD_SECONDS / pairing.pace)))
            size = min(size, int(targets[pair]) - len(pairing.handed))
        return pairing.next_shard(size)

    def table(self) -> dict[str, Any]:
        """Return the strength of every agent as plain data, the best first."""
        place = {agent: number for number, agent in enumerate(self.agents)}
        deals: dict[int, dict[Outcome, int]] = {}
        for (one, other), pairing in self.pairings.items():
            i, j = place[one], place[other]
            outcomes: tuple[Outcome, ...] = (((j,), (i,)), ((i, j),), ((i,), (j,)))
            for deal, halves in pairing.halves.items():
                counts = deals.setdefault(deal, {})
                for half in halves:
                    counts[outcomes[half]] = counts.get(outcomes[half], 0) + 1
        rated = rate(self.agents, deals, reference=REFERENCE)
        return {
            "game": self.name,
            "rules_version": find_game(self.name).rules_version,
            "seed": SEED,
            "reference": REFERENCE,
            "games": sum(sum(counts.values()) for counts in deals.values()),
            "agents": {
                one.agent: asdict(self._strength(one.agent, one.elo, one.interval)) for one in rated
            },
        }

    def _strength(self, agent: str, elo: float, interval: tuple[float, float] | None) -> Strength:
        bounds = [round(x) if np.isfinite(x) else None for x in interval or (np.inf, np.inf)]
        if agent == REFERENCE:
            return Strength(50.0, 0.0, 0, 0, 0, 0)
        pair = next(one for one in self.pairings if {agent, REFERENCE} == set(one))
        halves = np.array(list(self.pairings[pair].halves.values())) / 2
        score, bars = mean_and_interval(halves.mean(axis=1), 0, 1)
        score = score if pair[0] == agent else 1 - score
        margin = round(50 * (bars[1] - bars[0]), 1) if bars else None
        return Strength(round(100 * score, 1), margin, halves.size, round(elo), *bounds)


def all_shards(ladders: Sequence[Ladder], until: float) -> Iterator[Shard]:
    """Yield the work of all games side by side until it is done or the time has come."""
    while time.monotonic() < until:
        found = [shard for ladder in ladders if (shard := ladder.next_shard())]
        if not found:
            return
        yield from found


def read_arguments() -> argparse.Namespace:
    """Return what the command line says."""
    parser = argparse.ArgumentParser(description="measure the strength of every agent")
    parser.add_argument("games", nargs="*", help="games to measure (default: all)")
    parser.add_argument("--out", type=Path, default=Path("build/strength"), metavar="DIR")
    parser.add_argument("--workers", type=int, default=default_workers(), metavar="N")
    parser.add_argument("--cpu-minutes", type=float, default=30.0, help="budget of each game")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after so many")
    parser.add_argument("--ship", action="store_true", help="write into the games' folders, too")
    return parser.parse_args()


def write_table(ladder: Ladder, path: Path, ship: bool) -> None:
    """Write and print the strength of the agents of a game."""
    table = ladder.table()
    paths = [path, find_package(ladder.name).shipped("strength.json")] if ship else [path]
    for one in paths:
        with whole_file(one) as rough:
            rough.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
    print(f"\n{ladder.name}: {table['games']:,} games")
    for agent, values in table["agents"].items():
        strength = Strength(**values)
        print(f"  {agent:30} {strength.rating_text:>18}  {strength}")


def main() -> None:
    """Play what is missing, then write the tables."""
    began = time.monotonic()
    arguments = read_arguments()
    arguments.out.mkdir(parents=True, exist_ok=True)
    names = arguments.games or our_games()
    budget = 60 * arguments.cpu_minutes
    ladders = {
        name: Ladder(name, arguments.out, budget)
        for name in names
        if find_game(name).start().seats == 2
    }
    until = began + 60 * arguments.minutes
    spent = 0.0
    with suppress(KeyboardInterrupt):
        work = all_shards(list(ladders.values()), until)
        for name, part in stream_results(play_named, work, arguments.workers):
            ladders[name].add(part)
            spent += part.seconds
    for name, ladder in ladders.items():
        if all(pairing.halves for pairing in ladder.pairings.values()):
            write_table(ladder, arguments.out / f"{name}.json", arguments.ship)
    left = sum(ladder.next_shard() is not None for ladder in ladders.values())
    print(f"\n{spent / 60:.1f} CPU minutes in {(time.monotonic() - began) / 60:.1f} minutes")
    if left:
        print("there is more to play: run the same command again to resume")


if __name__ == "__main__":
    main()
