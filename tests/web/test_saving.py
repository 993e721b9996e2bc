"""No acknowledged move is ever undone: what players see is in the store, whatever happens to it."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cardlab.arena.store import Store
from cardlab.web import health
from cardlab.web.room_writer import RoomWriter
from tests.support.web_wire import (
    AGENT,
    GENEROUS,
    PAIR,
    PERSON,
    Wire,
    finish,
    in_app,
    open_table,
    request,
    site_of,
)

IMPATIENT = replace(GENEROUS, saving_seconds=0.01, opening_seconds=0.2)
TWO = {"game": "crazy_eights", "seats": [PERSON, {"person": "Bob"}], "seed": 5}


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "games.db"


@contextmanager
def held(store: Path) -> Iterator[None]:
    """Hold the store as another program does that writes for a long time."""
    at = sqlite3.connect(store, isolation_level=None)
    at.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        at.execute("ROLLBACK")
        at.close()


def stored_ply(store: Path) -> int:
    """Return how many moves the store knows of its only table."""
    with sqlite3.connect(store) as at:
        actions = at.execute("SELECT actions FROM web_tables").fetchone()[0]
    at.close()
    return len(actions) // 2


async def move(wire: Wire, view: Any) -> None:
    """Play the first legal action."""
    wire.say({"type": "act", "version": view["version"], "action": view["legal"][0]["id"]})


def test_a_move_is_shown_to_nobody_before_it_is_in_the_store(store: Path) -> None:
    async def play(app: Any) -> None:
        name, keys = await open_table(app, **TWO)
        ann, bob = Wire(app, name), Wire(app, name)
        view = await ann.join(keys[0])
        await bob.join(keys[1])
        with held(store):
            await move(ann, view)
            for wire in (ann, bob):
                assert await wire.hear("saving") is not None
            assert not any('"ply":1' in text for text in (*ann.texts, *bob.texts))
            assert stored_ply(store) == 0
            await move(ann, view)  # a second move has to wait for the first
            refused = await ann.hear("refused")
            assert refused["saving"] is True
            assert "still being saved" in refused["error"]
        for wire in (ann, bob):
            assert (await wire.hear("view"))["ply"] == 1
        assert stored_ply(store) == 1

    in_app(store, play, IMPATIENT)


def test_a_player_who_reloads_while_the_store_is_held_finds_the_own_move(store: Path) -> None:
    async def play(app: Any) -> None:
        name, keys = await open_table(app, **TWO)
        ann = Wire(app, name)
        view = await ann.join(keys[0])
        with held(store):
            await move(ann, view)
            assert await ann.hear("saving") is not None
            await ann.end()
            assert name in site_of(app).rooms.live  # it stays until it is written
            again = Wire(app, name)
            again.say({"type": "join", "secret": keys[0], "name": None})
            await asyncio.sleep(0)
        back = await again.hear("view")
        assert back["ply"] == 1
        assert back["legal"] is None  # the move cannot be made otherwise

    in_app(store, play, IMPATIENT)


def test_what_waits_to_be_written_is_read_before_the_store(store: Path) -> None:
    base = Store(str(store))
    writer = RoomWriter(base)

    async def play(app: Any) -> dict[str, Any]:
        name, keys = await open_table(app, **TWO)
        wire = Wire(app, name)
        view = await wire.join(keys[0])
        with held(store):
            await move(wire, view)
            await wire.hear("saving")
            pending = site_of(app).writer
            stored = await asyncio.to_thread(pending.load, name)
            assert stored is not None
            assert len(stored.actions) == 1
            assert pending.unsaved == 1  # counted once, although it may be on its way and wait
        return {"name": name}

    name = in_app(store, play, IMPATIENT)["name"]
    kept = writer.load(name)
    assert kept is not None
    assert len(kept.actions) == 1
    writer.close()
    base.close()


def test_health_and_metrics_say_when_moves_wait(store: Path) -> None:
    async def play(app: Any) -> None:
        name, keys = await open_table(app, **TWO)
        wire = Wire(app, name)
        view = await wire.join(keys[0])
        status, _, body = await request(app, "GET", "/api/health")
        found = json.loads(body)
        assert (status, found["ok"], found["unsaved"], found["trouble"]) == (200, True, 0, [])
        with held(store):
            await move(wire, view)
            for _ in range(2000):
                status, _, body = await request(app, "GET", "/api/health")
                if status != 200:
                    break
                await asyncio.sleep(0.01)
            found = json.loads(body)
            assert (status, found["ok"], found["unsaved"]) == (503, False, 1)
            assert found["trouble"] == ["moves cannot be saved and wait for the store"]
            assert found["behind_seconds"] >= 1
            _, headers, body = await request(app, "GET", "/metrics")
            lines = body.decode().splitlines()
            assert headers["content-type"].startswith("text/plain")
            assert "cardlab_unsaved 1" in lines
            assert "cardlab_ok 0" in lines
        await wire.hear("view")
        for _ in range(2000):
            status, *_ = await request(app, "GET", "/api/health")
            if status == 200:
                return
            await asyncio.sleep(0.01)
        raise AssertionError("health stays bad after the store has come back")

    in_app(store, play, IMPATIENT, metrics=True)


@pytest.mark.parametrize(("used", "most", "status"), [(95, 100, 503), (80, 100, 200)])
def test_health_says_when_descriptors_run_out(
    store: Path, monkeypatch: pytest.MonkeyPatch, used: int, most: int, status: int
) -> None:
    monkeypatch.setattr(health, "descriptors", lambda: (used, most))

    async def play(app: Any) -> None:
        found, _, body = await request(app, "GET", "/api/health")
        assert found == status
        told = json.loads(body)
        assert (told["files"], told["most_files"]) == (used, most)
        assert bool(told["trouble"]) == (status != 200)

    in_app(store, play)


def test_metrics_count_what_was_refused(store: Path) -> None:
    async def play(app: Any) -> None:
        for _ in range(3):
            await request(app, "POST", "/api/replays", {"game": "x"})
        _, _, body = await request(app, "GET", "/metrics")
        lines = body.decode().splitlines()
        assert 'cardlab_refused_total{kind="records"} 2' in lines
        names = [line.split()[2] for line in lines if line.startswith("# TYPE")]
        assert len(names) == len(set(names)) == len(health.METRICS) + 1
        assert all(f"# HELP {name} " in body.decode() for name in names)

    in_app(store, play, replace(GENEROUS, replays_a_minute=1), metrics=True)


def test_metrics_are_behind_a_switch(store: Path) -> None:
    async def play(app: Any) -> None:
        assert (await request(app, "GET", "/metrics"))[0] == 404

    in_app(store, play)


def test_no_table_is_opened_that_the_store_does_not_hold(store: Path) -> None:
    async def play(app: Any) -> None:
        with held(store):
            status, _, body = await request(app, "POST", "/api/tables", PAIR)
            assert status == 503
            assert "could not be saved" in json.loads(body)["error"]
            assert not site_of(app).rooms.live
            assert not site_of(app).rooms.unsaved
        name, keys = await open_table(app, **PAIR)
        wire = Wire(app, name)
        assert await finish(wire, await wire.join(keys[0])) is not None

    in_app(store, play, IMPATIENT)


def test_agents_play_on_while_the_store_is_held_but_not_endlessly(store: Path) -> None:
    """What agents do among themselves waits, too, and a bounded amount of it."""
    wish = {"game": "uno", "options": {"seats": 4}, "seats": [AGENT] * 4, "seed": 3}

    async def play(app: Any) -> None:
        name, _ = await open_table(app, **wish)
        guest = Wire(app, name)
        with held(store):
            guest.say({"type": "join", "secret": None})
            assert await guest.hear("saving") is not None
            room = site_of(app).rooms.live[name]
            for _ in range(2000):
                if len(room.outbox) > 64 or room.over:
                    break
                await asyncio.sleep(0.01)
            assert len(room.outbox) <= 66
            plies = [json.loads(text).get("ply", 0) for text in guest.texts]
            assert max(plies) <= stored_ply(store)
        view = await guest.hear("view")
        while not view["over"]:
            view = await guest.hear("view")

    in_app(store, play, IMPATIENT)


def test_a_writer_that_meets_an_unknown_error_goes_on(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put, failures = RoomWriter._put, [RuntimeError("something new"), OSError("disk full")]

    def fail_twice(self: RoomWriter, rows: Any) -> None:
        if failures:
            raise failures.pop()
        put(self, rows)

    async def play(app: Any) -> None:
        name, keys = await open_table(app, **TWO)
        wire = Wire(app, name)
        view = await wire.join(keys[0])
        monkeypatch.setattr(RoomWriter, "_put", fail_twice)
        await move(wire, view)
        assert (await wire.hear("view"))["ply"] == 1
        assert not failures
        assert site_of(app).writer.trouble is None

    in_app(store, play, IMPATIENT)


def test_store_troubles_name_no_file_and_no_host(store: Path) -> None:
    async def play(app: Any) -> None:
        name, _ = await open_table(app, **PAIR)
        with sqlite3.connect(store) as at:
            at.execute("DROP TABLE web_tables")
        at.close()
        for path in (f"/api/tables/{name}", f"/api/replays/{name}", "/api/games/recent"):
            status, _, body = await request(app, "GET", path)
            assert status == 503, path
            assert str(store) not in body.decode()
            assert "web_tables" not in body.decode()
        wire = Wire(app, name)
        wire.say({"type": "join", "secret": None})
        refused = await wire.hear("refused")
        assert "cannot be read" in refused["error"]
        assert store.name not in refused["error"]

    in_app(store, play, IMPATIENT)


NAMED = ("tables", "replays", "library", "library/figures", "tables/{}/record")


@pytest.mark.parametrize("id", ["\0", "a\0b", "x" * 5000, "é", "..", "1-2-3-4", "-" * 33])
def test_odd_names_are_not_found(store_address: str, id: str) -> None:
    """PostgreSQL takes no NUL in a text: it used to answer with user, host and database."""

    async def play(app: Any) -> None:
        for place in NAMED:
            path = f"/api/{place.format(id) if '{}' in place else f'{place}/{id}'}"
            status, _, body = await request(app, "GET", path)
            assert status in (400, 404), path
            error = json.loads(body)["error"]
            assert "cardlab" not in error
            assert "sqlalchemy" not in error
            assert "psycopg" not in error
        wire = Wire(app, id)
        wire.say({"type": "join", "secret": None})
        assert await wire.hear() is None
        assert wire.closed is not None
        assert wire.closed[0] == 4404

    in_app(store_address, play)


def test_a_store_of_a_newer_version_is_named_to_nobody(store: Path) -> None:
    """What is written for whoever runs the server goes to the log, whatever kind of error it is."""

    async def play(app: Any) -> None:
        with sqlite3.connect(store) as at:
            at.execute("UPDATE cardlab SET schema = 999")
        at.close()
        status, _, body = await request(app, "GET", "/api/leaderboard")
        assert status == 503
        assert "cannot be read" in json.loads(body)["error"]
        assert store.name not in body.decode()

    in_app(store, play)


DAMAGE = {
    "orders": b"\1\2\3",
    "actions": b"\7",
    "decks": 10**9,
    "seats": '[{"agent": 3}]',
    "options": "{",
    "points": "[1, Infinity]",
    "returns": "[0]",
    "dealing": '{"kind": "fair"}',
}


@pytest.mark.parametrize("column", DAMAGE)
def test_a_damaged_row_is_a_sentence_and_hides_no_other(store: Path, column: str) -> None:
    async def play(app: Any) -> None:
        tables = []
        for _ in range(2):
            name, keys = await open_table(app, **PAIR)
            wire = Wire(app, name)
            await finish(wire, await wire.join(keys[0]))
            await wire.end()
            tables.append(name)
        damaged, sound = tables
        with sqlite3.connect(store) as at:
            change = f"UPDATE web_tables SET {column} = ? WHERE id = ?"
            at.execute(change, (DAMAGE[column], damaged))
        at.close()
        status, _, body = await request(app, "GET", "/api/games/recent")
        assert status == 200
        assert sound in body.decode()
        status, _, body = await request(app, "GET", "/api/people")
        assert status == 200
        assert sum(row["games"] for row in json.loads(body)) in (1, 2)
        for path in (f"/api/tables/{damaged}", f"/api/replays/{damaged}"):
            status, _, body = await request(app, "GET", path)
            assert status == 400
            assert "is damaged" in json.loads(body)["error"]
        wire = Wire(app, damaged)
        wire.say({"type": "join", "secret": None})
        assert "is damaged" in (await wire.hear("refused"))["error"]

    in_app(store, play)


def test_a_store_that_hangs_holds_up_nothing_else(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import threading

    release = threading.Event()

    def hang(self: RoomWriter, table: str) -> None:
        release.wait(60)

    async def play(app: Any) -> None:
        name, keys = await open_table(app, **PAIR)
        wire = Wire(app, name)
        view = await wire.join(keys[0])
        monkeypatch.setattr(RoomWriter, "load", hang)
        try:
            waiting = [
                asyncio.create_task(request(app, "GET", f"/api/tables/{k:012}")) for k in range(40)
            ]
            assert (await request(app, "GET", "/api/games"))[0] == 200
            assert (await finish(wire, view))["over"]
            answers = await asyncio.gather(*waiting)
        finally:
            release.set()
        assert {status for status, *_ in answers} == {503}

    in_app(store, play, replace(IMPATIENT, reading_seconds=0.5))


def test_players_hear_of_saving_only_when_nothing_reaches_the_store(store: Path) -> None:
    """Agents that move all the time leave something pending: each commit starts the wait anew."""

    async def play(app: Any) -> None:
        name, keys = await open_table(app, **TWO)
        ann = Wire(app, name)
        await ann.join(keys[0])
        room = site_of(app).rooms.live[name]
        await room.settled()
        with held(store):
            room.save()
            first, timer = room.number, room.timer
            assert timer is not None
            room.save()
            room.committed(first)
            assert room.pending
            assert timer.cancelled()
            assert room.timer is not None
        await room.settled()
        assert room.timer is None

    in_app(store, play, GENEROUS)
