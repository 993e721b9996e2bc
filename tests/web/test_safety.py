"""Nobody breaks the web table: forged, large, many, stale messages, other sites, limits."""

from __future__ import annotations

import asyncio
import gzip
import json
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from cardlab.engine.play import Table
from cardlab.engine.registry import find_game
from cardlab.web import leaderboards as boards
from cardlab.web.guard import ANY_ADDRESS
from cardlab.web.limits import Bucket, Limits, RateLimiter
from tests.support.web_wire import (
    AGENT,
    GENEROUS,
    HOST,
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


def test_wrong_messages_are_refused_and_change_nothing(store: Path) -> None:
    async def play(app: Any) -> None:
        seats = [PERSON, {"person": "Bob"}]
        name, keys = await open_table(app, game="crazy_eights", seats=seats, seed=5)
        ann, bob, guest = Wire(app, name), Wire(app, name), Wire(app, name)
        told = await ann.join(keys[0])
        await bob.join(keys[1])
        await guest.join(None)
        table = site_of(app).rooms.live[name]
        state = table.table.state.array.tobytes()
        good = told["legal"][0]["id"]
        now = told["version"]
        wrong: list[tuple[Wire, Any]] = [
            (ann, {"type": "act", "version": now, "action": 10_000}),
            (ann, {"type": "act", "version": now, "action": -1}),
            (ann, {"type": "act", "version": now, "action": str(good)}),
            (ann, {"type": "act", "version": now, "action": True}),
            (ann, {"type": "act", "version": now, "action": good + 0.5}),
            (ann, {"type": "act", "version": now, "action": 65}),
            (ann, {"type": "act", "version": now + 1, "action": good}),  # of another position
            (ann, {"type": "act", "action": good}),
            (ann, {"type": "act", "version": now, "action": good, "seat": 1}),
            (bob, {"type": "act", "version": now, "action": good}),  # out of turn
            (bob, {"type": "hint", "version": now}),
            (guest, {"type": "act", "version": now, "action": good}),
            (guest, {"type": "hint", "version": now}),
            (guest, {"type": "solvable"}),
            (ann, {"type": "undo"}),
            (ann, {"type": "solvable"}),
            (ann, {"type": "join", "secret": keys[1]}),
            (ann, {"type": "cheat"}),
            (ann, {}),
            (ann, []),
            (ann, "act!"),
            (ann, "[" * 3000),
            (ann, '{"type":"act","version":1e400,"action":0}'),
        ]
        for wire, message in wrong:
            wire.say(message)
            refused = await wire.hear("refused")
            assert refused is not None, message
            assert refused["error"], message
            assert "\n" not in refused["error"]
            assert table.table.state.array.tobytes() == state, message
            assert table.version == now
        ann.say({"type": "act", "version": now, "action": good})
        assert (await ann.hear("view"))["ply"] == 1
        ann.say({"type": "act", "version": now, "action": good})  # the same again is stale
        assert "position" in (await ann.hear("refused"))["error"]

    in_app(store, play)


@pytest.mark.parametrize(
    ("first", "code"),
    [
        ({"type": "join", "secret": "forged"}, 4401),
        ({"type": "act", "version": 0, "action": 0}, 1008),
        ("x" * 5000, 1009),
        ("no JSON", 1008),
    ],
)
def test_whoever_does_not_join_properly_is_sent_away(store: Path, first: Any, code: int) -> None:
    async def play(app: Any) -> None:
        name, _ = await open_table(app, **PAIR)
        wire = Wire(app, name)
        wire.say(first)
        assert await wire.hear("view") is None
        await asyncio.wait_for(wire.task, 10)
        assert wire.closed is not None
        assert wire.closed[0] == code
        assert not site_of(app).rooms.live

    in_app(store, play)


def test_unknown_tables_large_and_many_messages_close_the_line(store: Path) -> None:
    limits = Limits(messages_a_second=1, message_burst=5, join_seconds=0.2)

    async def play(app: Any) -> None:
        wire = Wire(app, "nothing")
        await wire.join(None)
        assert wire.closed is not None
        assert wire.closed[0] == 4404
        silent = Wire(app, "nothing")
        await asyncio.wait_for(silent.task, 5)
        assert silent.closed is not None
        assert silent.closed[0] == 1008
        name, keys = await open_table(app, **PAIR)
        wire = Wire(app, name)
        await wire.join(keys[0])
        state = site_of(app).rooms.live[name].table.state.array.tobytes()
        wire.say(json.dumps({"type": "leave", "more": "é" * 2100}))
        await asyncio.wait_for(wire.task, 5)
        assert wire.closed is not None
        assert wire.closed[0] == 1009
        wire = Wire(app, name)
        told = await wire.join(keys[0])
        assert told is not None
        for _ in range(12):
            wire.say({"type": "act", "version": 99, "action": 0})
        await asyncio.wait_for(wire.task, 5)
        assert wire.closed is not None
        assert wire.closed[0] == 4408
        table = await site_of(app).rooms.find(name)
        assert table is not None
        assert table.table.state.array.tobytes() == state
        assert site_of(app).admission.total["sockets"] == 0

    in_app(store, play, limits)


def test_a_second_tab_takes_the_seat_over(store: Path) -> None:
    async def play(app: Any) -> None:
        name, keys = await open_table(app, **PAIR)
        one, two = Wire(app, name), Wire(app, name)
        told = await one.join(keys[0])
        assert await two.join(keys[0]) is not None
        await asyncio.wait_for(one.task, 5)
        assert one.closed is not None
        assert one.closed[0] == 4409
        await finish(two, told)

    in_app(store, play)


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://localhost:9999"},
        {"host": "evil.example"},  # a foreign name that was pointed at this machine
        {"host": "evil.example", "origin": "http://evil.example"},
    ],
)
def test_pages_of_other_sites_get_nothing(store: Path, headers: dict[str, str]) -> None:
    async def play(app: Any) -> None:
        name, keys = await open_table(app, **PAIR)
        lines = {"host": "localhost"} | headers
        wire = Wire(app, name, [(one.encode(), two.encode()) for one, two in lines.items()])
        wire.say({"type": "join", "secret": keys[0]})
        await asyncio.wait_for(wire.task, 5)
        assert not wire.accepted
        assert not wire.texts
        status, _, body = await request(app, "POST", "/api/tables", PAIR, headers)
        assert status in (403, 421)
        assert json.loads(body)["error"]

    in_app(store, play)


def test_our_own_origin_and_programs_are_let_in(store: Path) -> None:
    async def play(app: Any) -> None:
        for origin in ([], [(b"origin", b"http://localhost")]):
            name, keys = await open_table(app, **PAIR)
            wire = Wire(app, name, [HOST, *origin])
            assert await wire.join(keys[0]) is not None
            await wire.end()
        status, *_ = await request(app, "GET", "/api/games", headers={"host": "10.1.2.3"})
        assert status == 421  # listening on this machine only, an address of a network is not ours

    async def on_network(app: Any) -> None:
        for host, right in (("10.1.2.3:8080", 200), ("[fe80::1]:80", 200), ("cards.home", 200)):
            assert (await request(app, "GET", "/api/games", headers={"host": host}))[0] == right
        assert (await request(app, "GET", "/api/games", headers={"host": "other.home"}))[0] == 421

    in_app(store, play)
    in_app(store, on_network, hosts=["cards.home", ANY_ADDRESS])


def test_answers_carry_the_headers_of_safety(store: Path) -> None:
    async def play(app: Any) -> None:
        for path in ("/", "/api/games", "/nothing", "/static/nothing.js", "/table/abc"):
            _, headers, _ = await request(app, "GET", path)
            policy = headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
            assert "frame-ancestors 'none'" in policy
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["referrer-policy"] == "no-referrer"

    in_app(store, play)


def test_files_are_answered_whole_packed_or_not_at_all(store: Path) -> None:
    static = Path(str(files("cardlab.web") / "static"))

    async def ask(app: Any, path: str, method: str = "GET", **headers: str) -> Any:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return await request(app, method, path, headers=named)

    async def play(app: Any) -> None:
        types = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
        for name, kind in (("table.js", ".js"), ("style.css", ".css"), ("icon.svg", ".svg")):
            wanted = (static / name).read_bytes()
            status, headers, body = await ask(app, f"/static/{name}")
            assert (status, body) == (200, wanted)
            assert headers["content-type"].startswith(types[kind])
            status, _, body = await ask(app, f"/static/{name}", if_none_match=headers["etag"])
            assert (status, body) == (304, b"")
            several = f'"other", {headers["etag"].removeprefix("W/")}'
            assert (await ask(app, f"/static/{name}", if_none_match=several))[0] == 304
            assert (await ask(app, f"/static/{name}", if_none_match='"other"'))[0] == 200
            status, headers, body = await ask(app, f"/static/{name}", accept_encoding="gzip")
            packed = headers.get("content-encoding") == "gzip"
            assert packed == (len(wanted) >= 1000)
            assert (gzip.decompress(body) if packed else body) == wanted
        assert (await ask(app, "/static/board/kit.js"))[0] == 200
        assert (await ask(app, "/leaderboard", "HEAD"))[0] == 200
        status, headers, body = await ask(app, "/cards/uno.svg", accept_encoding="gzip")
        assert (status, headers["content-type"]) == (200, "image/svg+xml")
        assert gzip.decompress(body).startswith(b"<svg")
        for path in (
            "games",
            "games/",
            "nothing.js",
            "../server.py",
            "%2e%2e/server.py",
            "/etc/passwd",
        ):
            status, _, body = await ask(app, f"/static/{path}")
            assert (status, b"import" in body) == (404, False)

    in_app(store, play)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"game": "chess"}, "unknown game"),
        ({"game": "os:system"}, "unknown game"),
        ({"seats": [PERSON]}, "needs 2 seats here, got 1"),
        ({"seats": [PERSON, {"agent": "cmd:rm"}]}, "choose one from the list"),
        ({"seats": [PERSON, {"agent": "os.path:join"}]}, "choose one from the list"),
        ({"seats": [PERSON, {"agent": "cmd:touch /tmp/x"}]}, "the request is invalid"),
        ({"seats": [PERSON, {"agent": "monte_carlo:9999999"}]}, "may be at most 20000 here"),
        (
            {"seats": [PERSON, {"agent": "monte_carlo:playouts=9999999"}]},
            "may be at most 20000 here",
        ),
        ({"seats": [PERSON, {"agent": "information_set:10,trees=64"}]}, "trees"),
        ({"seats": [PERSON, {"agent": "solver"}]}, "is not available for"),
        ({"adviser": "uct_open:100"}, "sees all cards"),
        ({"options": {"seats": 9}}, "not allowed"),
        ({"options": {"colour": 1}}, "unknown option"),
        ({"seed": 2**70}, "out of range"),
        ({"seed": "x"}, "the request is invalid"),
        ({"more": 1}, "the request is invalid"),
        ({"seats": [{"person": "x" * 200}, AGENT]}, "person: String should have at most"),
        ({"seats": [{"agent": "x" * 200}, AGENT]}, "agent: String should match"),
        ({"seats": [{}, AGENT]}, "agent: Field required"),
        ({"seats": [PERSON, {"agent": "information_set:10,c=21"}]}, "may be at most 20 here"),
        ({"seats": [PERSON, {"agent": "determinised:30,threads=2"}]}, "threads"),
    ],
)
def test_impossible_tables_are_refused_in_one_sentence(
    store: Path, change: dict[str, Any], words: str
) -> None:
    async def play(app: Any) -> None:
        status, _, body = await request(app, "POST", "/api/tables", PAIR | change)
        error = json.loads(body)["error"]
        assert status == 400
        assert words in error
        assert "\n" not in error

    in_app(store, play)


def test_bodies_have_a_size_and_a_kind(store: Path) -> None:
    async def play(app: Any) -> None:
        large = PAIR | {"options": {"x": "y" * 20_000}}
        assert (await request(app, "POST", "/api/tables", large))[0] == 413
        told = {"content-length": "10"}  # says less than it sends
        assert (await request(app, "POST", "/api/tables", large, told))[0] == 413
        form = {"content-type": "text/plain"}
        assert (await request(app, "POST", "/api/tables", PAIR, form))[0] == 415
        for body in (b"", b"{", b"\xff\xfe", b"[]", b"null"):
            kind = {"content-type": "application/json"}
            status, _, answer = await request(app, "POST", "/api/tables", body, kind)
            assert status == 400
            assert "error" in json.loads(answer)
        for path in ("/api/replays", "/api/replays/advice", "/api/replays/review"):
            status, _, answer = await request(app, "POST", path, {"record": {"game": "x"}})
            assert status == 400
            assert "error" in json.loads(answer)

    in_app(store, play)


HALF = "\ud800"  # half of a character: JSON can write it, no answer can hold it
BROKEN: list[dict[str, Any]] = [
    {"seats": [HALF, "b"]},
    {"note": HALF},
    {"options": {"seats": HALF}},
    {"forfeit": 0, "result": {"returns": [], "points": []}},
    {"forfeit": 0, "result": {"returns": [1e999, 0], "points": [0, 0]}},
    {"forfeit": 0, "result": {"returns": [1, 0, 5], "points": [0]}},
    {"forfeit": 9, "result": {"returns": [1, -1], "points": [0, 0]}},
    {"game": "os:system"},
    {"rules": 99},
    {"actions": [[10**30, "x"]]},
]


def test_broken_records_are_one_sentence(store: Path) -> None:
    table = Table(find_game("crazy_eights"), seed=3)
    table.act(int(table.turn().legal[0]))
    right = json.loads(table.record(["a", "b"]).to_line())

    async def play(app: Any) -> None:
        assert (await request(app, "POST", "/api/replays", right))[0] == 200
        gave_up = {"forfeit": 0, "result": {"returns": [-1, 1], "points": [0, 0]}}
        assert (await request(app, "POST", "/api/replays", right | gave_up))[0] == 200
        for change in BROKEN:
            wrong = right | change
            question = {"record": wrong, "ply": 0, "adviser": "heuristic"}
            asked = [("", wrong), ("/review", {"record": wrong, "adviser": "heuristic"})]
            if "forfeit" not in change:  # a move before the end can still be valued
                asked.append(("/advice", question))
            for path, body in asked:
                status, _, answer = await request(app, "POST", f"/api/replays{path}", body)
                assert status == 400, (path, change, answer)
                assert "\n" not in json.loads(answer)["error"]
        for change in ({"options": {"seats": HALF}}, {HALF: 1}, {"seed": 10**4000}):
            status, _, answer = await request(app, "POST", "/api/tables", PAIR | change)
            assert status == 400
            assert len(answer) < 400

    in_app(store, play)


def long_record(least: int) -> dict[str, Any]:
    """Return the record of a game in which somebody draws or passes whenever that is possible."""
    table = Table(find_game("crazy_eights"), seed=3, options={"optional_draw": True})
    while len(table.actions) < least and not table.over:
        texts = table.turn().texts
        waits = [k for k, text in enumerate(texts) if text in ("draw", "pass")]
        table.act(int(table.turn().legal[waits[0] if waits else 0]))
    found: dict[str, Any] = json.loads(table.record(["a", "b"]).to_line())
    return found


def test_replays_hold_up_nobody_and_are_bounded(store: Path) -> None:
    record = long_record(60)

    async def play(app: Any) -> None:
        replays = [
            asyncio.create_task(request(app, "POST", "/api/replays", record)) for _ in range(40)
        ]
        await asyncio.sleep(0)
        await open_table(app, **PAIR)
        assert not all(task.done() for task in replays)
        statuses = [status for status, *_ in await asyncio.gather(*replays)]
        assert statuses.count(200) == 6  # of one address at the same time
        assert statuses.count(503) == 34
        assert (await request(app, "POST", "/api/replays", record))[0] == 200

    in_app(store, play, replace(GENEROUS, replays_of_address=6))


def test_a_replay_too_many_is_refused_unread(store: Path) -> None:
    async def play(app: Any) -> None:
        site_of(app).admission.enter("replays", "127.0.0.1")
        for path in ("/api/replays", "/api/replays/review"):
            status, _, answer = await request(app, "POST", path, b"{")
            assert (status, b"still being computed" in answer) == (503, True)
        site_of(app).admission.leave("replays", "127.0.0.1")
        assert (await request(app, "POST", "/api/replays", b"{"))[0] == 400

    in_app(store, play, replace(GENEROUS, replays_of_address=1))


def test_records_have_a_greatest_length(store: Path) -> None:
    record = long_record(60)

    async def play(app: Any) -> None:
        for path, more in (("", {}), ("/review", {"adviser": "heuristic"})):
            body = {"record": record, **more} if more else record
            status, _, answer = await request(app, "POST", f"/api/replays{path}", body)
            assert status == 400
            assert "moves, the limit here is 10" in json.loads(answer)["error"]

    in_app(store, play, replace(GENEROUS, record_plies=10))


@pytest.mark.slow
def test_what_an_agent_costs_is_measured_before_it_is_let_in(store: Path) -> None:
    """No parameter bounds a search to its end; a moment of it does."""

    async def ask(app: Any, agent: str) -> tuple[int, str]:
        wish = {"game": "crazy_eights", "seats": [PERSON, {"agent": agent}]}
        status, _, body = await request(app, "POST", "/api/tables", wish)
        return status, body.decode()

    async def play(app: Any) -> None:
        status, body = await ask(app, "determinised:600,depth=40")
        assert status == 400
        assert "is too slow here" in body
        assert (await ask(app, "monte_carlo:2000"))[0] == 201
        assert len(site_of(app).pool.trials) == 2
        again = await asyncio.gather(*(ask(app, "determinised:600,depth=40") for _ in range(5)))
        assert {status for status, _ in again} == {400}
        assert len(site_of(app).pool.trials) == 2  # what was measured is known

    in_app(store, play, replace(GENEROUS, thinking_seconds=1.0))


def test_hints_and_questions_are_limited_by_address(store: Path) -> None:
    async def play(app: Any) -> None:
        wish = PAIR | {"adviser": "heuristic"}
        wires = []
        for _ in range(2):
            name, keys = await open_table(app, **wish)
            wires.append(Wire(app, name))
            view = await wires[-1].join(keys[0])
            for _ in range(2):
                wires[-1].say({"type": "hint", "version": view["version"]})
                answer = await wires[-1].hear()
                while answer["type"] not in ("hint", "refused"):
                    answer = await wires[-1].hear()
                wires[-1].texts.append(json.dumps({"type": "end", "as": answer["type"]}))
        ends = [json.loads(text)["as"] for wire in wires for text in wire.texts if '"as"' in text]
        assert ends == ["hint", "hint", "hint", "refused"]  # a second table brings no more of them

    in_app(store, play, replace(GENEROUS, hints_a_minute=3))


def test_tables_and_visitors_are_limited(store: Path) -> None:
    async def play(app: Any) -> None:
        made = [await open_table(app, **PAIR) for _ in range(3)]
        status, _, body = await request(app, "POST", "/api/tables", PAIR)
        assert status == 429
        assert "wait" in json.loads(body)["error"]
        wires = []
        for name, keys in made[:2]:
            wires.append(Wire(app, name))
            assert await wires[-1].join(keys[0])
        late = Wire(app, made[2][0])
        assert await late.join(made[2][1][0]) is None
        assert late.closed is not None
        assert "too many tables" in late.texts[0]
        await wires[0].end()
        late = Wire(app, made[2][0])
        assert await late.join(made[2][1][0])
        crowd = [Wire(app, made[2][0]) for _ in range(3)]
        views = [await one.join(None) for one in crowd]
        assert [view is not None for view in views] == [True, True, False]

    in_app(store, play, Limits(tables=2, tables_a_minute=3, sockets_at_table=3))


def test_buckets_fill_again() -> None:
    bucket = Bucket(1e6, 2)
    assert [bucket.take() for _ in range(2)] == [True, True]
    slow = Bucket(1e-9, 2)
    assert [slow.take() for _ in range(3)] == [True, True, False]
    visitors = RateLimiter(2)
    assert [visitors.take(name) for name in ("a", "a", "a", "b")] == [True, True, False, True]


def test_a_mistake_of_the_server_is_one_sentence_too(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def play(app: Any) -> None:
        monkeypatch.setattr(boards, "recent_json", lambda *_: 1 / 0)
        status, headers, body = await request(app, "GET", "/api/games/recent")
        assert status == 500
        assert "the server failed; try again" in json.loads(body)["error"]
        assert "default-src 'none'" in headers["content-security-policy"]

    in_app(store, play)
