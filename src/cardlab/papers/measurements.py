"""Measurements that survive an interruption: every shard of games is kept once it is played.

One JSON line for each shard. A line says which source code it was played by: after a change of
the code nothing old is taken for new. A line torn by a crash is dropped.
"""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from cardlab.arena.match import Match, Shard, play_deals
from cardlab.arena.workers import stream_results
from cardlab.engine.errors import CardlabError
from cardlab.engine.folders import make_folder
from cardlab.engine.game import Array
from cardlab.engine.statistics import mean_and_margin

__all__ = ["Games", "Ledger", "measure"]

SHARD = 20  # deals
COLUMNS = ("returns", "points", "seconds", "decisions")

Task = TypeVar("Task")
Kept = TypeVar("Kept")


@dataclass(frozen=True)
class Games:
    """All games of a match: returns and points by deal, rotation and seat, and times."""

    match: Match
    returns: Array
    points: Array
    seconds: Array
    decisions: Array

    def score(self, place: int = 0) -> tuple[float, float]:
        """Return an agent's score in percent over all its seats, and half its 95 % interval.

        A win counts 1, a tie an equal share.
        """
        seats = self.returns.shape[2]
        return mean_and_margin(self._of(place, 100 * (1 + (seats - 1) * self.returns) / seats))

    def gain(self, place: int = 0) -> tuple[float, float]:
        """Return an agent's points a game over all its seats, and half its 95 % interval."""
        return mean_and_margin(self._of(place, self.points))

    def _of(self, place: int, values: Array) -> Array:
        """Return the mean over rotations and seats of one agent for every deal."""
        lineup = self.match.lineup
        seats = len(lineup)
        seat, rotation = np.arange(seats)[None, :], np.arange(seats)[:, None]
        mine = np.array(lineup)[(seat - rotation) % seats] == place
        mean: Array = values[:, mine].mean(axis=1)
        return mean

    def ordered(self, rotation: int) -> tuple[int, int, int]:
        """Return wins of seat 0, wins of seat 1 and ties in one rotation."""
        first = self.returns[:, rotation, 0]
        return int((first > 0).sum()), int((first < 0).sum()), int((first == 0).sum())

    def ordered_points(self, rotation: int) -> tuple[int, int]:
        """Return the points of seat 0 and of seat 1 in one rotation."""
        first, second = self.points[:, rotation].sum(axis=0)
        return int(first), int(second)

    @property
    def games(self) -> int:
        """How many games were played."""
        return int(self.returns.shape[1]) * len(self.returns)

    def milliseconds(self, place: int = 0) -> float:
        """Return an agent's mean time for a decision."""
        return 1000 * float(self.seconds[place]) / max(1, int(self.decisions[place]))


class Ledger:
    """What has been measured so far, in a file that is only ever appended to."""

    def __init__(self, path: Path, code: str = "") -> None:
        """Read what an earlier run of the same code has left."""
        self.path, self.code = path, code
        self.rows: dict[str, Any] = {}
        make_folder(path.parent)
        if path.exists():
            text = path.read_bytes()
            whole = text[: text.rfind(b"\n") + 1]
            if whole != text:
                os.truncate(path, len(whole))
            for line in whole.splitlines():
                try:
                    row = json.loads(line)
                    key, code, data = row["key"], row["code"], row["data"]
                except (ValueError, KeyError, TypeError):
                    raise CardlabError(f"{path} is damaged; remove it to start again") from None
                if code == self.code:
                    self.rows[key] = data

    def put(self, key: str, data: Any) -> None:
        """Keep a result for good."""
        line = json.dumps({"key": key, "code": self.code, "data": data})
        with self.path.open("a") as file:
            file.write(line + "\n")
            file.flush()
            os.fsync(file.fileno())
        self.rows[key] = json.loads(line)["data"]

    def get(self, key: str, compute: Callable[[], Kept]) -> Kept:
        """Return a kept result, or compute and keep it."""
        if key not in self.rows:
            self.put(key, compute())
        kept: Kept = self.rows[key]
        return kept

    def complete(
        self,
        measured: Callable[[Task], Any],
        groups: Mapping[str, Mapping[str, Task]],
        workers: int,
        progress: Callable[[int, int], None] | None = None,
    ) -> dict[str, list[Any]]:
        """Measure all tasks, by key, that are not kept yet; return the results of every group."""
        tasks = {key: task for group in groups.values() for key, task in group.items()}
        left = [(key, task) for key, task in tasks.items() if key not in self.rows]
        done = len(tasks) - len(left)
        if progress:
            progress(done, len(tasks))
        for key, data in stream_results(functools.partial(_keyed, measured), left, workers):
            self.put(key, data)
            done += 1
            if progress:
                progress(done, len(tasks))
        return {name: [self.rows[key] for key in group] for name, group in groups.items()}


def _keyed(measured: Callable[[Task], Any], task: tuple[str, Task]) -> tuple[str, Any]:
    return task[0], measured(task[1])


def _play(shard: Shard) -> dict[str, Any]:
    played = play_deals(shard)
    return {name: getattr(played, name).tolist() for name in COLUMNS}


def measure(
    matches: Mapping[str, Match],
    ledger: Ledger,
    *,
    workers: int,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Games]:
    """Play all matches that the ledger does not hold; return the games of every one."""
    shards: dict[str, dict[str, Shard]] = {}
    for name, match in matches.items():
        spec = f"{match.game} {' '.join(match.agents)} seed={match.seed} {dict(match.options)}"
        counts = {at: min(SHARD, match.deals - at) for at in range(0, match.deals, SHARD)}
        shards[name] = {
            f"{spec} {at}+{count}": Shard(match, at, count, False) for at, count in counts.items()
        }
    out = {}
    for name, rows in ledger.complete(_play, shards, workers, progress).items():
        returns, points = (np.concatenate([np.array(row[c]) for row in rows]) for c in COLUMNS[:2])
        seconds, decisions = (np.sum([row[c] for row in rows], axis=0) for c in COLUMNS[2:])
        out[name] = Games(matches[name], returns, points, seconds, decisions)
    return out
