"""Tables in the store: one row each, rewritten after every move, in batches by one thread.

Every row that is handed over gets a number; `committed` is called with the numbers that have
reached the store. A move is acknowledged only then, so that no acknowledged move can be lost.
"""

from __future__ import annotations

import itertools
import json
import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple, TypeVar

import numpy as np
import sqlalchemy as sql

from cardlab.arena.shard import ACTION
from cardlab.arena.store import WEB_TABLES, Store
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Game

LOG = logging.getLogger(__name__)
RETRY_SECONDS = 1
GATHER_SECONDS = 0.005
BUSY_SECONDS = 5  # how long the writing thread waits for another writer of the database
RESULT_SECONDS = 1.0
BEHIND_SECONDS = 2.0  # after which the store counts as behind
FORGET_DAYS = 7  # after which a table without a single move is deleted
TIDY_SECONDS = 86_400  # between two searches for such tables
Found = TypeVar("Found")
UNREADABLE = (ArithmeticError, AttributeError, CardlabError, LookupError, TypeError, ValueError)


class DamagedTable(CardlabError):
    """A row of the store that cannot be read as a table."""


class Unsaved(NamedTuple):
    """A row that waits to be written to the store."""

    number: int
    since: float
    row: dict[str, Any]


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
    dealing: dict[str, Any] | None


class RoomWriter:
    """Writes tables in the background and reads them back."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.rows: dict[str, Unsaved] = {}  # to be written; a later row replaces an earlier one
        self.writing: dict[str, Unsaved] = {}  # being written
        self.dropped: set[str] = set()  # being written, but not to be tried again
        self.numbers = itertools.count(1)
        self.committed: Callable[[dict[str, int]], None] = lambda done: None
        self.changed = threading.Condition()
        self.hurry = 0  # how many callers wait for what is being written
        self.ended = False
        self.trouble: str | None = None
        self.connection: sql.Connection | None = None  # of the writing thread
        self.thread = threading.Thread(target=self._write, name="cardlab room writer", daemon=True)
        self.thread.start()

    def save(self, row: dict[str, Any]) -> int:
        """Have a table written soon; return the number that `committed` will be called with."""
        with self.changed:
            number = next(self.numbers)
            before = self.rows.get(row["id"]) or self.writing.get(row["id"])
            since = before.since if before else time.monotonic()
            self.rows[row["id"]] = Unsaved(number, since, row)
            self.changed.notify_all()
        return number

    def drop(self, table: str) -> None:
        """Discard the waiting row of a table."""
        with self.changed:
            self.rows.pop(table, None)
            self.dropped.add(table)

    @property
    def unsaved(self) -> int:
        """How many tables have moves that are not in the store."""
        with self.changed:
            return len(self.rows.keys() | self.writing.keys())

    @property
    def behind(self) -> float:
        """For how many seconds the oldest of them has waited."""
        with self.changed:
            times = [row.since for row in (*self.rows.values(), *self.writing.values())]
        return time.monotonic() - min(times) if times else 0.0

    @property
    def healthy(self) -> bool:
        """Whether moves reach the store."""
        return self.trouble is None and self.behind < BEHIND_SECONDS

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
        """Return a table by its id; a row that waits to be written is newer than the stored one."""
        with self.changed:
            waiting = self.rows.get(table) or self.writing.get(table)
        if waiting is not None:
            return _stored(waiting.row)
        with self.store.reading() as at:
            row = at.execute(sql.select(WEB_TABLES).where(WEB_TABLES.c.id == table)).first()
        return None if row is None else _stored(dict(row._mapping))

    def _wait_for_results(self) -> None:
        """Wait until games that have just ended are in the store, but not for long."""
        with self.changed:
            pending = {**self.writing, **self.rows}
            ended = {name for name, entry in pending.items() if entry.row["returns"] is not None}

        def written() -> bool:
            return self.trouble is not None or not ended & (self.rows.keys() | self.writing.keys())

        self._wait(written, RESULT_SECONDS)

    def finished(self, most: int) -> list[StoredRoom]:
        """Return finished tables, the latest first."""
        self._wait_for_results()
        query = sql.select(WEB_TABLES).where(WEB_TABLES.c.returns.is_not(None))
        with self.store.reading() as at:
            rows = at.execute(query.order_by(WEB_TABLES.c.changed.desc()).limit(most)).all()
        return list(_readable(_stored, (dict(row._mapping) for row in rows)))

    def results(self) -> list[tuple[str, list[dict[str, Any]], list[float], bool]]:
        """Return game, seats, returns and whether help was allowed, of every finished table."""
        self._wait_for_results()
        names = ("id", "game", "seats", "returns", "hints", "undone")
        columns = (WEB_TABLES.c[name] for name in names)
        query = sql.select(*columns).where(WEB_TABLES.c.returns.is_not(None))
        with self.store.reading() as at:
            rows = (dict(row._mapping) for row in at.execute(query))
            return list(_readable(_result, rows))

    def forget(self) -> int:
        """Delete tables at which nobody has moved for a while; return how many."""
        then = (datetime.now(UTC) - timedelta(days=FORGET_DAYS)).isoformat(timespec="seconds")
        empty = WEB_TABLES.c.actions == b""
        with self.store.engine.begin() as at:
            gone = at.execute(WEB_TABLES.delete().where(empty, WEB_TABLES.c.changed < then))
        return int(gone.rowcount)

    def _write(self) -> None:
        """Write all waiting rows in one transaction, again and again; retry what fails."""
        tidy_at = time.monotonic()
        while True:
            if time.monotonic() >= tidy_at:
                self._tidy()
                tidy_at = time.monotonic() + TIDY_SECONDS
            with self.changed:
                self.changed.wait_for(
                    lambda: self.rows or self.ended, max(0.0, tidy_at - time.monotonic())
                )
                if not self.rows and not self.ended:
                    continue
                if self.ended and not self.rows:
                    self._disconnect()
                    return
                # Rows that arrive within a few milliseconds are written together: a transaction
                # costs as much as many rows.
                self.changed.wait_for(lambda: self.hurry or self.ended, GATHER_SECONDS)
                self.writing, self.rows = self.rows, {}
            try:
                self._put([entry.row for entry in self.writing.values()])
                self.trouble = None
            except Exception as error:  # whatever it is: the rows are written again later
                self._fail(f"{type(error).__name__}: {error}".splitlines()[0])
                with self.changed:
                    wanted = {
                        name: entry
                        for name, entry in self.writing.items()
                        if name not in self.dropped
                    }
                    self.rows = {**wanted, **self.rows}  # rows that came meanwhile are newer
                    self.writing, self.dropped = {}, set()
                    self.changed.wait_for(lambda: self.ended, RETRY_SECONDS)
                    if self.ended:
                        return  # these moves were never acknowledged
                continue
            with self.changed:
                done, self.writing, self.dropped = self.writing, {}, set()
                self.changed.notify_all()
            self.committed({name: entry.number for name, entry in done.items()})

    def _tidy(self) -> None:
        try:
            self.forget()
        except Exception as error:
            LOG.warning("unused tables could not be deleted: %s", error)

    def _fail(self, reason: str) -> None:
        if self.trouble != reason:
            LOG.warning("the store cannot be written, moves wait: %s", reason)
        self.trouble = reason

    def _put(self, rows: list[dict[str, Any]]) -> None:
        if self.connection is None:
            self.connection = self.store.engine.connect()
            if self.store.engine.dialect.name == "sqlite":
                driver: Any = self.connection.connection.driver_connection
                driver.execute(f"PRAGMA busy_timeout = {1000 * BUSY_SECONDS}")
        try:
            with self.connection.begin():
                self.store.put(self.connection, WEB_TABLES, rows)
        except BaseException:
            self._disconnect()
            raise

    def _disconnect(self) -> None:
        if self.connection is not None:
            with suppress(Exception):  # it may be broken in any way
                self.connection.invalidate()
                self.connection.close()
            self.connection = None


def row_of(
    game: Game,
    *,
    orders: list[Any],
    actions: list[int],
    options: dict[str, Any],
    seats: list[dict[str, Any]],
    returns: list[float] | None,
    points: list[float] | None,
    dealing: dict[str, Any] | None,
    **rest: Any,
) -> dict[str, Any]:
    """Return a table as a row of the store."""
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
        "dealing": None if dealing is None else json.dumps(dealing),
    }


def _readable(
    read: Callable[[Mapping[str, Any]], Found], rows: Iterable[Mapping[str, Any]]
) -> Iterator[Found]:
    """Yield the rows that can be read; a damaged one is logged and left out."""
    for row in rows:
        try:
            yield read(row)
        except DamagedTable as error:
            LOG.warning("%s", error)


@contextmanager
def whole(table: str) -> Iterator[None]:
    """Turn any error while a row is read into a `DamagedTable` with a sentence."""
    try:
        yield
    except DamagedTable:
        raise
    except UNREADABLE as error:
        LOG.warning("table %s cannot be read from the store: %r", table, error)
        raise DamagedTable(
            f"table {table} is damaged in the store and cannot be continued; open a new table"
        ) from None


def _result(row: Mapping[str, Any]) -> tuple[str, list[dict[str, Any]], list[float], bool]:
    with whole(row["id"]):
        seats = _seats(row["seats"])
        returns = _numbers(row["returns"], len(seats))
        return row["game"], seats, returns, bool(row["hints"] or row["undone"])


def _stored(row: Mapping[str, Any]) -> StoredRoom:
    with whole(row["id"]):
        return _read_row(row)


def _read_row(row: Mapping[str, Any]) -> StoredRoom:
    fields = dict(row)
    decks = fields.pop("decks")
    orders = np.frombuffer(bytes(row["orders"]), dtype=np.uint8).reshape(decks, -1 if decks else 1)
    fields |= {"orders": orders.tolist(), "hints": bool(row["hints"])}
    fields["actions"] = np.frombuffer(bytes(row["actions"]), dtype=ACTION).tolist()
    fields["seats"] = _seats(row["seats"])
    for name in ("returns", "points"):
        text = row[name]
        fields[name] = None if text is None else _numbers(text, len(fields["seats"]))
    for name in ("options", "dealing"):
        fields[name] = None if fields[name] is None else json.loads(fields[name])
    for name in ("seed", "undone"):  # SQLite keeps text in a column of numbers, too
        fields[name] = int(fields[name])
    _check_text(fields["adviser"])
    if fields["undone"] < 0:
        raise ValueError(f"undone must be at least 0, got {fields['undone']}")
    return StoredRoom(**fields)


def _seats(text: str) -> list[dict[str, Any]]:
    seats = [
        {name: seat[name] for name in ("agent", "name", "digest")} for seat in json.loads(text)
    ]
    if not seats:
        raise ValueError("the table has no seats")
    for field in itertools.chain.from_iterable(seat.values() for seat in seats):
        _check_text(field)
    return seats


def _check_text(field: object) -> None:
    if field is not None and not isinstance(field, str):
        raise TypeError(f"expected text or null, got {field!r}")


def _numbers(text: str, count: int) -> list[float]:
    numbers = [float(value) for value in json.loads(text)]
    if len(numbers) != count or not np.isfinite(numbers).all():
        raise ValueError(f"expected {count} finite numbers, got {text[:80]!r}")
    return numbers
