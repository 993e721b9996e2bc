"""Games out of the store: records as JSON lines, or one row a game as CSV or Parquet."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from cardlab.arena.shard import ACTION, Match, Played, full_record
from cardlab.arena.store import Entered, Store
from cardlab.arena.tournament import Plan
from cardlab.engine.errors import CardlabError, require
from cardlab.engine.registry import find_game

__all__ = ["FORMATS", "export_games"]

FORMATS = (".jsonl", ".csv", ".parquet")
ROWS = 5000  # of a group in a Parquet file


def export_games(
    store: Store,
    tournaments: list[Entered],
    path: Path,
    progress: Callable[[int], None] | None = None,
) -> int:
    """Write the games of tournaments to a file, whose ending says how; return how many."""
    if path.suffix not in FORMATS:
        raise CardlabError(
            f"{path} has none of the endings {', '.join(FORMATS)}, which say how to write it"
        )
    if path.suffix == ".parquet":
        require("Parquet", "papers", "pyarrow")
    if not any(store.count(one.id) for one in tournaments):
        raise CardlabError(
            f"{store.shown} holds no games to write to {path}; play some with `cardlab tournament`"
        )
    fresh = path.with_name(f".{path.name}.{os.getpid()}")  # a broken export leaves nothing behind
    write = {".jsonl": _write_records, ".csv": _write_csv, ".parquet": _write_parquet}
    count = 0

    def counted(rows: Iterator[Any]) -> Iterator[Any]:
        nonlocal count
        for row in rows:
            count += 1
            if progress and count % ROWS == 0:
                progress(count)
            yield row

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write[path.suffix](fresh, counted(_games(store, tournaments)))
        fresh.replace(path)
    except OSError as error:
        raise CardlabError(
            f"{path} cannot be written: {error.strerror}; name another file"
        ) from None
    finally:
        fresh.unlink(missing_ok=True)
    return count


def _games(
    store: Store, tournaments: list[Entered]
) -> Iterator[tuple[Entered, Match, int, Played]]:
    for entered in tournaments:
        matches = Plan.of(entered).matches
        for pairing, played in store.games(entered.id):
            yield entered, matches[pairing], pairing, played


def _write_records(path: Path, games: Iterator[tuple[Entered, Match, int, Played]]) -> None:
    with path.open("w") as file:
        for entered, match, _, played in games:
            game = find_game(entered.game)
            if entered.settings["rules"] != game.rules_version:
                raise CardlabError(
                    f"tournament {entered.name!r} follows rules version "
                    f"{entered.settings['rules']} of {game.name}, this program plays "
                    f"{game.rules_version}; export it with the version that wrote it"
                )
            file.write(full_record(game, match, played).to_line() + "\n")


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


def _write_csv(path: Path, games: Iterator[tuple[Entered, Match, int, Played]]) -> None:
    with path.open("w", newline="") as file:
        writer: csv.DictWriter[str] | None = None
        for one in games:
            row = _row(*one)
            if writer is None:
                writer = csv.DictWriter(file, list(row))
                writer.writeheader()
            writer.writerow(row)


def _write_parquet(path: Path, games: Iterator[tuple[Entered, Match, int, Played]]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    numbers = ("rules", "pairing", "deal", "rotation", "seed", "plies", "forfeit", "nodes")
    writer = None
    while rows := [_row(*one) for one in islice(games, ROWS)]:
        schema = pa.schema(
            [(name, pa.int64() if name in numbers else pa.string()) for name in rows[0]]
        )
        writer = writer or pq.ParquetWriter(path, schema)
        writer.write_table(pa.Table.from_pylist(rows, schema=schema))
    if writer:
        writer.close()
