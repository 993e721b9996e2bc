"""Rooms in the store: one row each, written again after every move, by one thread in groups."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import sqlalchemy as sql
from sqlalchemy.exc import DBAPIError

from cardlab.arena.shard import ACTION
from cardlab.arena.store import WEB_TABLES, Store
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Game

RETRY_SECONDS = 1
GATHER_SECONDS = 0.05
RESULT_SECONDS = 1.0
FORGET_DAYS = 7  # a table at which nobody ever moved


@dataclass(frozen=True)
class StoredRoom:
    """A table as the store holds it."""

    id: str
    game: str
    rules: int
    options: dict[str, Any]
    seats: list[dict[str, Any]]
    seed: int
    hints: bool
    adviser: str | None
    orders: list[list[int]]
    actions: list[int]
    undone: int
    begun: str
    changed: str
    returns: list[float] | None
    points: list[float] | None


class RoomWriter:
    """Writes tables in the background and reads them back."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.rows: dict[str, dict[str, Any]] = {}  # to be written; a later row replaces an earlier
        self.writing: dict[str, dict[str, Any]] = {}  # on their way
        self.changed = threading.Condition()
        self.hurry = 0  # how many wait for what is being written
        self.ended = False
        self.trouble: str | None = None
        self.line: sql.Connection | None = None  # of the writing thread
        self.thread = threading.Thread(target=self._write, name="cardlab room writer", daemon=True)
        self.thread.start()

    def save(self, row: dict[str, Any]) -> None:
        """Have a table written soon."""
        with self.changed:
            self.rows[row["id"]] = row
            self.changed.notify_all()

    def flush(self, seconds: float = 10) -> bool:
        """Wait until everything is written."""
        return self._wait(lambda: not self.rows and not self.writing, seconds)

    def close(self) -> None:
        """Write what is left and stop."""
        self.flush()
        with self.changed:
            self.ended = True
            self.changed.notify_all()
        self.thread.join(10)

    def _wait(self, done: Callable[[], bool], seconds: float) -> bool:
        with self.changed:
            self.hurry += 1
            self.changed.notify_all()
            try:
                return self.changed.wait_for(done, seconds)
            finally:
                self.hurry -= 1

    def load(self, table: str) -> StoredRoom | None:
        """Return a table by its id."""
        self._wait(lambda: table not in self.rows and table not in self.writing, 10)
        with self.store.reading() as at:
            row = at.execute(sql.select(WEB_TABLES).where(WEB_TABLES.c.id == table)).first()
        return None if row is None else _stored(row)

    def _wait_for_results(self) -> None:
        """Wait until games that have just ended are in the store, but not for long."""
        with self.changed:
            pending = {**self.writing, **self.rows}
            ended = {name for name, row in pending.items() if row["returns"] is not None}

        def written() -> bool:
            return self.trouble is not None or not ended & (self.rows.keys() | self.writing.keys())

        self._wait(written, RESULT_SECONDS)

    def finished(self, most: int) -> list[StoredRoom]:
        """Return finished tables, the latest first."""
        self._wait_for_results()
        query = sql.select(WEB_TABLES).where(WEB_TABLES.c.returns.is_not(None))
        with self.store.reading() as at:
            rows = at.execute(query.order_by(WEB_TABLES.c.changed.desc()).limit(most)).all()
        return [_stored(row) for row in rows]

    def results(self) -> list[tuple[str, list[dict[str, Any]], list[float], bool]]:
        """Return game, seats, returns and whether help was allowed, of every finished table."""
        self._wait_for_results()
        columns = (WEB_TABLES.c[name] for name in ("game", "seats", "returns", "hints", "undone"))
        query = sql.select(*columns).where(WEB_TABLES.c.returns.is_not(None))
        with self.store.reading() as at:
            return [
                (
                    row.game,
                    json.loads(row.seats),
                    json.loads(row.returns),
                    bool(row.hints or row.undone),
                )
                for row in at.execute(query)
            ]

    def forget(self) -> int:
        """Delete tables at which nobody has moved for a while; return how many."""
        then = (datetime.now(UTC) - timedelta(days=FORGET_DAYS)).isoformat(timespec="seconds")
        empty = WEB_TABLES.c.actions == b""
        with self.store.engine.begin() as at:
            gone = at.execute(WEB_TABLES.delete().where(empty, WEB_TABLES.c.changed < then))
        return int(gone.rowcount)

    def _write(self) -> None:
        """Write whatever has gathered in one transaction, then the next; failures are repeated."""
        while True:
            with self.changed:
                self.changed.wait_for(lambda: self.rows or self.ended)
                if self.ended and not self.rows:
                    self._hang_up()
                    return
                # Whatever comes within a moment is written together: one transaction costs as
                # much as many rows.
                self.changed.wait_for(lambda: self.hurry or self.ended, GATHER_SECONDS)
                self.writing, self.rows = self.rows, {}
            try:
                self._put(list(self.writing.values()))
                self.trouble = None
            except (DBAPIError, CardlabError) as error:
                self.trouble = str(error).splitlines()[0]
                with self.changed:
                    self.rows = {**self.writing, **self.rows}  # what came meanwhile is newer
                    self.changed.wait_for(lambda: self.ended, RETRY_SECONDS)
                    if self.ended:
                        return  # what cannot be written now is lost
            with self.changed:
                self.writing = {}
                self.changed.notify_all()

    def _put(self, rows: list[dict[str, Any]]) -> None:
        if self.line is None:
            self.line = self.store.engine.connect()
            if self.store.engine.dialect.name == "sqlite":
                # A killed server loses nothing this way, only a power cut may cost the last move.
                driver: Any = self.line.connection.driver_connection
                driver.execute("PRAGMA synchronous = NORMAL")
        try:
            with self.line.begin():
                self.store.put(self.line, WEB_TABLES, rows)
        except DBAPIError:
            self._hang_up()
            raise

    def _hang_up(self) -> None:
        if self.line is not None:
            self.line.invalidate()
            self.line.close()
            self.line = None


def row_of(
    game: Game,
    *,
    orders: list[Any],
    actions: list[int],
    options: dict[str, Any],
    seats: list[dict[str, Any]],
    returns: list[float] | None,
    points: list[float] | None,
    **rest: Any,
) -> dict[str, Any]:
    """Return what the store keeps of a table."""
    return {
        **rest,
        "game": game.name,
        "rules": game.rules_version,
        "options": json.dumps(options),
        "seats": json.dumps(seats),
        "decks": len(orders),
        "orders": b"".join(np.asarray(order, dtype=np.uint8).tobytes() for order in orders),
        "actions": np.array(actions, dtype=ACTION).tobytes(),
        "changed": datetime.now(UTC).isoformat(timespec="seconds"),
        "returns": None if returns is None else json.dumps(returns),
        "points": None if points is None else json.dumps(points),
    }


def _stored(row: Any) -> StoredRoom:
    fields = dict(row._mapping)
    decks = fields.pop("decks")
    orders = np.frombuffer(bytes(row.orders), dtype=np.uint8).reshape(decks, -1 if decks else 1)
    fields |= {"orders": orders.tolist(), "hints": bool(row.hints)}
    fields["actions"] = np.frombuffer(bytes(row.actions), dtype=ACTION).tolist()
    for name in ("options", "seats", "returns", "points"):
        fields[name] = None if fields[name] is None else json.loads(fields[name])
    return StoredRoom(**fields)
