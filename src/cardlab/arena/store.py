"""The store: every game of every tournament, in SQLite or PostgreSQL; tables derive from it.

A game is stored in few bytes (`Played`): deck orders and actions, so that its full record needs no
random numbers. The games of a shard are written in one transaction, each under a key of its own
(tournament, pairing, deal, rotation): after a kill the store has all games of a shard or none, and
writing a shard twice changes nothing.
"""

from __future__ import annotations

import json
import sqlite3
import uuid
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from os import PathLike, fspath
from os.path import exists, expanduser  # False, and unchanged, for what cannot be a path
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sql
from platformdirs import user_data_path
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, NoSuchModuleError

from cardlab.aliases import current_agent
from cardlab.arena.shard import Match, Played, ShardResult
from cardlab.arena.stored_games import (
    DamagedRow,
    LeftOut,
    Outcome,
    check_size,
    place_of,
    read_agents,
    read_outcome,
    read_played,
    read_settings,
    read_times,
)
from cardlab.engine.arguments import read_kind, read_text, shorten
from cardlab.engine.errors import CardlabError, CardlabWarning, require
from cardlab.engine.folders import missing_folder
from cardlab.engine.game import Game

__all__ = [
    "SCHEMA",
    "TROUBLE",
    "Entered",
    "Store",
    "StoreError",
    "StoreUnavailable",
    "default_store",
]

SCHEMA = 4
PATIENCE = 60  # seconds to wait for another writer
MOST_LETTERS = 200  # of a name
TROUBLE = "games cannot be read or kept at the moment; try again in a minute"  # for strangers
UNWRITABLE = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN)


class _Bytes(sql.types.TypeDecorator[Any]):
    """Bytes as the driver returns them: one that is damaged fails where its row is checked."""

    impl = sql.LargeBinary
    cache_ok = True

    def result_processor(self, dialect: Any, coltype: Any) -> None:
        """Leave values alone."""


Row = TypeVar("Row")
TABLES = sql.MetaData()
ABOUT = sql.Table("cardlab", TABLES, sql.Column("schema", sql.Integer, nullable=False))
TOURNAMENTS = sql.Table(
    "tournaments",
    TABLES,
    sql.Column("id", sql.Integer, primary_key=True),
    sql.Column("name", sql.String(MOST_LETTERS), nullable=False, unique=True),
    sql.Column("game", sql.String(MOST_LETTERS), nullable=False),
    sql.Column("settings", sql.Text, nullable=False),  # JSON, keys sorted
    sql.Column("begun", sql.String(32), nullable=False),
    sql.Column("finished", sql.String(32)),
)
PAIRINGS = sql.Table(
    "pairings",
    TABLES,
    sql.Column("tournament", sql.ForeignKey("tournaments.id"), primary_key=True),
    sql.Column("pairing", sql.Integer, primary_key=True),
    sql.Column("agents", sql.Text, nullable=False),  # JSON, by place
)
KEY = ("tournament", "pairing", "deal", "rotation")
GAMES = sql.Table(
    "games",
    TABLES,
    sql.Column("tournament", sql.ForeignKey("tournaments.id"), primary_key=True),
    *(sql.Column(name, sql.Integer, primary_key=True) for name in KEY[1:]),
    sql.Column("seed", sql.BigInteger, nullable=False),
    sql.Column("decks", sql.Integer, nullable=False),
    sql.Column("orders", _Bytes, nullable=False),
    sql.Column("actions", _Bytes, nullable=False),
    sql.Column("returns", sql.Text, nullable=False),  # JSON, by seat
    sql.Column("points", sql.Text, nullable=False),
    sql.Column("forfeit", sql.Integer),
    sql.Column("reason", sql.Text),
    sql.Column("log", sql.Text),
    sql.Column("nodes", sql.BigInteger),
)
TIMES = sql.Table(
    "times",
    TABLES,
    sql.Column("tournament", sql.ForeignKey("tournaments.id"), primary_key=True),
    sql.Column("pairing", sql.Integer, primary_key=True),
    sql.Column("first", sql.Integer, primary_key=True),
    sql.Column("seconds", sql.Text, nullable=False),  # JSON, by agent of the pairing
    sql.Column("decisions", sql.Text, nullable=False),
)
WEB_TABLES = sql.Table(  # of the web table, see web.room_writer
    "web_tables",
    TABLES,
    sql.Column("id", sql.String(32), primary_key=True),
    sql.Column("game", sql.String(200), nullable=False),
    sql.Column("rules", sql.Integer, nullable=False),
    sql.Column("options", sql.Text, nullable=False),  # JSON
    sql.Column("seats", sql.Text, nullable=False),  # JSON, secrets hashed
    sql.Column("seed", sql.BigInteger, nullable=False),
    sql.Column("hints", sql.Boolean, nullable=False),
    sql.Column("adviser", sql.String(200)),
    sql.Column("decks", sql.Integer, nullable=False),
    sql.Column("orders", sql.LargeBinary, nullable=False),
    sql.Column("actions", sql.LargeBinary, nullable=False),
    sql.Column("undone", sql.Integer, nullable=False),
    sql.Column("begun", sql.String(32), nullable=False),
    sql.Column("changed", sql.String(32), nullable=False, index=True),
    sql.Column("returns", sql.Text),  # JSON, by seat, once it is over
    sql.Column("points", sql.Text),
    sql.Column("dealing", sql.Text),  # JSON, see web.room_deal
)
# SQLite's error message quotes damaged bytes, which its driver then cannot decode.
UNUSABLE = (DBAPIError, UnicodeDecodeError)
UPGRADES: dict[int, tuple[tuple[str, str], ...]] = {  # from a version to the next: table, column
    1: (("games", "log TEXT"), ("games", "nodes BIGINT")),
    2: (),  # a new table, which makes itself
    3: (("web_tables", "dealing TEXT"),),
}


class StoreError(CardlabError):
    """Something is wrong with a store; the text names its file or host and user."""

    @property
    def public(self) -> str:
        """What strangers may read of it."""
        return TROUBLE


class StoreUnavailable(StoreError):
    """The database does not answer."""


@dataclass(frozen=True)
class Entered:
    """A tournament in the store."""

    id: int  # number in the store
    name: str  # unique in the store
    game: str  # its name
    settings: dict[str, Any]  # of the plan, as plain data
    finished: bool  # whether all games are played
    seats: int = 0  # of each game; 0: not known

    @property
    def salt(self) -> str | None:
        """The secret that the deals depend on, if there is one."""
        return self.settings.get("salt")

    @property
    def public(self) -> bool:
        """Whether games may be shown to strangers: not as long as they tell of deals to come."""
        return self.finished or not self.salt


def default_store() -> str:
    """Return the address of the store in the user's data folder."""
    return str(user_data_path("cardlab", appauthor=False) / "arena.db")


class Store:
    """A database of tournaments and games."""

    def __init__(
        self, address: str | PathLike[str] | None = None, *, read_only: bool = False
    ) -> None:
        """Open a store, and make or upgrade it if needed; a path is an SQLite file.

        Without an address it is the store in the user's data folder. With `read_only` the store
        must exist, and reading does not wait for writers; only a store of an older version is
        written to, once, to upgrade it.
        """
        if address is not None and not isinstance(address, (str, PathLike)):
            raise CardlabError(
                f"a store must be a path or postgresql://user@host/database, got {shorten(address)}"
            )
        self.address = default_store() if address is None else str(fspath(address))
        path = self.address.removeprefix("sqlite:///")
        if read_only and "://" not in path and not exists(expanduser(path)):
            raise StoreError(
                f"store {path} does not exist; name another with --store, or make it by playing a "
                "tournament"
            )
        self.engine = _open(self.address, read_only)
        self.shown = self.engine.url.render_as_string(hide_password=True)
        try:
            found = self._find_version()
            if found is None and read_only:
                raise StoreError(
                    f"{self.shown} is not a store of cardlab; name another with --store"
                )
            if found != SCHEMA:
                if read_only:
                    Store(self.address).close()
                else:
                    self._prepare()
        except UNUSABLE as error:
            self.engine.dispose()
            raise self._unreachable(error) from None
        except CardlabError:
            self.engine.dispose()
            raise

    def close(self) -> None:
        """Let go of the database."""
        self.engine.dispose()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def enter(
        self,
        game: str | Game,
        settings: dict[str, Any],
        pairings: Sequence[Sequence[str]],
        name: str | None = None,
    ) -> Entered:
        """Enter a new tournament; its default name is the game and a number."""
        _check_name(name)
        game = _name_of(game)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        row = {"game": game, "settings": _canonical(settings), "begun": now}
        try:
            with self._writing() as at:
                start = name or uuid.uuid4().hex  # until the number is known
                number = at.execute(
                    TOURNAMENTS.insert().values(name=start, **row)
                ).inserted_primary_key
                assert number
                key = int(number[0])
                title = name or f"{game.rpartition(':')[0] or game}-{key}"
                taken = sql.select(TOURNAMENTS.c.id).where(TOURNAMENTS.c.id != key)
                while at.execute(taken.where(TOURNAMENTS.c.name == title)).first():
                    title += "-more"  # somebody has given this name to another one
                at.execute(TOURNAMENTS.update().where(TOURNAMENTS.c.id == key).values(name=title))
                at.execute(
                    PAIRINGS.insert(),
                    [
                        {"tournament": key, "pairing": place, "agents": json.dumps(list(agents))}
                        for place, agents in enumerate(pairings)
                    ],
                )
        except IntegrityError:
            raise StoreError(
                f"{self.shown} already holds a tournament {name!r}; --resume resumes it, or give "
                "another --name"
            ) from None
        settings = json.loads(row["settings"])
        return Entered(key, title, game, settings, finished=False, seats=len(pairings[0]))

    def tournaments(self, game: str | Game | None = None, name: str | None = None) -> list[Entered]:
        """Return the tournaments of a game, or of a name, or all; the latest comes last.

        Those whose settings are damaged are left out, with a warning.
        """
        game = None if game is None else _name_of(game)
        found = []
        for row in self._entries(game, name):
            try:
                found.append(_entered(row))
            except DamagedRow as error:
                warnings.warn(
                    f"tournament {row.name!r} in {self.shown} is left out, its settings are "
                    f"damaged: {error}",
                    CardlabWarning,
                    stacklevel=2,
                )
        return found

    def _entries(self, game: str | None, name: str | None) -> Sequence[Any]:
        """Return the rows of tournaments, each with the agents of its first pairing."""
        first = sql.and_(PAIRINGS.c.tournament == TOURNAMENTS.c.id, PAIRINGS.c.pairing == 0)
        query = sql.select(TOURNAMENTS, PAIRINGS.c.agents).order_by(TOURNAMENTS.c.id)
        query = query.select_from(TOURNAMENTS.outerjoin(PAIRINGS, first))
        if game is not None:
            query = query.where(TOURNAMENTS.c.game == game)
        if name is not None:
            query = query.where(TOURNAMENTS.c.name == name)
        with self.reading() as at:
            return at.execute(query).all()

    def find(self, name: str) -> Entered:
        """Return the tournament of a name."""
        _check_name(name)
        rows = self._entries(None, name)
        if not rows:
            known = ", ".join(str(one.name) for one in self._entries(None, None)[-8:]) or "none"
            raise StoreError(f"{self.shown} has no tournament {name!r}; its latest: {known}")
        try:
            return _entered(rows[0])
        except DamagedRow as error:
            raise StoreError(
                f"tournament {name!r} in {self.shown} has damaged settings: {error}; name another"
            ) from None

    def add(self, tournament: int, chunk: ShardResult) -> None:
        """Keep the games of a shard, all of them or, if this process dies, none."""
        rows = [
            (
                *(tournament, chunk.pairing, *one[:6]),
                *(json.dumps(one.returns), json.dumps(one.points), *one[8:]),
            )
            for one in chunk.games
        ]
        times = {
            "tournament": tournament,
            "pairing": chunk.pairing,
            "first": chunk.first,
            "seconds": json.dumps(chunk.seconds.tolist()),
            "decisions": json.dumps(chunk.decisions.tolist()),
        }
        with self._writing() as at:
            self._add_games(at, rows)
            at.execute(self._insert(TIMES), [times])

    def _add_games(self, at: sql.Connection, rows: list[tuple[Any, ...]]) -> None:
        """Insert games, columns in their order, past what makes single insertions slow."""
        names = ", ".join(column.name for column in GAMES.columns)
        if self.engine.dialect.name == "sqlite":
            at.exec_driver_sql(str(self._insert(GAMES).compile(self.engine)), rows)
            return
        at.exec_driver_sql(
            "CREATE TEMPORARY TABLE IF NOT EXISTS arrived (LIKE games) ON COMMIT DELETE ROWS"
        )
        driver: Any = at.connection
        with driver.cursor() as cursor, cursor.copy(f"COPY arrived ({names}) FROM STDIN") as lines:
            for row in rows:
                lines.write_row(row)
        at.exec_driver_sql(
            f"INSERT INTO games ({names}) SELECT {names} FROM arrived ON CONFLICT DO NOTHING"
        )

    def finish(self, tournament: int) -> None:
        """Note that all games of a tournament are played."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        with self._writing() as at:
            at.execute(
                TOURNAMENTS.update().where(TOURNAMENTS.c.id == tournament).values(finished=now)
            )

    def pairings(self, tournament: int) -> list[list[str]]:
        """Return who sits at which place in every pairing."""
        query = sql.select(PAIRINGS.c.agents).where(PAIRINGS.c.tournament == tournament)
        with self.reading() as at:
            rows = at.execute(query.order_by(PAIRINGS.c.pairing)).all()
        return [read_agents(row.agents) for row in rows]

    def games(
        self, tournament: int, matches: Sequence[Match] | None = None
    ) -> Iterator[tuple[int, Played]]:
        """Yield pairing and game of every game, by pairing, deal and rotation.

        Damaged rows are left out, with a warning; `matches` are what they must fit.
        """
        yield from self._checked(GAMES.columns.keys(), tournament, read_played, matches)

    def outcomes(
        self, tournament: int, matches: Sequence[Match] | None = None
    ) -> Iterator[Outcome]:
        """Yield what every game brought, otherwise as `games`."""
        yield from self._checked(Outcome._fields, tournament, read_outcome, matches)

    def _checked(
        self,
        columns: Sequence[str],
        tournament: int,
        read: Callable[[Any, Sequence[Match] | None], Row],
        matches: Sequence[Match] | None,
    ) -> Iterator[Row]:
        """Yield the games of a tournament as `read` returns them, without the damaged ones."""
        left_out = LeftOut(self.shown)
        for row in self._rows(columns, tournament):
            try:
                yield read(row, matches)
            except DamagedRow as error:
                left_out.add(place_of(row), error)
        if left_out.count:
            with self.reading() as at:
                name = sql.select(TOURNAMENTS.c.name).where(TOURNAMENTS.c.id == tournament)
                found = str(at.execute(name).scalar())
            left_out.report(found, "its own command with --resume plays them again")

    def _rows(self, columns: Sequence[str], tournament: int) -> Iterator[Any]:
        query = sql.select(*(GAMES.c[name] for name in columns))
        query = query.where(GAMES.c.tournament == tournament)
        ordered = query.order_by(*(GAMES.c[name] for name in KEY[1:]))
        with self.reading() as at:
            yield from at.execution_options(yield_per=5000).execute(ordered)

    def drop_damaged(self, tournament: int, matches: Sequence[Match]) -> None:
        """Delete the games of a tournament that are damaged, for them to be played again."""
        damaged = []
        for row in self._rows(GAMES.columns.keys(), tournament):
            try:
                read_played(row, matches)
            except DamagedRow:
                damaged.append([GAMES.c[name] == getattr(row, name) for name in KEY])
        if damaged:
            with self._writing() as at:
                for key in damaged:
                    at.execute(GAMES.delete().where(*key))
            warnings.warn(
                f"{len(damaged):,} damaged game{'s' * (len(damaged) > 1)} in {self.shown} will be "
                "played again",
                CardlabWarning,
                stacklevel=2,
            )

    def times(
        self, tournament: int, matches: Sequence[Match] | None = None
    ) -> list[tuple[int, list[float], list[int]]]:
        """Return pairing, seconds and decisions by agent of every shard; damaged ones are lost."""
        query = sql.select(TIMES).where(TIMES.c.tournament == tournament)
        found = []
        with self.reading() as at:
            for row in at.execute(query.order_by(TIMES.c.pairing, TIMES.c.first)):
                with suppress(DamagedRow):  # a shard's time is no result
                    found.append(read_times(row, matches))
        return found

    def count(self, tournament: int) -> int:
        """Return how many games of a tournament are kept."""
        query = sql.select(sql.func.count()).select_from(GAMES)
        with self.reading() as at:
            return int(at.execute(query.where(GAMES.c.tournament == tournament)).scalar_one())

    def recent(self, most: int) -> list[tuple[Entered, Outcome]]:
        """Return the last games of the latest tournaments, each with its tournament."""
        found: list[tuple[Entered, Outcome]] = []
        for entered in reversed(self.tournaments()):
            query = sql.select(*(GAMES.c[name] for name in Outcome._fields))
            query = query.where(GAMES.c.tournament == entered.id)
            latest = query.order_by(*(GAMES.c[name].desc() for name in ("deal", "rotation")))
            with self.reading() as at:
                rows = at.execute(latest.limit(min(10, most - len(found)))).all()
            for row in rows:
                with suppress(DamagedRow):
                    found.append((entered, read_outcome(row)))
            if len(found) >= most:
                break
        return found

    def game(self, tournament: int, pairing: int, deal: int, rotation: int) -> Played | None:
        """Return one game of a tournament; a damaged one raises."""
        key = zip(KEY, (tournament, pairing, deal, rotation), strict=True)
        query = sql.select(GAMES).where(*(GAMES.c[name] == value for name, value in key))
        with self.reading() as at:
            row = at.execute(query).first()
        return None if row is None else read_played(row)[1]

    def _insert(self, table: sql.Table) -> Any:
        """Return an insertion that leaves alone what is there already."""
        kind = postgresql if self.engine.dialect.name == "postgresql" else sqlite
        return kind.insert(table).on_conflict_do_nothing()

    def put(self, at: sql.Connection, table: sql.Table, rows: list[dict[str, Any]]) -> None:
        """Write rows within a transaction, in place of those that have the same key."""
        kind = postgresql if self.engine.dialect.name == "postgresql" else sqlite
        insert = kind.insert(table)
        rest = {c.name: insert.excluded[c.name] for c in table.columns if not c.primary_key}
        keys = [column.name for column in table.primary_key]
        at.execute(insert.on_conflict_do_update(index_elements=keys, set_=rest), rows)

    @contextmanager
    def reading(self) -> Iterator[sql.Connection]:
        """Read from the database; what goes wrong is told in one sentence."""
        try:
            with self.engine.connect().execution_options(reads=True) as at:
                yield at
        except UNUSABLE as error:
            raise self._unreachable(error) from None

    @contextmanager
    def _writing(self) -> Iterator[sql.Connection]:
        try:
            with self.engine.begin() as at:
                yield at
        except IntegrityError:
            raise
        except (*UNUSABLE, self.engine.dialect.loaded_dbapi.Error) as error:
            raise self._unreachable(error) from None

    def _unreachable(self, error: Exception) -> StoreUnavailable:
        reason = " ".join(str(getattr(error, "orig", error)).split())[:200]
        if isinstance(error, UnicodeDecodeError):
            reason = "its description of the tables is damaged"
        return StoreUnavailable(f"the store {self.shown} cannot be used: {reason}")

    def _foreign(self, table: str) -> StoreError:
        return StoreError(
            f"the store {self.shown} has a table {table!r} that is not cardlab's; name another "
            "--store"
        )

    def _find_version(self) -> int | None:
        """Return the version of the tables, if there are any, without waiting for who writes."""
        with self.reading() as at:
            return self._version(at) if sql.inspect(at).has_table(ABOUT.name) else None

    def _version(self, at: sql.Connection) -> int:
        """Return the version of a store, which must be one that this program knows."""
        versions = at.execute(sql.select(ABOUT.c.schema)).scalars().all()
        version = versions[0] if len(versions) == 1 else None
        if not isinstance(version, int) or version < 1:
            raise self._foreign(ABOUT.name)
        if version > SCHEMA:
            raise StoreError(
                f"the store {self.shown} was written by a newer cardlab (schema {version}, "
                f"this one knows {SCHEMA}); update cardlab, or name another --store"
            )
        return version

    def _prepare(self) -> None:
        """Make the tables, or bring those of an older version up to date."""
        with self.engine.begin() as at:
            if self.engine.dialect.name == "postgresql":
                at.execute(
                    sql.text("SELECT pg_advisory_xact_lock(20250215)")
                )  # one maker at a time
            there = sql.inspect(at)
            if not there.has_table(ABOUT.name):
                for name in TABLES.tables:
                    if there.has_table(name):
                        raise self._foreign(name)
                TABLES.create_all(at)
                at.execute(ABOUT.insert().values(schema=SCHEMA))
                return
            version = self._version(at)
            for step in range(version, SCHEMA):
                for table, column in UPGRADES[step]:
                    if there.has_table(table):
                        at.execute(sql.text(f"ALTER TABLE {table} ADD COLUMN {column}"))
            if version < SCHEMA:
                TABLES.create_all(at)
                at.execute(ABOUT.update().values(schema=SCHEMA))


def _entered(row: Any) -> Entered:
    """Return a tournament, its agents with the names that they have now, or raise DamagedRow."""
    if not isinstance(row.name, str) or not isinstance(row.game, str):
        raise DamagedRow(f"its name or its game {row.game!r} is not a text")
    settings = read_settings(row.settings)
    if row.agents is None:
        raise DamagedRow("it has no pairing 0")
    first = read_agents(row.agents)
    if not set(first) <= set(settings["agents"]):
        raise DamagedRow(f"pairing 0 has other agents, {', '.join(first)[:60]!r}")
    check_size(settings, len(first))
    settings["agents"] = [current_agent(agent, row.game) for agent in settings["agents"]]
    return Entered(row.id, row.name, row.game, settings, row.finished is not None, len(first))


def read_store(store: object) -> Store:
    """Return an argument that must be a store."""
    return read_kind(store, Store, "store", "open one by Store(path)")


def _name_of(game: str | Game) -> str:
    """Return the name of a game in the store, which need not be installed here."""
    if not isinstance(game, (str, Game)):
        raise CardlabError(f"game must be a Game or the name of one, got {shorten(game)}")
    return game if isinstance(game, str) else game.identifier


def _canonical(settings: dict[str, Any]) -> str:
    return json.dumps(settings, sort_keys=True)


def _check_name(name: str | None) -> None:
    """Check that the name of a tournament can be stored, shown and typed."""
    if name is not None:
        name = read_text(name, "a tournament's name", "first")
    if name is not None and not (name.strip() and name.isprintable() and len(name) <= MOST_LETTERS):
        raise CardlabError(
            f"--name must be 1 to {MOST_LETTERS} printable characters, got {shorten(name)}"
        )


def _file_url(address: str, read_only: bool) -> sql.URL:
    """Return the URL of an SQLite file; its name may contain any character."""
    try:
        path = Path(address).expanduser().absolute()
        if not read_only and address == default_store():
            path.parent.mkdir(parents=True, exist_ok=True)
        is_folder, has_folder = path.is_dir(), path.parent.is_dir()
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise StoreError(
            f"the store {address} cannot be made: {reason}; name another --store"
        ) from None
    if is_folder:
        raise StoreError(f"the store {address} is a folder; name a file in it")
    if not has_folder:
        raise StoreError(missing_folder(path.parent, f"store {address} cannot be made"))
    return sql.URL.create("sqlite", database=str(path))


def _open(address: str, read_only: bool) -> sql.Engine:
    """Return an engine for a path or a database's address."""
    if "\0" in address or address.encode(errors="ignore").decode() != address:
        raise StoreError(f"{address!r} cannot be opened; name the store in UTF-8, without NUL")
    if address.startswith(("postgres://", "postgresql://")):
        require("a PostgreSQL store", "postgres", "psycopg")
        address = "postgresql+psycopg://" + address.partition("://")[2]
    try:
        url = sql.make_url(address) if "://" in address else _file_url(address, read_only)
        kind = url.get_backend_name()
    except CardlabError:
        raise
    except (ArgumentError, ValueError):
        raise CardlabError(
            f"{address!r} is not the address of a store; give a file, or "
            "postgresql://user@host/database"
        ) from None
    if kind not in ("sqlite", "postgresql"):
        raise CardlabError(
            f"stores of {kind} are not supported; give a file, or postgresql://user@host/database"
        )
    if kind == "sqlite" and url.query:
        raise StoreError(f"{address!r} has parameters, which a file does not take; leave them out")
    if kind == "sqlite" and url.database in (None, "", ":memory:"):
        raise CardlabError(
            f"{address!r} names no file, so its games would be lost; give one, such as games.db"
        )
    try:
        if kind == "postgresql" and url.get_driver_name() != "psycopg":
            raise NoSuchModuleError  # games are copied in as only this driver does
        if kind == "sqlite" and read_only:
            path = Path(str(url.database))
            engine = sql.create_engine(url, creator=lambda: _connect_reader(path))
            sql.event.listen(engine, "begin", _begin_reading)
            return engine
        engine = sql.create_engine(url, pool_pre_ping=kind != "sqlite")
    except (ArgumentError, NoSuchModuleError, ImportError):
        raise CardlabError(
            f"no driver of {url.drivername!r} is installed; write postgresql://user@host/database"
        ) from None
    if engine.dialect.name == "sqlite":
        sql.event.listen(engine, "connect", _set_up_sqlite)
        sql.event.listen(engine, "begin", _begin_sqlite)
    return engine


def _connect_reader(path: Path) -> sqlite3.Connection:
    """Return a connection that reads an SQLite file, also one that may not be written to.

    A write-ahead log needs a file beside it to be read. Where none can be made, but all that was
    written has reached the store itself, SQLite is told that nobody changes the store.
    """
    address = path.absolute().as_uri()
    log = path.with_name(path.name + "-wal")
    for mode in ("mode=rw", "immutable=1"):
        connection = sqlite3.connect(
            f"{address}?{mode}", PATIENCE, uri=True, isolation_level=None, check_same_thread=False
        )
        connection.text_factory = _decode
        try:
            connection.execute("PRAGMA query_only = ON")
            connection.execute("SELECT 1 FROM sqlite_master").fetchone()
            return connection
        except sqlite3.OperationalError as error:
            connection.close()
            unwritable = error.sqlite_errorcode & 0xFF in UNWRITABLE
            if mode != "mode=rw" or not unwritable or (log.exists() and log.stat().st_size):
                raise
    raise AssertionError("the second way returns or raises")


def _decode(text: bytes) -> str:
    """Return text of a store; a damaged one is found where it is read."""
    return text.decode(errors="replace")


def _set_up_sqlite(connection: Any, _: object) -> None:
    connection.isolation_level = (
        None  # transactions begin where we say so, not where Python guesses
    )
    connection.text_factory = _decode
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout = {PATIENCE * 1000}")
    cursor.execute("PRAGMA journal_mode = WAL")
    cursor.execute("PRAGMA synchronous = FULL")  # a shard that is kept survives a power cut
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.close()


def _begin_reading(connection: sql.Connection) -> None:
    connection.exec_driver_sql("BEGIN")  # all of a transaction reads the same moment


def _begin_sqlite(connection: sql.Connection) -> None:
    # A transaction that reads first and writes later could fail in mid-way: writers queue up.
    reads = connection.get_execution_options().get("reads")
    connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")
