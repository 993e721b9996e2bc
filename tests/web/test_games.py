"""Games at the web table: people, agents, restarts, hints, and what is kept of them."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import re
import signal
import sqlite3
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cardlab.agents.catalog import agents_for
from cardlab.arena.store import SCHEMA, Store
from cardlab.arena.tournament import Plan, enter, play_tournament
from cardlab.engine.errors import CardlabError
from cardlab.engine.play import Table
from cardlab.engine.records import Record
from cardlab.engine.registry import find_game, our_games
from cardlab.engine.replay import replay
from cardlab.web import agent_pool as pool
from cardlab.web import room_writer as writer
from cardlab.web.agent_pool import AgentPool, check_agent
from cardlab.web.fair_queue import Busy
from cardlab.web.limits import Limits
from cardlab.web.room_writer import RoomWriter
from tests.support.waiting import PATIENCE
from tests.support.web_wire import (
    AGENT,
    PAIR,
    PERSON,
    Wire,
    finish,
    in_app,
    open_table,
    request,
    run_alone,
    site_of,
)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "games.db"


@pytest.mark.parametrize("game", our_games())
def test_a_game_ends_with_a_record_that_replays(store: Path, game: str) -> None:
    async def play(app: Any) -> None:
        seats = [PERSON] if game == "birds_of_a_feather" else [PERSON, AGENT]
        name, keys = await open_table(app, game=game, seats=seats, seed=3)
        status, _, body = await request(app, "GET", f"/api/tables/{name}/record")
        assert status == 409
        wire = Wire(app, name)
        told = await finish(wire, await wire.join(keys[0]))
        assert told["over"]["seed"] == 3
        status, headers, body = await request(app, "GET", f"/api/tables/{name}/record")
        assert "attachment" in headers["content-disposition"]
        record = Record.from_line(body.decode())
        *_, last = replay(record)
        assert last.over
        assert record.seats[0] == "Ann"
        status, _, body = await request(app, "GET", f"/api/replays/{name}")
        shown = json.loads(body)
        assert len(shown["frames"]) == len(record.actions) + 1
        assert shown["result"]["points"] == told["over"]["points"]
        status, _, same = await request(
            app,
            "POST",
            "/api/replays",
            body=record.to_line().encode(),
            headers={"content-type": "application/json"},
        )
        assert json.loads(same) == shown
        await wire.end()
        assert not site_of(app).rooms.live  # a table that nobody looks at leaves the memory

    in_app(store, play)


def test_replays_show_all_hands(store: Path) -> None:
    async def play(app: Any) -> None:
        name, keys = await open_table(app, **PAIR)
        wire = Wire(app, name)
        await finish(wire, await wire.join(keys[0]))
        frames = json.loads((await request(app, "GET", f"/api/replays/{name}"))[2])["frames"]
        hands = [z for z in frames[0]["description"]["zones"] if z["name"] == "hand"]
        assert [len(hand["cards"]) for hand in hands] == [hand["count"] for hand in hands]
        assert min(len(hand["cards"]) for hand in hands) >= 5
        assert frames[0]["action"]["id"] in range(66)
        await wire.end()

    in_app(store, play)


def test_restart_in_mid_game_goes_on_with_the_same_cards(store_address: str, store: Path) -> None:
    """The second server knows the table only from the store, and ends as one alone would."""
    made: dict[str, Any] = {}
    wish = {"game": "cribbage", "options": {"target": 61}, "seats": [PERSON, AGENT], "seed": 11}

    async def whole(app: Any) -> Any:
        name, keys = await open_table(app, **wish)
        wire = Wire(app, name)
        return (await finish(wire, await wire.join(keys[0])))["over"]

    async def first(app: Any) -> Any:
        name, keys = await open_table(app, **wish)
        wire = Wire(app, name)
        told = await finish(wire, await wire.join(keys[0]), most=9)
        while not told["legal"]:
            told = await wire.hear("view")
        made.update(name=name, key=keys[0], told=told)

    async def second(app: Any) -> Any:
        wire = Wire(app, made["name"])
        told = await wire.join(made["key"])
        for part in ("version", "ply", "legal", "extra", "description", "table"):
            assert told[part] == made["told"][part]
        return (await finish(wire, told))["over"]

    expected = in_app(store, whole)
    in_app(store_address, first)
    assert in_app(store_address, second) == expected


def test_only_hashes_of_secrets_are_kept(store: Path) -> None:
    async def play(app: Any) -> str | None:
        name, keys = await open_table(app, **PAIR)
        wire = Wire(app, name)
        await finish(wire, await wire.join(keys[0]), most=2)
        return keys[0]

    key = in_app(store, play)
    dump = "\n".join(sqlite3.connect(store).iterdump())
    assert "web_tables" in dump
    assert key not in dump


def test_an_older_store_is_brought_up_to_date(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    Store(str(path)).close()
    with sqlite3.connect(path) as at:
        at.execute("DROP TABLE web_tables")
        at.execute("UPDATE cardlab SET schema = 2")
    at.close()

    async def play(app: Any) -> None:
        name, _ = await open_table(app, **PAIR)
        assert (await request(app, "GET", f"/api/tables/{name}"))[0] == 200

    in_app(path, play)
    with sqlite3.connect(path) as at:
        assert at.execute("SELECT schema FROM cardlab").fetchone() == (SCHEMA,)
        assert at.execute("SELECT count(*) FROM web_tables").fetchone() == (1,)
    at.close()


def test_two_people_and_two_agents_at_uno(store: Path) -> None:
    async def play(app: Any) -> None:
        seats = [PERSON, AGENT, {"person": None}, AGENT]
        name, keys = await open_table(
            app, game="uno", options={"seats": 4}, seats=seats, hints=False, seed=1
        )
        one, two = Wire(app, name), Wire(app, name)
        told = {0: await one.join(keys[0]), 2: await two.join(keys[2], "Bob")}
        wires = {0: one, 2: two}
        assert told[2]["seats"][2]["name"] == "Bob"
        moves = dict.fromkeys(wires, 0)
        while not told[0]["over"]:
            version, seat = told[0]["version"], told[0]["description"]["to_move"]
            if seat in wires:
                while told[seat]["version"] < version:
                    told[seat] = await wires[seat].hear("view")
                action = told[seat]["legal"][0]["id"]
                wires[seat].say({"type": "act", "version": version, "action": action})
                moves[seat] += 1
            told[0] = await wires[0].hear("view")
        while not told[2]["over"]:
            told[2] = await wires[2].hear("view")
        assert told[0]["over"]["points"] == told[2]["over"]["points"]
        assert min(moves.values()) > 0
        came = next(json.loads(text) for text in one.texts if '"type":"seats"' in text)
        assert [seat["connected"] for seat in came["seats"]] == [True] * 4
        views = [json.loads(text) for text in two.texts if '"type":"view"' in text]
        assert [one["ply"] for one in views] == list(range(views[0]["ply"], views[-1]["ply"] + 1))

    in_app(store, play)


def test_birds_can_be_taken_back_and_asked_for_a_solution(store: Path) -> None:
    async def play(app: Any) -> None:
        name, keys = await open_table(app, game="birds_of_a_feather", seats=[PERSON], seed=1)
        wire = Wire(app, name)
        told = await wire.join(keys[0])
        wire.say({"type": "undo"})
        assert "no move" in (await wire.hear("refused"))["error"]
        wire.say({"type": "act", "version": told["version"], "action": told["legal"][0]["id"]})
        after = await wire.hear("view")
        wire.say({"type": "undo"})
        back = await wire.hear("view")
        assert back["description"] == told["description"]
        assert back["version"] > after["version"]
        wire.say({"type": "act", "version": told["version"], "action": told["legal"][0]["id"]})
        assert "position" in (await wire.hear("refused"))["error"]
        wire.say({"type": "solvable"})
        assert (await wire.hear("solvable"))["answer"] is True
        wire.say({"type": "hint", "version": back["version"]})
        hint = await wire.hear("hint")
        assert {row["value"] for row in hint["values"]} <= {0.0, 100.0}
        assert hint["best"] in {row["id"] for row in hint["values"] if row["value"] == 100.0}
        while not told["over"]:  # the adviser's moves lead to the end
            wire.say({"type": "hint", "version": back["version"]})
            best = (await wire.hear("hint"))["best"]
            wire.say({"type": "act", "version": back["version"], "action": best})
            told = back = await wire.hear("view")
        assert told["over"]["words"].startswith("Solved")

    in_app(store, play)


@pytest.mark.slow
def test_a_heavy_agent_thinks_elsewhere_and_a_lost_worker_is_replaced(store: Path) -> None:
    async def play(app: Any) -> None:
        seats = [PERSON, {"agent": "monte_carlo:50"}]
        name, keys = await open_table(app, game="crazy_eights", seats=seats, seed=5)
        wire = Wire(app, name)
        told = await wire.join(keys[0])
        team = site_of(app).pool
        told = await finish(wire, told, most=1)
        while not told["legal"]:
            told = await wire.hear("view")
        assert '"thinking"' in "".join(wire.texts)
        (worker,) = team.free
        for pid in list(worker._processes):  # as the kernel does when memory runs out
            os.kill(pid, signal.SIGKILL)
        told = await finish(wire, told, most=2)
        assert team.started >= 2
        wire.say({"type": "hint", "version": told["version"]})
        assert told["legal"] is None or (await wire.hear("hint"))["values"]

    in_app(store, play)


@pytest.mark.slow
def test_too_much_thinking_is_refused_not_queued_for_ever(tmp_path: Path) -> None:
    end, never = tmp_path / "end", tmp_path / "never"

    async def run() -> None:
        team = AgentPool(1, Limits(waiting=1, decision_seconds=PATIENCE))
        first, second = (asyncio.create_task(team.call(_think, end)) for _ in range(2))
        while not team.waiting:
            await asyncio.sleep(0)
        with pytest.raises(Busy, match="too many"):
            await team.call(_think, end)
        end.touch()
        assert await first == await second == "done"
        with pytest.raises(CardlabError, match=r"no answer within 0\.1 seconds"):
            await team.call(_think, never, seconds=0.1)
        with pytest.raises(CardlabError, match="worker processes in a row ended unexpectedly"):
            await team.call(_die)
        team.close()
        with pytest.raises(Busy, match="the server is stopping"):
            await team.call(_think, end)

    run_alone(run())


def _think(end: Path) -> str:
    while not end.exists():
        time.sleep(0.02)
    return "done"


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_every_agent_of_the_list_may_be_asked_for() -> None:
    for name in our_games():
        game = find_game(name)
        for entry in agents_for(game):
            assert check_agent(entry.usage, game, Limits()).name == entry.name


def test_an_open_agent_gets_the_state_and_a_fair_one_the_view() -> None:
    game = Table(find_game("crazy_eights"), seed=2)
    assert pool.decide("uct_open:20", game.state.copy(), (2, 0, 0)) in game.state.legal()
    assert pool.decide("heuristic", game.turn(), (2, 0, 0)) in game.state.legal()
    with pytest.raises(CardlabError, match="sees all cards"):
        pool.advise("uct_open:20", game.turn(), (2, 0, 0))


@pytest.mark.slow
def test_replays_are_advised_and_reviewed(store: Path) -> None:
    async def play(app: Any) -> None:
        name, keys = await open_table(app, **PAIR)
        wire = Wire(app, name)
        status, _, body = await request(app, "GET", f"/api/replays/{name}")
        assert status == 409  # all cards open: not while it is played
        await finish(wire, await wire.join(keys[0]))
        record = json.loads((await request(app, "GET", f"/api/tables/{name}/record"))[2])
        asked = {"record": record, "ply": 0, "adviser": "monte_carlo:200"}
        status, _, body = await request(app, "POST", "/api/replays/advice", asked)
        told = json.loads(body)
        assert told["taken"] == record["actions"][0][0]
        assert all(0 <= row["value"] <= 100 for row in told["values"])
        status, _, body = await request(app, "POST", "/api/replays/advice", asked | {"ply": 999})
        assert status == 400
        cheat = asked | {"adviser": "uct_open:10"}
        assert (await request(app, "POST", "/api/replays/advice", cheat))[0] == 400
        del asked["ply"]
        status, _, body = await request(app, "POST", "/api/replays/review", asked)
        lines = [json.loads(line) for line in body.splitlines()]
        assert len(lines) == len(record["actions"]) + 1
        costs = [one["cost"] for one in lines[-1]["worst"]]
        assert costs == sorted(costs, reverse=True)
        assert costs[0] == max(one.get("cost") or 0 for one in lines[:-1])
        forged = record | {"actions": [[0, "AC"], *record["actions"]]}
        status, _, body = await request(app, "POST", "/api/replays", forged)
        assert status == 400
        assert "ply 0" in json.loads(body)["error"]

    in_app(store, play)


def test_advice_has_the_unit_of_its_adviser(monkeypatch: pytest.MonkeyPatch) -> None:
    """An adviser may count in points, and say what it looked at."""
    turn = Table(find_game("crazy_eights"), seed=3).turn()
    count = len(turn.legal)

    class Adviser:
        name = "adviser"
        unit = SimpleNamespace(words="points", form="{:+.1f}", limits=None)

        def act(self, turn: Any, rng: Any) -> int:
            raise AssertionError("it has values")

        def values(self, turn: Any, rng: Any) -> Any:
            return np.array([*range(count - 1), np.nan])

        def attention(self, turn: Any) -> Any:
            heads = np.full((2, 4, count, 3), 1 / 3)
            return SimpleNamespace(weights=heads, tokens=("2D", "6C", "9S"), group=0)

    monkeypatch.setattr(pool, "agent_of", lambda spec, game: Adviser())
    told = pool.advise("adviser", turn, (0, 0, 0))
    assert told["best"] == turn.legal[count - 2]
    assert told["values"][-1] == {"value": None, "shown": "unknown"}
    assert told["values"][0] == {"value": 0.0, "shown": "+0.0"}
    assert (told["unit"], told["scale"]) == ("points", None)
    assert np.array(told["attention"]["weights"]).shape == (2, count, 3)
    json.dumps(told, allow_nan=False)


def test_an_agent_that_fails_is_told_and_the_table_stays(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def play(app: Any) -> None:
        name, keys = await open_table(app, game="crazy_eights", seats=[AGENT, PERSON], seed=5)
        right = pool.decide
        monkeypatch.setattr(pool, "decide", lambda *_: 1 / 0)
        wire = Wire(app, name)
        await wire.join(keys[1])
        assert "failed and could not move" in (await wire.hear("refused"))["error"]
        monkeypatch.setattr(pool, "decide", right)
        again = Wire(app, name)  # whoever comes back sets the table going again
        await finish(again, await again.join(keys[1]))

    in_app(store, play)


def test_tables_that_nobody_plays_are_forgotten(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "TIDY_SECONDS", 0.05)

    async def play(app: Any) -> None:
        names = []
        for moves in (0, 1, 0):
            name, keys = await open_table(app, **PAIR)
            names.append(name)
            if moves:
                wire = Wire(app, name)
                told = await wire.join(keys[0])
                action = told["legal"][0]["id"]
                wire.say({"type": "act", "version": told["version"], "action": action})
                await wire.hear("view")
                await wire.end()
        site_of(app).writer.flush()
        with sqlite3.connect(store) as base:
            base.execute("UPDATE web_tables SET changed = '2020' WHERE id != ?", (names[2],))
        async with asyncio.timeout(PATIENCE):
            while (await request(app, "GET", f"/api/tables/{names[0]}"))[0] != 404:
                await asyncio.sleep(0.05)
        known = [(await request(app, "GET", f"/api/tables/{name}"))[0] for name in names]
        assert known == [404, 200, 200]  # old and empty, old but played, empty but new

    in_app(store, play)


def test_a_game_that_has_just_ended_is_among_the_recent(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put = RoomWriter._put

    def slowly(self: RoomWriter, rows: Any) -> None:
        time.sleep(0.3)
        put(self, rows)

    monkeypatch.setattr(RoomWriter, "_put", slowly)
    monkeypatch.setattr(writer, "RESULT_SECONDS", 60)

    async def play(app: Any) -> None:
        name, keys = await open_table(app, **PAIR)
        wire = Wire(app, name)
        await finish(wire, await wire.join(keys[0]))
        _, _, body = await request(app, "GET", "/api/games/recent")
        assert name in body.decode()

    in_app(store, play)


def test_boards_people_and_library(store: Path) -> None:
    with Store(str(store)) as kept:
        plan = Plan.make("crazy_eights", ["random", "heuristic"], 20, seed=1)
        play_tournament(plan, kept, enter(plan, kept), workers=1)

    async def play(app: Any) -> None:
        seats = [PERSON, AGENT, AGENT]
        for seed in range(2):
            name, keys = await open_table(
                app, game="crazy_eights", options={"seats": 3}, seats=seats, seed=seed
            )
            wire = Wire(app, name)
            await finish(wire, await wire.join(keys[0]))
            await wire.end()
        site_of(app).writer.flush()
        board = json.loads((await request(app, "GET", "/api/leaderboard"))[2])
        assert {one["agent"] for one in board["boards"][0]["ratings"]} == {"random", "heuristic"}
        assert board["tables"][0]["cells"]
        status, _, body = await request(app, "GET", "/api/leaderboard?game=uno")
        assert json.loads(body) == {"boards": [], "tables": []}
        assert (await request(app, "GET", "/api/leaderboard?game=chess"))[0] == 400
        (row,) = json.loads((await request(app, "GET", "/api/people"))[2])
        assert (row["agent"], row["games"]) == ("heuristic", 2)
        assert row["interval"][0] <= row["score"] <= row["interval"][1]
        games = json.loads((await request(app, "GET", "/api/games/recent"))[2])
        assert {one["kind"] for one in games} == {"table", "tournament"}
        for one in games:
            status, _, body = await request(app, "GET", f"/api/replays/{one['id']}")
            assert status == 200
            assert json.loads(body)["seats"] == one["seats"]
        for bad in ("1-0-0-99", "9-9-9-9", "x", "1-1-1"):
            assert (await request(app, "GET", f"/api/replays/{bad}"))[0] == 404
        library = json.loads((await request(app, "GET", "/api/library"))[2])
        assert {one["name"] for one in library["papers"]} >= {"uno", "cribbage"}
        assert {one["name"] for one in library["papers"]} == set(our_games())
        for curve in library["curves"]:
            for one in curve["series"]:
                assert len(one["points"]) > 1
                share = [point[1] for point in one["points"] if "in %" in one["title"]]
                assert all(0 <= value <= 100 for value in share)
                assert not {"loss", "seconds", "decisions"} & {*one["name"].split("/")}
        report = json.loads((await request(app, "GET", "/api/library/uno"))[2])
        assert "<table>" in report["html"]
        for name in our_games():
            page = json.loads((await request(app, "GET", f"/api/library/{name}"))[2])["html"]
            assert "&lt;" not in page  # no tag stands there to be read
            assert not {*re.findall(r"<(script|iframe|object|svg|form|style)", page)}
        assert "style=" not in report["html"]
        for figure in report["figures"]:
            status, headers, _ = await request(app, "GET", f"/library/figures/{figure}")
            assert (status, headers["content-type"]) == (200, "image/svg+xml")
        for bad in ("..%2f..%2fpyproject.toml", "nothing.svg"):
            assert (await request(app, "GET", f"/library/figures/{bad}"))[0] == 404

    in_app(store, play)


def test_the_lobby_lists_games_options_and_agents(store: Path) -> None:
    async def play(app: Any) -> None:
        games = json.loads((await request(app, "GET", "/api/games"))[2])
        assert [one["name"] for one in games] == list(our_games())
        uno = next(one for one in games if one["name"] == "uno")
        assert uno["seats"] == [2, 10]
        assert {one["kind"] for one in uno["options"]} == {"bool", "choice", "range"}
        agents = {one["spec"]: one for one in uno["agents"]}
        assert agents["uno_net"]["values"]
        assert agents["uno_hands_open:3000"]["open"]
        assert not agents["uno_hands_open:3000"]["values"]

    in_app(store, play)


@pytest.mark.slow
def test_finished_games_leave_nothing_behind(store: Path) -> None:
    """After some games to fill caches, more of them add no object to the memory."""

    async def play(app: Any) -> None:
        async def games(count: int) -> int:
            for _ in range(count):
                name, keys = await open_table(app, **PAIR)
                wire = Wire(app, name)
                await finish(wire, await wire.join(keys[0]))
                await wire.end()
            site_of(app).writer.flush()
            gc.collect()
            return len(gc.get_objects())

        await app.state.warming
        await games(30)
        before = await games(20)
        after = await games(60)
        assert after - before < 60  # less than one object a game
        assert not site_of(app).rooms.live
        assert site_of(app).admission.total["sockets"] == 0

    in_app(store, play)
