"""Rooms under any sequence of messages: nothing leaks, nothing illegal, nothing goes back.

The machine speaks for two browsers of players and one that looks on, to a room over a real store.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Awaitable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from cardlab.arena.store import Store
from cardlab.engine.errors import CardlabError
from cardlab.engine.play import Table
from cardlab.engine.registry import find_game
from cardlab.web import sockets
from cardlab.web.admission import Admission
from cardlab.web.agent_pool import AgentPool
from cardlab.web.menu import Menu
from cardlab.web.messages import NewTable, read_body
from cardlab.web.room import Listener, Room
from cardlab.web.room_deal import draw_number, hash_of
from cardlab.web.room_writer import RoomWriter
from cardlab.web.rooms import Rooms
from cardlab.web.server_state import Site
from cardlab.web.store_reads import StoreReads
from tests.support.strategies import any_text, json_values, value_or_error
from tests.support.web_wire import GENEROUS

OPTIONS: dict[str, list[dict[str, Any]]] = {
    "crazy_eights": [{}, {"seats": 3, "hand_size": 2, "optional_draw": True}],
    "uno": [{"seats": 3}, {"stacking": True, "voluntary_draw": True}],
    "koi_koi": [{"rounds": 1}],
    "cribbage": [{"target": 61}],
}
KINDS = {"view", "gathering", "seats", "thinking", "refused", "hint", "solvable", "saving"}
PATIENCE = 60  # seconds until a room must have come to rest


@dataclass(eq=False)
class Browser:
    """One browser at the table: what it says and everything that it is sent."""

    seat: int | None
    key: str | None
    number: str = field(default_factory=draw_number)
    heard: list[dict[str, Any]] = field(default_factory=list)
    closed: bool = False
    listener: Listener | None = None
    address: str = "127.0.0.1"
    questions: asyncio.Task[None] | None = None
    saying: str = ""

    def send(self, text: str) -> None:
        """Take what the server sends."""
        assert not self.closed
        self.heard.append(json.loads(text))

    def close(self, code: int, reason: str) -> None:
        """Be sent away."""
        self.closed = True

    async def read(self) -> str:
        """Give the server what the person says."""
        return self.saying


class House:
    """A store and all that rooms need, on an event loop in a thread of its own."""

    def __init__(self, folder: Path) -> None:
        self.thread = ThreadPoolExecutor(1)
        self.loop = asyncio.new_event_loop()
        self.store = Store(str(folder / "games.db"))
        names = tuple(OPTIONS)
        games = {name: find_game(name) for name in names}
        self.menu = Menu(games, {name: name for name in names}, {}, {})
        self.site = self.run(self._open())

    async def _open(self) -> Site:
        limits = replace(GENEROUS, reading_seconds=PATIENCE)
        writer, reads, pool = RoomWriter(self.store), StoreReads(limits), AgentPool(1, limits)
        rooms = Rooms(self.menu, writer, reads, pool, limits)
        admission = Admission.of(limits)
        return Site(self.menu, self.store, writer, reads, pool, rooms, pool, limits, admission)

    def run(self, work: Awaitable[Any]) -> Any:
        """Return what something comes to."""

        async def timed() -> Any:
            return await asyncio.wait_for(work, PATIENCE)

        return self.thread.submit(self.loop.run_until_complete, timed()).result()

    def close(self) -> None:
        """Let go of everything."""
        self.site.writer.close()
        self.site.reads.close()
        self.site.pool.close()
        self.store.close()
        self.thread.submit(self.loop.close).result()
        self.thread.shutdown()


@pytest.fixture(scope="module")
def house() -> Iterator[House]:
    with tempfile.TemporaryDirectory() as folder:
        made = House(Path(folder))
        yield made
        made.close()


class RoomMachine(RuleBasedStateMachine):
    """One table, its players' browsers and one that looks on."""

    house: House

    @initialize(data=st.data())
    def open(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(OPTIONS)))
        options = data.draw(st.sampled_from(OPTIONS[name]))
        game = find_game(name)
        count = int(game.fresh(**game.read_options(options))[0].seats)
        seats = [{"person": "Ann"}, {"person": None}, {"agent": "heuristic"}][:count]
        if data.draw(st.booleans()):
            seats[1] = {"agent": "random"}
        wish = NewTable(
            game=name,
            options=options,
            seats=data.draw(st.permutations(seats)),
            seed=data.draw(st.none() | st.integers(0, 2**60)),
            adviser="heuristic",
            hints=data.draw(st.booleans()),
        )
        self.rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
        self.leaks: list[str] = []
        self.room, keys = self.house.run(self.house.site.rooms.open(wish))
        self.id, self.deal = self.room.id, self.room.dealing
        players = [Browser(seat, key) for seat, key in enumerate(keys) if key is not None]
        self.browsers = [*players, Browser(None, None)]
        self.version = self.ply = 0
        self.was_over = False
        self.result: Any = None

    # What browsers do

    @rule(who=st.integers(0, 2), commits=st.booleans())
    def join(self, who: int, commits: bool) -> None:
        browser = self.browsers[who % len(self.browsers)]
        self.let_in(browser, commits)

    @rule()
    def come_together(self) -> None:
        """Everybody comes and, where the deal is fair, sends the own number."""
        for browser in self.browsers:
            if browser.listener is None:
                self.let_in(browser, commits=True)
        for browser in self.browsers:
            if browser.seat in self.room.dealing.waiting_for:
                self.do(self.say(browser, {"type": "share", "share": browser.number}))

    def let_in(self, browser: Browser, commits: bool) -> None:
        async def join() -> None:
            site = self.house.site
            room = await site.rooms.find(self.id)
            assert room is not None
            assert room.find_seat(browser.key or "") == browser.seat
            self.room = site.rooms.use(room)
            if browser.listener is not None:
                self.room.leave(browser.listener)
                self.room = site.rooms.use(self.room)
            browser.closed, browser.heard = False, []
            browser.listener = Listener(browser.seat, browser.send, browser.close)
            self.room.join(browser.listener, "Bob", hash_of(browser.number) if commits else None)

        self.do(join())

    @rule(who=st.integers(0, 2))
    def leave(self, who: int) -> None:
        browser = self.browsers[who % len(self.browsers)]
        if browser.listener is not None:
            self.do(self.say(browser, {"type": "leave"}))

    @rule(who=st.integers(0, 2), nth=st.integers(0, 20), behind=st.integers(-1, 1))
    def act(self, who: int, nth: int, behind: int) -> None:
        action = nth
        if self.room.playing is not None and not self.room.over:
            legal = self.room.table.state.legal()
            action = int(legal[nth % len(legal)])
        self.tell(who, {"type": "act", "version": self.room.version - behind, "action": action})

    @rule(who=st.integers(0, 2), action=st.integers(0, 200) | st.integers(0, 2**31))
    def act_anyhow(self, who: int, action: int) -> None:
        self.tell(who, {"type": "act", "version": self.room.version, "action": action})

    @rule(who=st.integers(0, 2), right=st.booleans())
    def share(self, who: int, right: bool) -> None:
        number = self.browsers[who % len(self.browsers)].number if right else draw_number()
        self.tell(who, {"type": "share", "share": number})

    @rule(who=st.integers(0, 2), kind=st.sampled_from(["undo", "solvable", "join"]))
    def ask(self, who: int, kind: str) -> None:
        self.tell(who, {"type": kind})

    @rule(who=st.integers(0, 2))
    def hint(self, who: int) -> None:
        self.tell(who, {"type": "hint", "version": self.room.version})

    @rule(who=st.integers(0, 2), text=any_text | json_values.map(json.dumps))
    def talk_nonsense(self, who: int, text: str) -> None:
        self.tell(who, text)

    @precondition(lambda self: self.room.playing is not None and not self.room.over)
    @rule(moves=st.sampled_from([2, 20, 60]))
    def play_on(self, moves: int) -> None:
        """Whoever is to move and is there makes some legal move."""
        for _ in range(moves):
            if self.room.over:
                break
            mover = self.room.table.mover
            browser = next((one for one in self.browsers if one.seat == mover), None)
            if browser is None or browser.listener is None:
                break
            action = int(self.rng.choice(self.room.table.state.legal()))
            message = {"type": "act", "version": self.room.version, "action": action}
            self.do(self.say(browser, message))
            self.the_store_holds_it()

    @rule()
    def restart(self) -> None:
        """Everybody leaves; the table comes back from the store as it was."""
        before = [self.room.view(browser.seat) for browser in self.browsers]
        for browser in self.browsers:
            if browser.listener is not None:
                self.do(self.say(browser, {"type": "leave"}))
        assert self.id not in self.house.site.rooms.live
        found = self.house.run(self.house.site.rooms.find(self.id))
        assert found is not self.room
        self.room = found
        for browser, text in zip(self.browsers, before, strict=True):
            assert moment(self.room.view(browser.seat)) == moment(text)

    # How it is said

    def tell(self, who: int, message: Any) -> None:
        browser = self.browsers[who % len(self.browsers)]
        if browser.listener is not None:
            self.do(self.say(browser, message))

    async def say(self, browser: Browser, message: Any) -> None:
        """Have the server do what a browser says, as its socket does."""
        browser.saying = message if isinstance(message, str) else json.dumps(message)
        assert browser.listener is not None
        line = cast("sockets._Connection", browser)
        stays = await sockets._follow(self.house.site, line, self.room, browser.listener)
        if not stays:
            self.room.leave(browser.listener)
            browser.listener = None

    def do(self, work: Awaitable[None]) -> None:
        """Do something and wait until the room has come to rest."""

        async def settle() -> None:
            await work
            for browser in self.browsers:
                if browser.questions is not None:
                    await browser.questions
            while self.room.pending or self.room.task is not None:
                await asyncio.sleep(0)

        with self.watched():
            self.house.run(settle())

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Change the hidden cards behind every view, and demand the same bytes."""
        view = Room.view

        def viewing(room: Room, seat: int | None, move: Any = None) -> str:
            text = view(room, seat, move)
            if room.playing is not None and not room.over:
                true = room.playing.state
                eye = int(self.rng.integers(int(true.seats))) if seat is None else seat
                room.playing.state = true.view(eye).imagine(self.rng)
                if view(room, seat, move) != text:
                    self.leaks.append(text)
                room.playing.state = true
            return text

        Room.view = viewing  # type: ignore[method-assign]
        try:
            yield
        finally:
            Room.view = view  # type: ignore[method-assign]

    # What must hold

    @invariant()
    def nothing_is_told_too_early(self) -> None:
        assert not self.leaks
        deal = self.room.dealing
        numbers = {deal.secret, *(deal.shares.get(seat) for seat in deal.by_server)} - {"", None}
        numbers |= {one.number for one in self.browsers if one.seat is not None}
        for browser in self.browsers:
            version = -1
            for message in browser.heard:
                assert message["type"] in KINDS
                if "version" in message and message["type"] in ("view", "gathering"):
                    assert message["version"] >= version
                    version = message["version"]
                if message.get("over"):
                    assert self.room.over
                else:
                    text = json.dumps(message)
                    assert '"seed":' not in text
                    assert not any(number in text for number in numbers)
            assert browser.closed == (browser.listener is None and browser.closed)
        assert self.room.over or '"seed":' not in json.dumps(self.room.public())

    @invariant()
    def the_state_is_sound(self) -> None:
        room = self.room
        assert room.version >= self.version
        self.version = room.version
        if room.playing is None:
            assert room.dealing.kind == "fair"
            assert not room.dealing.ready
            return
        table = room.playing
        assert room.dealing.ready
        assert table.game.audit(table.state.array[0]) == 0
        assert len(table.actions) >= self.ply
        self.ply = len(table.actions)
        again = Table(table.game, deals=table.deals, options=table.options)
        for action in table.actions:
            again.act(action)
        assert again.state.array.tobytes() == table.state.array.tobytes()
        if self.was_over:
            assert room.over
            assert room.view(None) is not None
            assert [table.state.returns(), table.actions] == self.result
        self.was_over = room.over
        self.result = [table.state.returns(), list(table.actions)] if room.over else None

    @invariant()
    def the_store_holds_it(self) -> None:
        stored = self.house.site.writer.load(self.id)
        assert stored is not None
        actions = self.room.playing.actions if self.room.playing else []
        assert stored.actions == actions
        assert (stored.returns is not None) == self.room.over

    def teardown(self) -> None:
        for browser in getattr(self, "browsers", ()):
            if browser.listener is not None:
                self.do(self.say(browser, {"type": "leave"}))


def moment(text: str) -> Any:
    """Return what a view says, but for who is there."""
    told = json.loads(text)
    for seat in told["seats"]:
        del seat["connected"]
    return {key: value for key, value in told.items() if key != "move"}


def test_a_room_is_fair_whatever_browsers_send(house: House) -> None:
    RoomMachine.house = house
    most = settings().max_examples // 2
    run_state_machine_as_test(
        RoomMachine, settings=settings(max_examples=most, stateful_step_count=30)
    )


AGENTS = ["heuristic", "random", "heuristic:3", "nobody", "random:1", "uct_open:0", "cmd:true"]
USUAL = [{"person": "Ann"}, {"person": None}, {"agent": "heuristic"}, {"agent": "random"}]
SEATS = st.sampled_from(USUAL) | st.sampled_from([{"agent": one} for one in AGENTS])
WISHES = st.fixed_dictionaries(
    {
        "game": st.sampled_from([*OPTIONS, "chess", "tests.support.high_card:GAME"]),
        "seats": st.lists(st.sampled_from(USUAL), min_size=2, max_size=3)
        | st.lists(SEATS, min_size=1, max_size=4),
        "adviser": st.just("heuristic") | st.sampled_from(AGENTS),
    },
    optional={
        "options": st.sampled_from([one for some in OPTIONS.values() for one in some])
        | st.dictionaries(
            st.sampled_from(["seats", "rounds", "target"]) | any_text,
            st.booleans() | st.integers(-2, 12) | any_text,
            max_size=2,
        ),
        "seed": st.integers(-(10**30), 10**30) | st.sampled_from([2**63, -(2**63), 2**63 - 1]),
        "hints": st.booleans(),
    },
)


@given(wish=WISHES)
def test_any_wish_is_a_table_that_can_be_played_or_a_mistake(
    house: House, wish: dict[str, Any]
) -> None:
    def open_table() -> tuple[Room, list[str | None]]:
        read = read_body(json.dumps(wish), NewTable)
        opened: tuple[Room, list[str | None]] = house.run(house.site.rooms.open(read))
        return opened

    opened = value_or_error(open_table)
    if not isinstance(opened, CardlabError):
        room, keys = opened
        assert [key is None for key in keys] == ["agent" in seat for seat in wish["seats"]]
        assert len({*keys}) == sum(key is not None for key in keys) + (None in keys)
        stored = house.site.writer.load(room.id)
        assert stored is not None
        assert stored.options == room.options
        assert all(key not in json.dumps(stored.seats) for key in keys if key is not None)
        assert json.loads(room.view(None))["type"] in ("view", "gathering")
