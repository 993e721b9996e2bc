"""Measurements that survive an interruption: every stretch of games is kept once it is played.

One JSON line for each stretch. A line says which source code it was played by: after a change of
the code nothing old is taken for new. A line torn by a crash is dropped.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import cardlab
from cardlab.arena.match import Match, Shard, play_deals
from cardlab.arena.workers import stream_results
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Array
from cardlab.engine.statistics import mean_and_margin

__all__ = ["Games", "Ledger", "measure", "source_digest"]

STRETCH = 20  # deals
KINDS = ("*.py", "*.npz", "*.onnx")  # what decides how an agent plays


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


@cache
def source_digest() -> str:
    """Return a digest of the package's source code, its tables and its models."""
    root = Path(cardlab.__file__).parent
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(one for kind in KINDS for one in root.rglob(kind)):
        if "papers" not in path.relative_to(root).parts:  # reports may be reworded
            digest.update(path.read_bytes())
    return digest.hexdigest()


class Ledger:
    """What has been measured so far, in a file that is only ever appended to."""

    def __init__(self, path: Path) -> None:
        """Read what an earlier run has left."""
        self.path = path
        self.rows: dict[str, Any] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
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
                if code == source_digest():
                    self.rows[key] = data

    def put(self, key: str, data: Any) -> None:
        """Keep a result for good."""
        line = json.dumps({"key": key, "code": source_digest(), "data": data})
        with self.path.open("a") as file:
            file.write(line + "\n")
            file.flush()
            os.fsync(file.fileno())
        self.rows[key] = json.loads(line)["data"]

    def get(self, key: str, compute: Callable[[], Any]) -> Any:
        """Return a kept result, or compute and keep it."""
        if key not in self.rows:
            self.put(key, compute())
        return self.rows[key]


@dataclass(frozen=True)
class _Part:
    key: str
    task: Shard


def _play(part: _Part) -> tuple[str, dict[str, Any]]:
    chunk = play_deals(part.task)
    data = {
        "returns": chunk.returns.tolist(),
        "points": chunk.points.tolist(),
        "seconds": chunk.seconds.tolist(),
        "decisions": chunk.decisions.tolist(),
    }
    return part.key, data


def measure(
    matches: Mapping[str, Match],
    ledger: Ledger,
    *,
    workers: int,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Games]:
    """Play all matches that the ledger does not hold; return the games of every one."""
    parts: dict[str, list[_Part]] = {}
    for name, match in matches.items():
        spec = f"{match.game} {' '.join(match.agents)} seed={match.seed} {dict(match.options)}"
        parts[name] = [
            _Part(
                f"{spec} {first}+{min(STRETCH, match.deals - first)}",
                Shard(match, first, min(STRETCH, match.deals - first), False),
            )
            for first in range(0, match.deals, STRETCH)
        ]
    every = {part.key: part for one in parts.values() for part in one}
    left = [part for part in every.values() if part.key not in ledger.rows]
    done = len(every) - len(left)
    if progress:
        progress(done, len(every))
    for key, data in stream_results(_play, left, workers):
        ledger.put(key, data)
        done += 1
        if progress:
            progress(done, len(every))
    out = {}
    for name, match in matches.items():
        rows = [ledger.rows[part.key] for part in parts[name]]
        out[name] = Games(
            match,
            np.concatenate([np.array(row["returns"]) for row in rows]),
            np.concatenate([np.array(row["points"]) for row in rows]),
            np.sum([row["seconds"] for row in rows], axis=0),
            np.sum([row["decisions"] for row in rows], axis=0),
        )
    return out
