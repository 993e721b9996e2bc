"""The store: every game of every tournament, in SQLite or PostgreSQL; tables derive from it.

A game is kept in few bytes (`Played`): deck orders and actions, so that its full record needs no
random numbers. The games of a shard are written in one transaction under a key that they share
with nothing else (tournament, pairing, deal, rotation): a killed run has whole shards or
nothing of them, and a shard that is written twice changes nothing.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import sqlalchemy as sql
from platformdirs import user_data_path
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, NoSuchModuleError

from cardlab.aliases import current_agent
from cardlab.arena.shard import Played, ShardResult
from cardlab.engine.errors import CardlabError, require

__all__ = ["SCHEMA", "Entered", "Store", "StoreUnavailable", "default_store"]

SCHEMA = 4
PATIENCE = 60  # seconds to wait for another writer
MOST_LETTERS = 200  # of a name

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
    sql.Column("orders", sql.LargeBinary, nullable=False),
    sql.Column("actions", sql.LargeBinary, nullable=False),
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
UPGRADES: dict[int, tuple[tuple[str, str], ...]] = {  # from a version to the next: table, column
    1: (("games", "log TEXT"), ("games", "nodes BIGINT")),
    2: (),  # a new table, which makes itself
    3: (("web_tables", "dealing TEXT"),),
}


class StoreUnavailable(CardlabError):
    """The database does not answer; the text names it, so that strangers must not read it."""


@dataclass(frozen=True)
class Entered:
    """A tournament in the store."""

    id: int
    name: str
    game: str
    settings: dict[str, Any]
    finished: bool

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

    def __init__(self, address: str | None = None, *, make: bool = True) -> None:
        """Open a store, upgrading it and, unless it must be there, making it as needed.

        A path is an SQLite file.
        """
        self.address = address or default_store()
        path = self.address.removeprefix("sqlite:///")
        if not make and "://" not in path and not Path(path).expanduser().exists():
            raise CardlabError(
                f"there is no store at {path}; name another with --store, or play a tournament: it "
                "makes one"
            )
        self.engine = _open(self.address)
        self.shown = self.engine.url.render_as_string(hide_password=True)
        try:
            self._prepare()
        except DBAPIError as error:
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
        game: str,
        settings: dict[str, Any],
        pairings: Sequence[Sequence[str]],
        name: str | None = None,
    ) -> Entered:
        """Write a new tournament down; without a name it gets the game's and a number."""
        _check_name(name)
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
            raise CardlabError(
                f"{self.shown} already holds a tournament {name!r}; --resume goes on with it, or "
                "give another --name"
            ) from None
        return Entered(key, title, game, json.loads(row["settings"]), finished=False)

    def tournaments(self, game: str | None = None, name: str | None = None) -> list[Entered]:
        """Return the tournaments of a game, or of a name, or all; the latest last."""
        query = sql.select(TOURNAMENTS).order_by(TOURNAMENTS.c.id)
        if game is not None:
            query = query.where(TOURNAMENTS.c.game == game)
        if name is not None:
            query = query.where(TOURNAMENTS.c.name == name)
        with self.reading() as at:
            return [
                Entered(
                    row.id,
                    row.name,
                    row.game,
                    _read_settings(row.settings, row.game),
                    row.finished is not None,
                )
                for row in at.execute(query)
            ]

    def find(self, name: str) -> Entered:
        """Return the tournament of a name."""
        _check_name(name)
        found = self.tournaments(name=name)
        if not found:
            known = ", ".join(one.name for one in self.tournaments()[-8:]) or "none"
            raise CardlabError(f"{self.shown} has no tournament {name!r}; its latest: {known}")
        return found[0]

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
            return [
                json.loads(row.agents) for row in at.execute(query.order_by(PAIRINGS.c.pairing))
            ]

    def games(self, tournament: int) -> Iterator[tuple[int, Played]]:
        """Yield pairing and game of every game, by pairing, deal and rotation."""
        query = sql.select(GAMES).where(GAMES.c.tournament == tournament)
        with self.reading() as at:
            ordered = query.order_by(*(GAMES.c[name] for name in KEY[1:]))
            for row in at.execution_options(yield_per=5000).execute(ordered):
                yield row.pairing, _played(row)

    def outcomes(self, tournament: int) -> Iterator[Any]:
        """Yield pairing, deal, rotation, returns, points, forfeit, reason, nodes of every game."""
        names = ("pairing", "deal", "rotation", "returns", "points", "forfeit", "reason", "nodes")
        query = sql.select(*(GAMES.c[name] for name in names))
        with self.reading() as at:
            found = query.where(GAMES.c.tournament == tournament)
            yield from at.execution_options(yield_per=5000).execute(found)

    def times(self, tournament: int) -> list[tuple[int, list[float], list[int]]]:
        """Return pairing, seconds and decisions by agent of every shard."""
        query = sql.select(TIMES).where(TIMES.c.tournament == tournament)
        with self.reading() as at:
            return [
                (row.pairing, json.loads(row.seconds), json.loads(row.decisions))
                for row in at.execute(query.order_by(TIMES.c.pairing, TIMES.c.first))
            ]

    def count(self, tournament: int) -> int:
        """Return how many games of a tournament are kept."""
        query = sql.select(sql.func.count()).select_from(GAMES)
        with self.reading() as at:
            return int(at.execute(query.where(GAMES.c.tournament == tournament)).scalar_one())

    def recent(self, most: int) -> list[tuple[Entered, Any]]:
        """Return the last games of the latest tournaments, each with its tournament."""
        found: list[tuple[Entered, Any]] = []
        for entered in reversed(self.tournaments()):
            query = sql.select(*(GAMES.c[name] for name in (*KEY[1:], "returns", "points")))
            query = query.where(GAMES.c.tournament == entered.id)
            latest = query.order_by(*(GAMES.c[name].desc() for name in ("deal", "rotation")))
            with self.reading() as at:
                rows = at.execute(latest.limit(min(10, most - len(found)))).all()
            found += [(entered, row) for row in rows]
            if len(found) >= most:
                break
        return found

    def game(self, tournament: int, pairing: int, deal: int, rotation: int) -> Played | None:
        """Return one game of a tournament."""
        key = zip(KEY, (tournament, pairing, deal, rotation), strict=True)
        query = sql.select(GAMES).where(*(GAMES.c[name] == value for name, value in key))
        with self.reading() as at:
            row = at.execute(query).first()
        return None if row is None else _played(row)

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
        except DBAPIError as error:
            raise self._unreachable(error) from None

    @contextmanager
    def _writing(self) -> Iterator[sql.Connection]:
        try:
            with self.engine.begin() as at:
                yield at
        except IntegrityError:
            raise
        except (DBAPIError, self.engine.dialect.loaded_dbapi.Error) as error:
            raise self._unreachable(error) from None

    def _unreachable(self, error: Exception) -> StoreUnavailable:
        reason = " ".join(str(getattr(error, "orig", error)).split())[:200]
        return StoreUnavailable(f"the store {self.shown} cannot be used: {reason}")

    def _foreign(self, table: str) -> CardlabError:
        return CardlabError(
            f"the store {self.shown} has a table {table!r} that is not cardlab's; name another "
            "--store"
        )

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
            versions = at.execute(sql.select(ABOUT.c.schema)).scalars().all()
            version = versions[0] if len(versions) == 1 else None
            if not isinstance(version, int) or version < 1:
                raise self._foreign(ABOUT.name)
            if version > SCHEMA:
                raise CardlabError(
                    f"the store {self.shown} was written by a newer cardlab (schema {version}, "
                    f"this one knows {SCHEMA}); update cardlab, or name another --store"
                )
            for step in range(version, SCHEMA):
                for table, column in UPGRADES[step]:
                    if there.has_table(table):
                        at.execute(sql.text(f"ALTER TABLE {table} ADD COLUMN {column}"))
            if version < SCHEMA:
                TABLES.create_all(at)
                at.execute(ABOUT.update().values(schema=SCHEMA))


def _played(row: Any) -> Played:
    returns, points = (tuple(json.loads(text)) for text in (row.returns, row.points))
    # Behind tournament and pairing, columns are in the order of fields.
    blobs = bytes(row.orders), bytes(row.actions)
    return Played._make((*row[2:6], *blobs, returns, points, *row[10:]))


def _canonical(settings: dict[str, Any]) -> str:
    return json.dumps(settings, sort_keys=True)


def _read_settings(text: str, game: str) -> dict[str, Any]:
    """Return the settings of a tournament, its agents with the names that they have now."""
    settings: dict[str, Any] = json.loads(text)
    settings["agents"] = [current_agent(agent, game) for agent in settings["agents"]]
    return settings


def _check_name(name: str | None) -> None:
    """Make sure that a tournament's name can be kept, shown and typed again."""
    if name is not None and not (name.strip() and name.isprintable() and len(name) <= MOST_LETTERS):
        raise CardlabError(
            f"--name {name!r} is not possible; give 1 to {MOST_LETTERS} letters that can be printed"
        )


def _file_url(address: str) -> sql.URL:
    """Return the URL of an SQLite file, whose folder is made; any character may be in its name."""
    try:
        path = Path(address).expanduser().absolute()
        path.parent.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise CardlabError(
            f"the store {address} cannot be made: {reason}; name another --store"
        ) from None
    if path.is_dir():
        raise CardlabError(f"the store {address} is a folder; name a file in it")
    return sql.URL.create("sqlite", database=str(path))


def _open(address: str) -> sql.Engine:
    """Return an engine for a path or a database's address."""
    if address.startswith(("postgres://", "postgresql://")):
        require("a PostgreSQL store", "postgres", "psycopg")
        address = "postgresql+psycopg://" + address.partition("://")[2]
    try:
        url = sql.make_url(address) if "://" in address else _file_url(address)
        kind = url.get_backend_name()
    except CardlabError:
        raise
    except (ArgumentError, ValueError):
        raise CardlabError(
            f"{address!r} is no address of a store; give a file, or postgresql://user@host/database"
        ) from None
    if kind not in ("sqlite", "postgresql"):
        raise CardlabError(
            f"a store in {kind} is not known; give a file, or postgresql://user@host/database"
        )
    if kind == "sqlite" and url.database in (None, "", ":memory:"):
        raise CardlabError(
            f"{address!r} names no file, so its games would be lost; give one, such as games.db"
        )
    try:
        if kind == "postgresql" and url.get_driver_name() != "psycopg":
            raise NoSuchModuleError  # games are copied in as only this driver does
        engine = sql.create_engine(url, pool_pre_ping=kind != "sqlite")
    except (ArgumentError, NoSuchModuleError, ImportError):
        raise CardlabError(
            f"the driver of {url.drivername!r} is not there; write postgresql://user@host/database"
        ) from None
    if engine.dialect.name == "sqlite":
        sql.event.listen(engine, "connect", _set_up_sqlite)
        sql.event.listen(engine, "begin", _begin_sqlite)
    return engine


def _set_up_sqlite(connection: Any, _: object) -> None:
    connection.isolation_level = (
        None  # transactions begin where we say so, not where Python guesses
    )
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout = {PATIENCE * 1000}")
    cursor.execute("PRAGMA journal_mode = WAL")
    cursor.execute("PRAGMA synchronous = FULL")  # a shard that is kept survives a power cut
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.close()


def _begin_sqlite(connection: sql.Connection) -> None:
    # A transaction that reads first and writes later could fail in mid-way: writers queue up.
    reads = connection.get_execution_options().get("reads")
    connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")
