"""Games and agents from outside at the web table: what its operator names, and nothing else."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from cardlab.arena.store import TROUBLE, Store, StoreUnavailable
from cardlab.arena.tournament import Plan, enter, play_tournament
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Game
from cardlab.engine.play import Table
from cardlab.engine.records import Record
from cardlab.engine.registry import find_game, installed, our_games
from cardlab.engine.replay import replay
from cardlab.web.menu import Menu
from cardlab.web.views import open_description, public_description, words_of
from tests.support.paths import EXAMPLES
from tests.support.web_wire import PERSON, Wire, finish, in_app, open_table, request, site_of

KUHN = "kuhn_poker:GAME"
AGENTS = """
class Bold:
    '''Bets, and knows what it holds.'''
    name = "bold"
    def __init__(self, nerve=1):
        self.nerve = nerve
    def act(self, turn, rng):
        return int(turn.legal[-1 if self.nerve else 0])

class Peek:
    name = "peek_open"
    def act_open(self, state, rng):
        return int(state.legal()[-1])
"""


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "games.db"


@pytest.fixture
def menu(monkeypatch: pytest.MonkeyPatch) -> Menu:
    """Our games and Kuhn poker, as `--game kuhn_poker:GAME` offers it."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    return Menu.of([KUHN])


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of installed packages: Kuhn poker, agents, and what cannot be offered."""
    folder = tmp_path / "one-1.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: one\nVersion: 1\n")
    (folder / "entry_points.txt").write_text(
        f"[cardlab.games]\npoker = {KUHN}\nbroken = nowhere:GAME\n"
        "[cardlab.agents]\nbold = web_agents:Bold\npeek_open = web_agents:Peek\n"
        "sly = web_agents:Peek\nrandom = web_agents:Bold\n"
    )
    (tmp_path / "web_agents.py").write_text(AGENTS)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.syspath_prepend(str(EXAMPLES))
    installed.cache_clear()
    yield tmp_path
    installed.cache_clear()


async def ask(app: Any, path: str, body: Any = None) -> tuple[int, Any]:
    """Return status and data of an answer."""
    method = "GET" if body is None else "POST"
    status, _, told = await request(app, method, path, body)
    return status, json.loads(told)


def test_a_game_from_outside_is_listed_played_and_looked_at(store: Path, menu: Menu) -> None:
    with Store(str(store)) as base:
        plan = Plan.make(KUHN, ["random", "monte_carlo:10"], 20, seed=1)
        play_tournament(plan, base, enter(plan, base), workers=1)

    async def play(app: Any) -> None:
        _, games = await ask(app, "/api/games")
        assert [one["name"] for one in games] == [*our_games(), "kuhn_poker"]
        kuhn = games[-1]
        page = kuhn["page"]
        assert (kuhn["title"], kuhn["seats"], page["deck"]) == ("Kuhn poker", [2, 2], "plain")
        assert (page["module"], page["style"], page["rules"]) == (None, None, "")
        assert kuhn["cards"] == ["J", "Q", "K"]
        offered = {one["spec"].partition(":")[0]: one for one in kuhn["agents"]}
        assert {"random", "monte_carlo", "information_set", "uct_open"} <= offered.keys()
        assert "heuristic" not in offered

        # A worker process of its own loads the game: it thinks, and it advises.
        seats = [{"agent": "monte_carlo:20"}, PERSON]
        name, keys = await open_table(app, game="kuhn_poker", seats=seats, seed=3)
        assert (await ask(app, f"/api/tables/{name}"))[1]["page"]["deck"] == "plain"
        wire, guest = Wire(app, name), Wire(app, name)
        told = await wire.join(keys[1])
        await guest.join(None)
        while not told["legal"]:
            told = await wire.hear("view")
        assert told["move"] == {"seat": 0, "id": None, "text": "has moved", "card": None}
        assert told["description"]["events"]
        wire.say({"type": "hint", "version": told["version"]})
        hint = await wire.hear("hint")
        assert [row["text"] for row in hint["values"]] == ["pass", "bet"]
        assert all(0 <= row["value"] <= 100 for row in hint["values"])
        told = await finish(wire, told)
        assert told["over"]["words"]

        _, _, line = await request(app, "GET", f"/api/tables/{name}/record")
        record = Record.from_line(line.decode())
        assert record.game == KUHN
        *_, last = replay(record, trust=True)
        assert last.over
        _, shown = await ask(app, f"/api/replays/{name}")
        assert (shown["game"], shown["page"]["deck"]) == ("kuhn_poker", "plain")
        hands = [zone["cards"] for zone in shown["frames"][0]["description"]["zones"]]
        assert [len(cards) for cards in hands] == [1, 1]
        assert (await ask(app, "/api/replays", json.loads(line)))[1] == shown
        asked = {"record": json.loads(line), "ply": 0, "adviser": "monte_carlo:50"}
        _, advice = await ask(app, "/api/replays/advice", asked)
        assert [row["text"] for row in advice["values"]] == ["pass", "bet"]

        assert await asyncio.to_thread(site_of(app).writer.flush)
        _, recent = await ask(app, "/api/games/recent")
        assert {one["kind"] for one in recent} == {"table", "tournament"}
        assert {one["title"] for one in recent} == {"Kuhn poker"}
        arena = next(one for one in recent if one["kind"] == "tournament")
        assert (await ask(app, f"/api/replays/{arena['id']}"))[1]["game"] == "kuhn_poker"
        _, people = await ask(app, "/api/people")
        assert [one["game"] for one in people] == ["kuhn_poker"]
        for path in ("/api/leaderboard", "/api/leaderboard?game=kuhn_poker"):
            _, board = await ask(app, path)
            assert [one["game"] for one in board["boards"]] == ["kuhn_poker"]
            assert [one["game"] for one in board["tables"]] == ["kuhn_poker"]
        assert (await ask(app, "/api/leaderboard?game=uno"))[1]["boards"] == []

    in_app(store, play, menu=menu)


def test_a_table_waits_until_its_game_is_offered_again(store: Path, menu: Menu) -> None:
    made: dict[str, Any] = {}
    seats = [PERSON, {"agent": "random"}]

    async def first(app: Any) -> None:
        name, keys = await open_table(app, game="kuhn_poker", seats=seats, seed=3)
        wire = Wire(app, name)
        made.update(name=name, key=keys[0], told=await wire.join(keys[0]))
        done, done_keys = await open_table(app, game="kuhn_poker", seats=seats, seed=4)
        wire = Wire(app, done)
        await finish(wire, await wire.join(done_keys[0]))

    async def without(app: Any) -> None:
        status, told = await ask(app, f"/api/tables/{made['name']}")
        assert status == 400
        assert "unknown game 'kuhn_poker'" in told["error"]
        assert "--game" in told["error"]
        wire = Wire(app, made["name"])
        wire.say({"type": "join", "secret": made["key"]})
        assert "unknown game" in (await wire.hear("refused"))["error"]
        assert (await ask(app, "/api/games/recent")) == (200, [])
        assert (await ask(app, "/api/people"))[0] == 200

    async def again(app: Any) -> None:
        wire = Wire(app, made["name"])
        told = await wire.join(made["key"])
        assert told["description"] == made["told"]["description"]
        assert (await finish(wire, told))["over"]

    in_app(store, first, menu=menu)
    in_app(store, without)
    in_app(store, again, menu=menu)


def test_what_a_visitor_names_is_never_imported(
    store: Path, menu: Menu, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "stranger.py").write_text(f"from kuhn_poker import GAME\n{AGENTS}")

    async def play(app: Any) -> None:
        seats = [PERSON, {"agent": "random"}]
        name, keys = await open_table(app, game="kuhn_poker", seats=seats, seed=3)
        wire = Wire(app, name)
        await finish(wire, await wire.join(keys[0]))
        _, record = await ask(app, f"/api/tables/{name}/record")
        wish = {"game": "kuhn_poker", "seats": seats}
        forged = record | {"game": "stranger:GAME"}
        for path, body in (
            ("/api/replays", forged),
            ("/api/replays/advice", {"record": forged, "ply": 0, "adviser": "random"}),
            ("/api/replays/review", {"record": forged, "adviser": "random"}),
            ("/api/replays/advice", {"record": record, "ply": 0, "adviser": "stranger:Bold"}),
            ("/api/tables", wish | {"game": "stranger:GAME"}),
            ("/api/tables", wish | {"adviser": "stranger:Bold"}),
            ("/api/tables", wish | {"seats": [PERSON, {"agent": "stranger:Bold"}]}),
            ("/api/leaderboard?game=stranger:GAME", None),
        ):
            status, told = await ask(app, path, body)
            assert status == 400, path
            assert "\n" not in told["error"]
            if body is forged:
                assert "unknown game 'stranger:GAME'" in told["error"]
        assert "stranger" not in sys.modules

    in_app(store, play, menu=menu)


def test_installed_packages_are_offered_and_broken_ones_told(store: Path, packages: Path) -> None:
    menu = Menu.of([], ["web_agents:Bold:nerve=0"])
    assert list(menu.games) == [*our_games(), "kuhn_poker"]
    assert menu.game("poker") is menu.game("kuhn_poker") is menu.game(KUHN)
    assert list(menu.agents) == ["web_agents:Bold:nerve=0", "bold", "peek_open"]
    assert menu.left_out.keys() == {"broken", "sly"}
    assert "cannot be imported" in menu.left_out["broken"]
    assert "'_open'" in menu.left_out["sly"]  # it sees all cards, and its name does not say so

    async def play(app: Any) -> None:
        _, games = await ask(app, "/api/games")
        listed = {one["spec"]: one for one in games[-1]["agents"]}
        assert [listed[name]["open"] for name in menu.agents] == [False, False, True]
        for agent, said in (
            ("bold", "bet"),
            ("web_agents:Bold:nerve=0", "passed"),
            ("peek_open", "bet"),
        ):
            wish = {"game": "kuhn_poker", "seats": [{"agent": agent}, PERSON], "seed": 3}
            name, keys = await open_table(app, **wish)
            wire = Wire(app, name)
            told = await wire.join(keys[1])
            while not told["legal"]:
                told = await wire.hear("view")
            assert told["seats"][0]["open_cards"] == (agent == "peek_open")
            assert told["description"]["events"] == [{"seat": 0, "text": said}]
            await wire.end()
        for agent in ("bold:nerve=0", "web_agents:Bold", "sly"):  # to the letter, or not at all
            wish = {"game": "kuhn_poker", "seats": [{"agent": agent}, PERSON]}
            status, told = await ask(app, "/api/tables", wish)
            assert status == 400
            assert "choose one from the list" in told["error"]
        wish = {"game": "kuhn_poker", "seats": [PERSON, PERSON], "adviser": "peek_open"}
        assert "sees all cards" in (await ask(app, "/api/tables", wish))[1]["error"]

    in_app(store, play, menu=menu)


def test_what_cannot_be_offered_is_one_sentence(
    menu: Menu, packages: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kuhn = menu.game("kuhn_poker")
    module = sys.modules["kuhn_poker"]

    def variant(**changes: Any) -> None:
        changed: Game = dataclasses.replace(kuhn, **{"reference": "kuhn_poker:OTHER", **changes})
        monkeypatch.setattr(module, "OTHER", changed, raising=False)

    for games, agents, changes, words in (
        (["nowhere:GAME"], [], {}, "cannot be imported"),
        (["kuhn_poker:STATE"], [], {}, "not a cardlab Game"),
        (["kuhn_poker:OTHER"], [], {"name": "uno"}, "which another game of this server"),
        ([KUHN, "kuhn_poker:OTHER"], [], {}, "which another game of this server"),
        (["kuhn_poker:OTHER"], [], {"name": "two words"}, "letters, digits"),
        (["kuhn_poker:OTHER"], [], {"name": "x" * 41}, "at most 40"),
        (["kuhn_poker:OTHER"], [], {"name": "x", "reference": KUHN}, "which does not import it"),
        (
            ["kuhn_poker:OTHER"],
            [],
            {"name": "x", "reference": "gone:GAME"},
            "which does not import it",
        ),
        ([], ["nowhere:Agent"], {}, "there is no nowhere.py"),
        ([], ["cmd:./agent"], {}, "cannot be served"),
        ([], ["web_agents:Peek"], {}, "does not match what it sees"),
        ([], ["web_agents:Bold:cheek=1"], {}, "cannot be made"),
    ):
        variant(**changes)
        with pytest.raises(CardlabError, match=words) as caught:
            Menu.of(games, agents)
        assert "\n" not in str(caught.value)


def test_a_game_may_tell_each_seat_of_its_own_hand_only(high_card: Game) -> None:
    state = Table(high_card, seed=3).state

    def zones(told: Any) -> list[tuple[str, int | None, int]]:
        return sorted((zone.name, zone.seat, len(zone.cards)) for zone in told.zones)

    assert zones(state.view(1).describe()) == [("hand", 1, 3), ("pile", None, 0)]
    both = [("hand", 0, 3), ("hand", 1, 3), ("pile", None, 0)]
    assert [zones(open_description(state, seat)) for seat in (0, 1)] == [both, both]
    seen = public_description(state, 0)["description"]["zones"]
    assert [zone["name"] for zone in seen] == ["pile"]


def test_a_game_from_outside_that_is_played_alone_ends_in_words(menu: Menu) -> None:
    game = menu.game("kuhn_poker")
    assert words_of(game, [1.0], [12.0], ["Ann"], 0) == "Won with 12 points"
    assert words_of(game, [-1.0], [3.0], ["Ann"], 0) == "Lost with 3 points"
    assert words_of(find_game("birds_of_a_feather"), [1.0], [15.0], ["Ann"], 0).startswith("Solved")


PACKAGE = """
from cardlab.engine.manifest import AgentEntry, GamePackage, Level

PACKAGE = GamePackage(
    module=__name__,
    game=f"{__name__}.rules:GAME",
    name="small_poker",
    title="Small poker",
    agents=(AgentEntry("bold", "bets", "web_agents:Bold"),),
    levels=(Level("Easy", "bold", "bold.svg"),),
    adviser="monte_carlo:50",
    page="page",
    page_data=f"{__name__}.page.page_data:PAGE_DATA",
    rules="rules.md",
)
"""
RULES = """
import dataclasses
import kuhn_poker
GAME = dataclasses.replace(
    kuhn_poker.GAME, name="small_poker", title="Small poker", reference="small_poker.rules:GAME"
)
"""
PAGE_DATA = """
from cardlab.web.page_data import PageData
PAGE_DATA = PageData(
    action=lambda number: {"kind": ("pass", "bet")[number]}, keys=(("B", "bet"),), cards=("K",)
)
"""


def test_a_package_from_outside_brings_its_page_along(
    store: Path, packages: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = "export const order = 'suit';\nexport const render = () => 'small poker';\n"
    for name, text in {
        "__init__.py": PACKAGE,
        "rules.py": RULES,
        "rules.md": "# Small poker\n\nThree cards,\none bet.\n\nMore.\n",
        "page/__init__.py": "",
        "page/page_data.py": PAGE_DATA,
        "page/page.js": page,
        "page/page.css": ".small {}\n",
        "page/bold.svg": "<svg/>",
    }.items():
        path = packages / "small_poker" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    menu = Menu.of(["small_poker:PACKAGE"])

    async def play(app: Any) -> None:
        _, games = await ask(app, "/api/games")
        poker = next(one for one in games if one["name"] == "small_poker")
        assert poker["page"] == {
            "module": "/games/small_poker/page.js",
            "style": "/games/small_poker/page.css",
            "deck": "plain",
            "rules": "Three cards, one bet.",
            "keys": [["B", "bet"]],
            "undo": False,
            "numbered_deals": False,
        }
        level = {"name": "Easy", "agent": "bold", "portrait": "/games/small_poker/bold.svg"}
        assert (poker["levels"], poker["adviser"]) == ([level], "monte_carlo:50")
        for file, kind in (("page.js", "text/javascript"), ("page.css", "text/css")):
            status, headers, body = await request(app, "GET", f"/games/small_poker/{file}")
            assert (status, headers["content-type"].partition(";")[0]) == (200, kind)
            assert "default-src 'none'" in headers["content-security-policy"]
            assert headers["etag"]
            assert body
        assert (await request(app, "GET", level["portrait"]))[0] == 200
        for path in (
            "__init__.py",
            "page_data.py",
            "../rules.py",
            "%2e%2e/rules.py",
            "/etc/passwd",
        ):
            assert (await request(app, "GET", f"/games/small_poker/{path}"))[0] == 404
        assert (await request(app, "GET", "/games/nothing/page.js"))[0] == 404
        seats = [PERSON, {"agent": "bold"}]
        name, keys = await open_table(app, game="small_poker", seats=seats, seed=3)
        wire = Wire(app, name)
        told = await wire.join(keys[0])
        assert [one["kind"] for one in told["legal"]] == ["pass", "bet"]

    in_app(store, play, menu=menu)


@pytest.mark.parametrize("place", ["agent", "adviser"])
def test_a_table_of_a_strangers_store_runs_no_code(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    (tmp_path / "trap.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\n")
    monkeypatch.chdir(tmp_path)
    seats = [{"agent": "heuristic"}, PERSON]

    async def begin(app: Any) -> str:
        name, _ = await open_table(app, game="crazy_eights", seats=seats, seed=3)
        assert await asyncio.to_thread(site_of(app).writer.flush)
        return name

    name = in_app(store, begin)
    with closing(sqlite3.connect(store)) as at:
        if place == "agent":
            at.execute("UPDATE web_tables SET seats = replace(seats, 'heuristic', 'trap:Agent')")
        else:
            at.execute("UPDATE web_tables SET adviser = 'trap:Agent'")
        at.commit()

    async def look(app: Any) -> None:
        status, answer = await ask(app, f"/api/tables/{name}")
        assert status == 400
        assert "agent 'trap:Agent' is not available for Crazy Eights here" in answer["error"]

    in_app(store, look)
    assert not (tmp_path / "ran").exists()


def test_strangers_read_nothing_of_where_the_store_is(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def play(app: Any) -> None:
        def fail(*_: object) -> None:
            raise StoreUnavailable(f"the store {store} cannot be used: disk I/O error")

        monkeypatch.setattr(site_of(app).writer, "load", fail)
        for path in ("/api/tables/" + "a" * 22, "/api/replays/" + "a" * 22):
            status, answer = await ask(app, path)
            assert (status, answer["error"]) == (503, TROUBLE)

    in_app(store, play)
