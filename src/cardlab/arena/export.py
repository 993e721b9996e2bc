"""Games out of the store: records as JSON lines, or one row a game as CSV or Parquet."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from cardlab.arena.shard import ACTION, Match, Played, full_record
from cardlab.arena.store import Entered, Store, StoreError, read_store
from cardlab.arena.stored_games import LeftOut
from cardlab.arena.tournament import Plan, read_entered
from cardlab.engine.arguments import read_path, shorten
from cardlab.engine.errors import CardlabError, require
from cardlab.engine.folders import require_folder
from cardlab.engine.records import Record
from cardlab.engine.registry import find_game

__all__ = ["FORMATS", "export_games"]

FORMATS = (".jsonl", ".csv", ".parquet")
ROWS = 5000  # of a group in a Parquet file
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # how a text begins that a spreadsheet calculates
Row = TypeVar("Row")


def export_games(
    store: Store,
    tournaments: Sequence[Entered],
    path: str | PathLike[str],
    progress: Callable[[int], None] | None = None,
    *,
    trust: bool = False,
) -> int:
    """Write the games of tournaments to a .jsonl, .csv or .parquet file; return their number.

    A .jsonl file has full records, which need the rules: rules from outside need `trust=True`.
    """
    store, path = read_store(store), read_path(path)
    if isinstance(tournaments, str) or not isinstance(tournaments, Sequence):
        raise CardlabError(
            f"tournaments must be a list of those in a store, got {shorten(tournaments)}; "
            "store.tournaments() returns all"
        )
    tournaments = [read_entered(one) for one in tournaments]
    if path.suffix not in FORMATS:
        raise CardlabError(
            f"{path} has an unsupported extension; use {', '.join(FORMATS[:-1])} or {FORMATS[-1]}"
        )
    if path.suffix == ".parquet":
        require("Parquet", "papers", "pyarrow")
    if not any(store.count(one.id) for one in tournaments):
        raise StoreError(
            f"{store.shown} holds no games to write to {path}; play some with `cardlab tournament`"
        )
    fresh = path.with_name(f".{path.name}.{os.getpid()}")  # a broken export leaves nothing behind
    count = 0

    def counted(rows: Iterator[Row]) -> Iterator[Row]:
        nonlocal count
        for row in rows:
            count += 1
            if progress and count % ROWS == 0:
                progress(count)
            yield row

    require_folder(path)
    try:
        if path.suffix == ".jsonl":
            _write_records(fresh, counted(_records(store, tournaments, trust)))
        else:
            write = _write_csv if path.suffix == ".csv" else _write_parquet
            write(fresh, counted(_rows(store, tournaments)))
        fresh.replace(path)
    except OSError as error:
        raise CardlabError(
            f"{path} cannot be written: {error.strerror}; name another file"
        ) from None
    finally:
        fresh.unlink(missing_ok=True)
    return count


def _records(store: Store, tournaments: list[Entered], trust: bool) -> Iterator[Record]:
    """Yield the full record of every game, without those that do not follow the rules."""
    for entered in tournaments:
        try:
            game = find_game(entered.game, trust=trust)
        except CardlabError as error:
            raise CardlabError(
                f"tournament {entered.name!r}: {error}; .csv and .parquet need no rules"
            ) from None
        if entered.settings["rules"] != game.rules_version:
            raise CardlabError(
                f"tournament {entered.name!r} follows rules version "
                f"{entered.settings['rules']} of {game.name}, this program plays "
                f"{game.rules_version}; export it with the version that wrote it"
            )
        matches, left_out = Plan.of(entered).matches, LeftOut(store.shown)
        for pairing, played in store.games(entered.id, matches):
            match = matches[pairing]
            try:
                yield full_record(game, match, played)
            except CardlabError as error:
                place = f"pairing {pairing}, deal {played.deal}, rotation {played.rotation}"
                left_out.add(place, error)
        left_out.report(entered.name, "all others are written")


def _rows(store: Store, tournaments: list[Entered]) -> Iterator[dict[str, Any]]:
    """Yield one row a game; this needs no rules."""
    for entered in tournaments:
        matches = Plan.of(entered).matches
        for pairing, played in store.games(entered.id, matches):
            yield _row(entered, matches[pairing], pairing, played)


def _write_records(path: Path, records: Iterator[Record]) -> None:
    with path.open("w") as file:
        for record in records:
            file.write(record.to_line() + "\n")


def _row(entered: Entered, match: Match, pairing: int, played: Played) -> dict[str, Any]:
    return {
        "tournament": entered.name,
        "game": entered.game,
        "rules": entered.settings["rules"],
        "options": json.dumps(entered.settings["options"], sort_keys=True),
        "pairing": pairing,
        "deal": played.deal,
        "rotation": played.rotation,
        "seed": None if match.salt else played.seed,
        "seats": json.dumps(match.seating(played.rotation)),
        "returns": json.dumps(played.returns),
        "points": json.dumps(played.points),
        "plies": len(played.actions) // ACTION.itemsize,
        "actions": json.dumps(np.frombuffer(played.actions, dtype=ACTION).tolist()),
        "forfeit": played.forfeit,
        "reason": played.reason,
        "nodes": played.nodes,
    }


def _write_csv(path: Path, rows: Iterator[dict[str, Any]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer: csv.DictWriter[str] | None = None
        for row in rows:
            if writer is None:
                writer = csv.DictWriter(file, list(row))
                writer.writeheader()
            writer.writerow({name: _plain_cell(value) for name, value in row.items()})


def _plain_cell(value: object) -> object:
    """Return a cell that a spreadsheet does not calculate: such text gets an apostrophe."""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value


def _write_parquet(path: Path, rows: Iterator[dict[str, Any]]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    numbers = ("rules", "pairing", "deal", "rotation", "seed", "plies", "forfeit", "nodes")
    writer = None
    while group := list(islice(rows, ROWS)):
        schema = pa.schema(
            [(name, pa.int64() if name in numbers else pa.string()) for name in group[0]]
        )
        writer = writer or pq.ParquetWriter(path, schema)
        writer.write_table(pa.Table.from_pylist(group, schema=schema))
    if writer:
        writer.close()
