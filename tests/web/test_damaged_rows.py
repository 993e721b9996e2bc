"""Rows of the store that no server wrote: their table says so in a sentence, all others go on."""

from __future__ import annotations

import json
import logging
import sqlite3
from pathlib import Path
from typing import Any

import pytest

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


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "games.db"


def overwrite(store: Path, table: str, column: str, value: Any) -> None:
    """Write something into a row of a table."""
    with sqlite3.connect(store) as at:
        at.execute(f"UPDATE web_tables SET {column} = ? WHERE id = ?", (value, table))
    at.close()


async def finished_table(app: Any, seed: int) -> str:
    """Play a game to its end and leave; return its table."""
    wish = {"game": "crazy_eights", "seats": [PERSON, AGENT], "seed": seed}
    name, keys = await open_table(app, **wish)
    wire = Wire(app, name)
    await finish(wire, await wire.join(keys[0]))
    await wire.end()
    return name


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("options", "{"),
        ("options", "[]"),
        ("seats", "null"),
        ("seats", "[]"),
        ("seats", '[{"x": 1}]'),
        ("seats", '[{"agent": {}, "name": null, "digest": null}]'),
        ("seats", '[{"agent": 5, "name": null, "digest": null}]'),
        ("seats", '[{"agent": null, "name": null, "digest": 7}]'),
        ("seats", '[{"agent": null, "name": null, "digest": null}]'),
        ("adviser", b"\xff"),
        ("decks", -1),
        ("decks", 7),
        ("decks", 10**9),
        ("orders", "text"),
        ("orders", b"\xff" * 52),
        ("actions", b"\x01"),
        ("actions", b"\xff" * 64),
        ("actions", "text"),
        ("undone", "text"),
        ("undone", -5),
        ("returns", "{"),
        ("points", "{"),
        ("dealing", "{"),
        ("dealing", "[]"),
        ("dealing", '{"x": 1}'),
        ("seed", "text"),
        ("game", "no_such_game"),
    ],
)
def test_a_damaged_table_says_so_and_costs_no_other(
    store: Path, column: str, value: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async def play(app: Any) -> None:
        name, keys = await open_table(app, **PAIR)
        other, other_keys = await open_table(app, **PAIR)
        overwrite(store, name, column, value)
        for path in (f"/api/tables/{name}", f"/api/tables/{name}/record", f"/api/replays/{name}"):
            status, _, body = await request(app, "GET", path)
            assert status in (400, 404), body
            assert str(store) not in body.decode()
        wire = Wire(app, name)
        wire.say({"type": "join", "secret": keys[0], "name": None})
        answer = await wire.hear()
        assert answer is not None
        assert answer["type"] == "refused"
        assert answer["error"]
        again = Wire(app, other)
        assert (await finish(again, await again.join(other_keys[0])))["over"]

    with caplog.at_level(logging.ERROR):
        in_app(store, play)
    assert not caplog.records


@pytest.mark.parametrize(("column", "value"), [("seats", "{"), ("returns", "{"), ("seats", "[3]")])
def test_one_damaged_result_hides_no_other_and_holds_nothing_back(
    store: Path, column: str, value: str
) -> None:
    """An answer that failed keeps no read of the store open: later ones would see old rows."""

    async def play(app: Any) -> None:
        bad, good = await finished_table(app, 1), await finished_table(app, 2)
        overwrite(store, bad, column, value)
        for path in ("/api/people", "/api/games/recent"):
            status, _, body = await request(app, "GET", path)
            assert status == 200, body
        listed = json.dumps((await request(app, "GET", "/api/games/recent"))[2].decode())
        assert good in listed
        assert bad not in listed
        later = await finished_table(app, 3)
        assert later not in site_of(app).rooms.live
        assert (await request(app, "GET", f"/api/tables/{later}/record"))[0] == 200

    in_app(store, play, GENEROUS)
