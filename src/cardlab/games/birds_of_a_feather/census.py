"""A census of Birds of a Feather: every seed of a range settled, a row for each.

Rows are seed, solvable, nodes and disconnected (no solution because the top cards fall into groups
that never fit). They go to a file in the order of seeds, the same with any number of workers,
and an interrupted or killed census resumes when the same command is run again:

    CSV       rows are appended; a last line that was not finished is cut off
    Parquet   rows are kept in `NAME.parts/`, a file for every chunk, put there by rename, and
              joined when all are there
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from cardlab.arena.workers import stream_results
from cardlab.engine.errors import CardlabError
from cardlab.engine.folders import require_folder
from cardlab.engine.game import Array
from cardlab.engine.locks import only_one
from cardlab.engine.seeding import read_seed
from cardlab.games.birds_of_a_feather.solvers.solver import solve_seeds

CHUNK = 5_000
HARDEST = 10
MOST_SEEDS = 100_000_000
SEEDS_PER_SECOND = 20_000  # a guess, to tell whether other processes are worth starting
COLUMNS = ("seed", "solvable", "nodes", "disconnected")
HEADER = (",".join(COLUMNS) + "\n").encode()


class Rows(NamedTuple):
    """What was found for some seeds in a row."""

    seed: Array
    solvable: Array
    nodes: Array
    disconnected: Array

    def __len__(self) -> int:
        return len(self.seed)


@dataclass(frozen=True)
class Census:
    """All rows of a range, and how long those took that this run has added."""

    rows: Rows
    added: int
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as plain data."""
        rows = self.rows
        hardest = np.argsort(-rows.nodes, kind="stable")[:HARDEST]
        return {
            "first": int(rows.seed[0]),
            "seeds": len(rows),
            "unsolvable": int(np.count_nonzero(~rows.solvable)),
            "disconnected": int(np.count_nonzero(rows.disconnected)),
            "nodes": {
                "mean": float(rows.nodes.mean()),
                "median": float(np.median(rows.nodes)),
                "max": int(rows.nodes.max()),
            },
            "hardest": [
                {
                    "seed": int(rows.seed[i]),
                    "solvable": bool(rows.solvable[i]),
                    "nodes": int(rows.nodes[i]),
                }
                for i in hardest
            ],
            "added": self.added,
            "seconds": self.seconds,
        }


def parse_range(text: str) -> range:
    """Return the seeds that `A:B` means: A, A + 1, ... up to but not including B."""
    first, _, stop = text.partition(":")
    try:
        seeds = range(read_seed(int(first)), read_seed(int(stop)))
    except ValueError as error:
        if isinstance(error, CardlabError):
            raise
        raise CardlabError(
            f"--seeds {text} is no range of seeds; write it as 0:10000, the last one not included"
        ) from None
    if not seeds:
        raise CardlabError(f"--seeds {text} holds no seed; the second number must be the larger")
    if seeds[-1] - seeds[0] >= MOST_SEEDS:
        raise CardlabError(f"--seeds {text} holds more than {MOST_SEEDS:,} seeds; take a part")
    return seeds


def take_census(
    seeds: range,
    *,
    out: Path | None = None,
    workers: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Census:
    """Settle a range of seeds, resuming from the rows in `out`, and return all rows."""
    if out is not None:
        require_folder(out)
        with only_one(out):
            return _take_census(seeds, out, workers, progress)
    return _take_census(seeds, None, workers, progress)


def _take_census(
    seeds: range, out: Path | None, workers: int, progress: Callable[[int, int], None] | None
) -> Census:
    store = _store(out)
    try:
        before = store.read()
        _check_start(before, seeds, out)
        blocks = [before]
        done = len(before)
        left = seeds[done:]
        tasks = [left[i : i + CHUNK] for i in range(0, len(left), CHUNK)]
        if tasks:
            store.append(())  # a place that cannot be written to is found before the first deal
            _settle(range(0, 1))  # compiles here, so that workers load
        began = time.perf_counter()
        for rows in _in_order(tasks, workers, len(left) / SEEDS_PER_SECOND):
            store.append([rows])
            blocks.append(rows)
            done += len(rows)
            if progress:
                progress(done, len(seeds))
        seconds = time.perf_counter() - began
        store.finish()
    except OSError as error:
        raise CardlabError(f"{out} cannot be written ({error.strerror})") from None
    rows = Rows(*(np.concatenate(columns) for columns in zip(*blocks, strict=True)))
    return Census(rows, len(left), seconds)


def _settle(seeds: range) -> Rows:
    solvable, nodes, disconnected = solve_seeds(seeds.start, len(seeds))
    return Rows(np.arange(seeds.start, seeds.stop), solvable, nodes, disconnected)


def _in_order(tasks: list[range], workers: int, expected_seconds: float) -> Iterator[Rows]:
    """Yield the rows of every task in the order of tasks, not of arrival."""
    early: dict[int, Rows] = {}
    waiting = iter(tasks)
    wanted = next(waiting, None)
    for rows in stream_results(_settle, tasks, workers, expected_seconds):
        early[int(rows.seed[0])] = rows
        while wanted is not None and wanted.start in early:
            yield early.pop(wanted.start)
            wanted = next(waiting, None)


def _check_start(rows: Rows, seeds: range, out: Path | None) -> None:
    wanted = np.arange(seeds.start, seeds.stop)
    if len(rows) > len(wanted) or not np.array_equal(rows.seed, wanted[: len(rows)]):
        held = f"seeds {rows.seed[0]}:{int(rows.seed[-1]) + 1}"
        raise CardlabError(
            f"{out} holds {held}, which is no beginning of {seeds.start}:{seeds.stop}; "
            "name another file"
        )


# Where rows are kept


def is_seed(text: str) -> bool:
    """Return whether a file is named by a seed."""
    return text.removeprefix("-").isdigit()


class _Store(Protocol):
    def read(self) -> Rows:
        """Return the rows that are kept already."""

    def append(self, blocks: Iterable[Rows]) -> None:
        """Append rows and write them to the disk."""

    def finish(self) -> None:
        """Leave one whole file behind."""


def _store(out: Path | None) -> _Store:
    if out is None:
        return _Nowhere()
    if out.suffix == ".csv":
        return _Csv(out)
    if out.suffix == ".parquet":
        try:
            import pyarrow  # noqa: F401 - asked for here, before the first deal
        except ImportError:
            raise CardlabError(
                "Parquet files need pyarrow: pip install 'cardlab[papers]', or name a file that "
                "ends in .csv"
            ) from None
        return _Parquet(out)
    raise CardlabError(f"{out} ends in neither .csv nor .parquet; name a file that does")


def _no_rows() -> Rows:
    number, truth = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.bool_)
    return Rows(number, truth, number, truth)


class _Nowhere:
    """Keeps no rows."""

    def read(self) -> Rows:
        return _no_rows()

    def append(self, blocks: Iterable[Rows]) -> None:
        pass

    def finish(self) -> None:
        pass


@dataclass(frozen=True)
class _Csv:
    """Rows as lines of text; true is 1, false 0."""

    path: Path

    def read(self) -> Rows:
        if not self.path.exists():
            return _no_rows()
        with self.path.open("r+b") as file:
            text = file.read()
            whole = text.rfind(b"\n") + 1
            if not (text.startswith(HEADER) if whole else HEADER.startswith(text)):
                raise CardlabError(f"{self.path} is not a census; name another file")
            file.truncate(whole)
        if whole <= len(HEADER):
            return _no_rows()
        try:
            table = np.loadtxt(
                self.path, dtype=np.int64, delimiter=",", skiprows=1, ndmin=2, comments=None
            )
            seed, solvable, nodes, disconnected = table.T
        except ValueError:
            raise CardlabError(f"{self.path} is not a census; name another file") from None
        return Rows(seed, solvable != 0, nodes, disconnected != 0)

    def append(self, blocks: Iterable[Rows]) -> None:
        with self.path.open("a", encoding="ascii", newline="") as file:
            if file.tell() == 0:
                file.write(HEADER.decode())
            for rows in blocks:
                lines = zip(*(column.astype(np.int64).tolist() for column in rows), strict=True)
                file.write("".join(f"{a},{b},{c},{d}\n" for a, b, c, d in lines))

    def finish(self) -> None:
        pass


@dataclass(frozen=True)
class _Parquet:
    """Rows in files named by their first seed, joined when all are there."""

    path: Path

    @property
    def folder(self) -> Path:
        return self.path.with_name(f"{self.path.name}.parts")

    def parts(self) -> list[Path]:
        found = [part for part in self.folder.glob("*.parquet") if is_seed(part.stem)]
        return sorted(found, key=lambda part: int(part.stem))

    def read(self) -> Rows:
        import pyarrow as pa
        import pyarrow.parquet as pq

        if self.path.exists():  # then parts, if any, are those that were joined
            shutil.rmtree(self.folder, ignore_errors=True)
        blocks = [_no_rows()]
        for part in [self.path] if self.path.exists() else self.parts():
            try:
                table = pq.read_table(part, columns=list(COLUMNS))
            except (pa.ArrowException, ValueError):
                raise CardlabError(f"{part} is not a census; name another file") from None
            blocks.append(Rows(*(table[name].to_numpy() for name in COLUMNS)))
        return Rows(*(np.concatenate(columns) for columns in zip(*blocks, strict=True)))

    def append(self, blocks: Iterable[Rows]) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        self.folder.mkdir(exist_ok=True)
        if self.path.exists():  # a smaller census is the first part of a larger one
            first = pq.read_table(self.path, columns=["seed"])["seed"][0]
            os.replace(self.path, self.folder / f"{first}.parquet")
        for rows in blocks:
            unfinished = self.folder / "unfinished"
            pq.write_table(pa.table(dict(zip(COLUMNS, rows, strict=True))), unfinished)
            os.replace(unfinished, self.folder / f"{rows.seed[0]}.parquet")

    def finish(self) -> None:
        import pyarrow.parquet as pq

        parts = self.parts()
        if not self.path.exists():
            unfinished = self.folder / "unfinished"
            with pq.ParquetWriter(unfinished, pq.read_schema(parts[0])) as writer:
                for part in parts:
                    writer.write_table(pq.read_table(part))
            os.replace(unfinished, self.path)
        shutil.rmtree(self.folder, ignore_errors=True)
