"""Stores from strangers: damaged rows, writers, read-only files, code that they name."""

from __future__ import annotations

import csv
import os
import shutil
import sqlite3
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from cardlab.arena import store as store_module
from cardlab.arena.export import FORMATS, export_games
from cardlab.arena.leaderboard import leaderboards
from cardlab.arena.store import TROUBLE, Store, StoreError, StoreUnavailable
from cardlab.arena.stored_games import MOST_PAIRINGS, DamagedRow, count_pairings
from cardlab.arena.tournament import Plan, enter, play_tournament, resume
from cardlab.engine.errors import CardlabError, CardlabWarning
from cardlab.engine.records import read_records
from tests.support.paths import EXAMPLES

AGENTS = ["random", "heuristic"]
GAMES = 12
DAMAGED = 2  # the tournament whose rows are changed; the other one is whole


def plan_of(seed: int) -> Plan:
    return Plan.make("crazy_eights", AGENTS, GAMES, seed=seed)


@pytest.fixture(scope="module")
def whole_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with two tournaments, `whole` and `damaged`, of which nothing is damaged yet."""
    path = tmp_path_factory.mktemp("stores") / "whole.db"
    with Store(str(path)) as store:
        for seed, name in ((1, "whole"), (DAMAGED, "damaged")):
            plan = plan_of(seed)
            play_tournament(plan, store, enter(plan, store, name))
    return path


@pytest.fixture
def path(whole_store: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(whole_store, tmp_path / "games.db"))


def change(path: Path, table: str, setting: str) -> None:
    """Change one row of the tournament `damaged`."""
    where = {
        "games": f"tournament = {DAMAGED} AND deal = 3 AND rotation = 0",
        "tournaments": f"id = {DAMAGED}",
    }.get(table, f"tournament = {DAMAGED}")
    with closing(sqlite3.connect(path)) as at:
        assert at.execute(f"UPDATE {table} SET {setting} WHERE {where}").rowcount == 1
        at.commit()


def read_all(path: Path) -> list[int]:
    """Return how many games every reader finds: the leaderboard and each kind of export."""
    found = []
    with Store(str(path), read_only=True) as store:
        found.append(sum(board.games for board in leaderboards(store)))
        for ending in FORMATS:
            out = path.with_suffix(ending)
            found.append(export_games(store, store.tournaments(), out))
    return found


DAMAGES = {  # of a row of games -> what readers of results, of rows and of records still find
    "returns = 'x'": (1, 1, 1),
    "returns = '[1]'": (1, 1, 1),
    "returns = '[NaN, 1]'": (1, 1, 1),
    "returns = x'ff'": (1, 1, 1),
    "returns = '" + "[" * 5000 + "'": (1, 1, 1),
    "points = '{}'": (1, 1, 1),
    "forfeit = 7": (1, 1, 1),
    "deal = -1": (1, 1, 1),
    "deal = 1000000": (1, 1, 1),
    "pairing = 99": (1, 1, 1),
    "rotation = 'a'": (1, 1, 1),
    "nodes = -1": (1, 1, 1),
    "reason = x'ff00'": (1, 1, 1),
    "seed = 'x'": (0, 1, 1),
    "decks = 1000000000": (0, 1, 1),
    "decks = -1": (0, 1, 1),
    "orders = 'text'": (0, 1, 1),
    "actions = x'00'": (0, 1, 1),
    "actions = 'abc'": (0, 1, 1),
    "orders = x'00'": (0, 0, 1),
    "actions = x'ffff'": (0, 0, 1),
    "actions = x''": (0, 0, 1),
    "points = '[77, -77]'": (0, 0, 1),
}


@pytest.mark.parametrize("setting", DAMAGES, ids=lambda setting: setting[:24])
def test_a_damaged_game_is_left_out_and_reported(path: Path, setting: str) -> None:
    change(path, "games", setting)
    results, rows, records = (2 * GAMES - lost for lost in DAMAGES[setting])
    with pytest.warns(CardlabWarning) as heard:
        assert read_all(path) == [results, records, rows, rows]
    for warning in heard:
        said = str(warning.message)
        assert said.startswith("1 damaged game of tournament 'damaged' in sqlite:///")
        assert "is left out, first pairing " in said
        assert len(said) < 600


@pytest.mark.parametrize(
    "setting",
    [
        "settings = 'x'",
        "settings = '[]'",
        "settings = x'00ff'",
        "settings = json_set(settings, '$.deals', 1e12)",
        "settings = json_set(settings, '$.deals', -5)",
        "settings = json_set(settings, '$.deals', 1000000000000)",
        "settings = json_set(settings, '$.agents', json('[]'))",
        "settings = json_set(settings, '$.agents', json('[\"a\", \"a\"]'))",
        "settings = json_set(settings, '$.options', json('[1]'))",
        "settings = json_set(settings, '$.limits', json('{\"log_folder\": \"/\"}'))",
        "settings = json_remove(settings, '$.rules')",
        "settings = json_set(settings, '$.format', 'swiss')",
        "settings = json_set(settings, '$.seed', 'x')",
    ],
)
def test_a_damaged_tournament_is_left_out_and_reported(path: Path, setting: str) -> None:
    change(path, "tournaments", setting)
    check_only_whole(path)


@pytest.mark.parametrize("agents", ["[]", "7", "x", '["a", "b"]', '["", ""]', "[1, 2]"])
def test_a_tournament_without_its_agents_is_left_out(path: Path, agents: str) -> None:
    change(path, "pairings", f"agents = '{agents}'")
    check_only_whole(path)


def check_only_whole(path: Path) -> None:
    with pytest.warns(CardlabWarning, match=r"'damaged' in sqlite:.* is left out, its settings"):
        assert read_all(path) == [GAMES] * 4
    with (
        Store(str(path)) as store,
        pytest.raises(StoreError, match=r"tournament 'damaged' in .* has damaged settings: "),
    ):
        resume(plan_of(DAMAGED), store, "damaged")


def test_a_pairing_that_is_gone_takes_its_tournament_along(path: Path) -> None:
    with closing(sqlite3.connect(path)) as at:
        at.execute(f"DELETE FROM pairings WHERE tournament = {DAMAGED}")
        at.commit()
    check_only_whole(path)


def test_times_that_are_damaged_cost_no_game(path: Path) -> None:
    with closing(sqlite3.connect(path)) as at:
        at.execute(f"UPDATE times SET seconds = 'x' WHERE tournament = {DAMAGED}")
        at.commit()
    with Store(str(path), read_only=True) as store:
        assert store.times(DAMAGED) == []
        assert store.times(1) != []
    assert read_all(path) == [2 * GAMES] * 4


def test_a_tournament_of_many_deals_takes_memory_for_what_was_played(path: Path) -> None:
    change(path, "tournaments", "settings = json_set(settings, '$.deals', 90000000)")
    with Store(str(path), read_only=True) as store:
        entered = store.find("damaged")
        assert Plan.of(entered, store.count(entered.id)).deals < 2_000_000
    assert read_all(path) == [2 * GAMES] * 4


def test_resume_plays_damaged_games_again(path: Path, whole_store: Path) -> None:
    change(path, "games", "returns = 'x'")
    with Store(str(path)) as store, Store(str(whole_store), read_only=True) as whole:
        plan = plan_of(DAMAGED)
        with pytest.warns(CardlabWarning, match="1 damaged game in .* will be played again"):
            play_tournament(plan, store, resume(plan, store, "damaged"))
        assert list(store.games(DAMAGED)) == list(whole.games(DAMAGED))


def test_what_is_dropped_is_what_is_damaged(path: Path) -> None:
    change(path, "games", "rotation = 'a'")
    with Store(str(path)) as store:
        matches = plan_of(DAMAGED).matches
        with pytest.warns(CardlabWarning, match="1 damaged game in"):
            store.drop_damaged(DAMAGED, matches)
        assert (store.count(1), store.count(DAMAGED)) == (GAMES, GAMES - 1)
        store.drop_damaged(DAMAGED, matches)  # nothing is left to say


def test_one_damaged_game_is_named(path: Path) -> None:
    change(path, "games", "decks = 1000000000")
    with Store(str(path), read_only=True) as store:
        assert store.game(DAMAGED, 0, 2, 0) is not None
        with pytest.raises(DamagedRow, match="bytes of orders for 1000000000 decks") as caught:
            store.game(DAMAGED, 0, 3, 0)
    assert caught.value.public == "this game is damaged in the store; choose another one"


@pytest.mark.parametrize(
    ("agents", "seats", "format", "count"),
    [(39, 4, "round-robin", 82_251), (39, 4, "gauntlet", 8_436), (2, 3, "round-robin", 2)],
)
def test_pairings_are_counted_before_they_are_made(
    agents: int, seats: int, format: str, count: int
) -> None:
    assert count_pairings(agents, seats, format) == count
    assert count_pairings(400, 100, format) > MOST_PAIRINGS  # at once: nobody lists 10**95 groups


def test_both_databases_leave_damaged_games_out(store_address: str) -> None:
    plan = plan_of(DAMAGED)
    with Store(store_address) as store:
        play_tournament(plan, store, enter(plan, store))
        before = list(store.games(1))
        with store.engine.begin() as at:
            at.exec_driver_sql("UPDATE games SET decks = 1000000000 WHERE deal = 2")
            at.exec_driver_sql("UPDATE games SET returns = '[]' WHERE deal = 3 AND rotation = 1")
    with Store(store_address, read_only=True) as store:
        with pytest.warns(CardlabWarning, match=r"1 damaged game of .*deal 3, rotation 1: 0 ret"):
            assert leaderboards(store)[0].games == GAMES - 1
        with pytest.warns(
            CardlabWarning, match=r"3 damaged games .* are left out, first pairing 0"
        ):
            assert len(list(store.games(1, plan.matches))) == GAMES - 3
    with Store(store_address) as store:
        with pytest.warns(CardlabWarning, match="3 damaged games in .* will be played again"):
            play_tournament(plan, store, resume(plan, store))
        assert list(store.games(1)) == before


# Reading beside a writer, and where nothing can be written


@contextmanager
def writer(path: Path) -> Iterator[None]:
    """Somebody who is in the middle of writing to a store."""
    with closing(sqlite3.connect(path, isolation_level=None)) as at:
        at.execute("BEGIN IMMEDIATE")
        at.execute("UPDATE tournaments SET finished = NULL")
        yield
        at.execute("ROLLBACK")


def test_who_reads_does_not_wait_for_who_writes(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "PATIENCE", 0)  # whoever waits fails
    with writer(path):
        assert read_all(path) == [2 * GAMES] * 4
        with Store(str(path)) as store:  # to open a store for writing needs no lock either
            assert len(store.tournaments()) == 2
            with pytest.raises(StoreUnavailable, match="database is locked"):
                store.finish(1)


def test_a_reader_writes_nothing(path: Path) -> None:
    before = path.read_bytes()
    with Store(str(path), read_only=True) as store:
        with pytest.raises(StoreUnavailable, match="readonly"):
            store.finish(1)
        assert store.tournaments()
    assert path.read_bytes() == before


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that everybody may look into, whoever runs the tests."""
    with tempfile.TemporaryDirectory(prefix="cardlab-") as name:
        os.chmod(name, 0o755)
        yield Path(name)
        os.chmod(name, 0o755)


@contextmanager
def nobody() -> Iterator[None]:
    """Be a person without rights, if these tests are run by root."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


@pytest.mark.skipif(os.name != "posix", reason="users and rights of POSIX systems")
@pytest.mark.parametrize("mode", [0o444, 0o644])
def test_a_store_is_read_where_nothing_may_be_written(
    whole_store: Path, open_folder: Path, mode: int
) -> None:
    path = Path(shutil.copy(whole_store, open_folder / "what? 50 %.db"))
    path.chmod(mode)
    open_folder.chmod(0o555)
    with nobody(), Store(str(path), read_only=True) as store:
        assert leaderboards(store)[0].games == 2 * GAMES
    assert [one.name for one in open_folder.iterdir()] == [path.name]


@pytest.mark.skipif(os.name != "posix", reason="users and rights of POSIX systems")
def test_what_is_still_in_the_log_of_a_read_only_store_is_not_left_out(
    whole_store: Path, open_folder: Path
) -> None:
    path = Path(shutil.copy(whole_store, open_folder / "a.db"))
    with closing(sqlite3.connect(path)) as at:
        at.execute("UPDATE tournaments SET finished = NULL")
        at.commit()
        for ending in ("", "-wal"):
            shutil.copy(f"{path}{ending}", open_folder / f"b.db{ending}")
    open_folder.chmod(0o555)
    with nobody(), pytest.raises(StoreUnavailable, match="cannot be used"):
        Store(str(open_folder / "b.db"), read_only=True)


def test_a_file_that_is_no_store_is_not_made_one_by_reading(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as at:
        at.execute("CREATE TABLE letters (text TEXT)")
    before = path.read_bytes()
    with pytest.raises(StoreError, match="is not a store of cardlab; name another with --store"):
        Store(str(path), read_only=True)
    assert path.read_bytes() == before


def test_an_older_store_is_upgraded_for_who_reads(path: Path) -> None:
    with closing(sqlite3.connect(path)) as at:
        at.execute("ALTER TABLE web_tables DROP COLUMN dealing")
        at.execute("UPDATE cardlab SET schema = 3")
        at.commit()
    assert read_all(path) == [2 * GAMES] * 4


# What strangers read


def test_strangers_read_no_paths_hosts_or_users(tmp_path: Path) -> None:
    errors = []
    for address in (
        "postgresql://somebody@127.0.0.1:1/secret",
        "/proc/nowhere/secret.db",
        str(tmp_path),
    ):
        with pytest.raises(StoreError) as caught:
            Store(address)
        errors.append(caught.value)
    with Store(str(tmp_path / "a.db")) as store:
        for call in (lambda: store.find("mine"), lambda: leaderboards(store)):
            with pytest.raises(StoreError) as caught:
                call()
            errors.append(caught.value)
        with pytest.raises(StoreError) as caught:
            export_games(store, [], tmp_path / "x.csv")
        errors.append(caught.value)
    assert {error.public for error in errors} == {TROUBLE}
    assert all("127.0.0.1" in str(error) or "/" in str(error) for error in errors)
    assert CardlabError("give a number").public == "give a number"


# Code that a store names


@pytest.fixture
def trap(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a module that leaves a file when it runs; a store names it."""
    folder = tmp_path / "downloads"
    folder.mkdir()
    (folder / "trap.py").write_text("open('ran', 'w').close()\nGAME = 1\n")
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "trap", raising=False)
    change(path, "tournaments", "game = 'trap:GAME'")
    return folder / "ran"


def test_reading_a_store_runs_no_code_that_it_names(path: Path, trap: Path) -> None:
    with Store(str(path), read_only=True) as store:
        boards = leaderboards(store)
        assert [(board.game, board.games) for board in boards] == [
            ("crazy_eights", GAMES),
            ("trap:GAME", GAMES),
        ]
        html = [board._repr_html_() for board in boards]  # options are compared with the game's
        assert "trap:GAME" in html[1]
        for ending in (".csv", ".parquet"):
            out = path.with_suffix(ending)
            assert export_games(store, store.tournaments(), out) == 2 * GAMES
        with pytest.raises(
            CardlabError,
            match=r"tournament 'damaged': game 'trap:GAME' is code from outside, .* give --trust",
        ):
            export_games(store, store.tournaments(), path.with_suffix(".jsonl"))
        assert not trap.exists()
        with pytest.raises(CardlabError, match="is a int, not a cardlab Game"):
            export_games(store, store.tournaments(), path.with_suffix(".jsonl"), trust=True)
        assert trap.exists()  # the trap works: it was closed only by the missing trust


def test_ones_own_game_needs_no_trust(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    example = (EXAMPLES / "kuhn_poker.py").read_text()
    (tmp_path / "own_game.py").write_text(example.replace("kuhn_poker:GAME", "own_game:GAME"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    out = tmp_path / "games.jsonl"
    with Store("games.db") as store:
        plan = Plan.make("own_game:GAME", ["random", "monte_carlo:5"], 8)
        play_tournament(plan, store, enter(plan, store))
        # Somebody has named the game, so that it is loaded: nothing more runs.
        assert export_games(store, store.tournaments(), out) == 8
    assert {record.game for _, record in read_records(out)} == {"own_game:GAME"}
    monkeypatch.delitem(sys.modules, "own_game")
    with Store("games.db", read_only=True) as store:
        assert leaderboards(store, "own_game:GAME")[0].games == 8
        with pytest.raises(CardlabError, match="give --trust"):
            export_games(store, store.tournaments(), out)
        assert export_games(store, store.tournaments(), out, trust=True) == 8


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_a_spreadsheet_calculates_nothing(path: Path, text: str) -> None:
    change(path, "tournaments", f"name = '{text}'")
    with Store(str(path), read_only=True) as store:
        for ending in (".csv", ".parquet"):
            export_games(store, store.tournaments(), path.with_suffix(ending))
    with path.with_suffix(".csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["tournament"] for row in rows} == {"whole", f"'{text}"}
    assert all(int(row["seed"]) for row in rows)  # numbers stay numbers, also negative ones
    import pyarrow.parquet as pq

    table = pq.read_table(path.with_suffix(".parquet")).to_pylist()
    assert {row["tournament"] for row in table} == {"whole", text}


def test_a_whole_store_is_read_without_a_warning(path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_all(path) == [2 * GAMES] * 4
