"""People who play on the web, remember all they were shown, and come back after every failure."""

from __future__ import annotations

import asyncio
import json
import random
import time
from dataclasses import dataclass, field
from typing import Any

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, WebSocketException

from attacks.programs import Server
from attacks.wire import ask
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import OVER
from cardlab.engine.records import Record
from cardlab.engine.replay import replay
from cardlab.web.views import view_json

PATIENCE = 90.0  # seconds until something new must be seen
GIVE_UP = 150.0  # seconds until a table that does not go on is a loss
PAUSE = 0.12  # between a view and the move: messages have a limit of ten a second
NO_SEAT, NO_TABLE = 4401, 4404
KNOWLEDGE = ("ply", "description", "legal", "extra")  # what a view says of the game
GAMES: dict[str, dict[str, Any]] = {
    "crazy_eights": {},
    "uno": {},
    "koi_koi": {"rounds": 2},
    "cribbage": {"target": 61},
}


@dataclass
class Sitting:
    """One table as a person saw it: every view, and every move that was acknowledged."""

    game: str
    id: str
    secret: str
    views: dict[int, Any] = field(default_factory=dict)  # by ply
    moves: dict[int, int] = field(default_factory=dict)  # by ply
    sent: tuple[int, int] | None = None  # ply and action of a move on its way
    ply: int = -1  # of the newest view
    over: bool = False
    record: str | None = None

    def see(self, view: dict[str, Any]) -> list[str]:
        """Remember a view; return what it contradicts."""
        shown = {name: view[name] for name in KNOWLEDGE}
        ply, wrong = view["ply"], []
        if ply < self.ply:
            wrong.append(f"{self.game} went back from ply {self.ply} to {ply}")
        if ply in self.views and self.views[ply] != shown:
            wrong.append(f"{self.game} showed ply {ply} in two ways")
        if self.sent is not None and ply > self.sent[0]:
            self.moves[self.sent[0]] = self.sent[1]
            self.sent = None
        self.views[ply], self.ply, self.over = shown, ply, view["over"] is not None
        return wrong

    def contradictions(self) -> list[str]:
        """Return what the record of the game says otherwise than the person was shown."""
        if self.record is None:
            return [f"{self.game}, table {self.id}: no record came"]
        record, wrong = Record.from_line(self.record.strip()), []
        played = [action for action, _ in record.actions]
        for ply, action in self.moves.items():
            if played[ply : ply + 1] != [action]:
                wrong.append(
                    f"{self.game}: the acknowledged move at ply {ply} is not in the record"
                )
        try:
            for ply, table in enumerate(replay(record)):
                if ply not in self.views:
                    continue
                to_move = None if table.mover == OVER else table.mover
                legal = table.state.legal() if table.mover == 0 else None
                implied = json.loads(json.dumps(view_json(table.state.view(0), to_move, legal)))
                if any(self.views[ply][name] != implied[name] for name in implied):
                    wrong.append(f"{self.game}: the view of ply {ply} is not that of the record")
        except CardlabError as error:
            wrong.append(f"{self.game}: the record does not replay: {error}")
        return wrong


class Visitor:
    """A person at one table after the other, against agents."""

    def __init__(
        self,
        server: Server,
        seed: int,
        *,
        agent: str = "heuristic",
        games: tuple[str, ...] = tuple(GAMES),
        source: str | None = "127.0.0.1",
    ) -> None:
        self.server, self.agent, self.games, self.source = server, agent, games, source
        self.random = random.Random(seed)
        self.sittings: list[Sitting] = []
        self.lost: list[str] = []
        self.seconds: list[float] = []  # from each move to the view that contains it
        self.waits = 0  # how often it read that a move is being saved
        self.refusals: list[str] = []
        self.views = 0
        self.closing = False

    async def play_on(self) -> None:
        """Play until `closing`, then to the end of the game; no failure of the server ends it."""
        number = self.random.randrange(len(self.games))
        while not self.closing:
            sitting = await self.sit_down(self.games[number % len(self.games)])
            number += 1
            if sitting is not None:
                self.sittings.append(sitting)
                await self.finish(sitting)

    async def sit_down(self, game: str) -> Sitting | None:
        """Open a table, however long that takes; None: there is no more time for one."""
        wish = {
            "game": game,
            "options": GAMES.get(game, {}),
            "seats": [{"person": "Ann"}, {"agent": self.agent}],
        }
        while not self.closing:
            try:
                status, body = await ask(
                    self.server.address, "POST", "/api/tables", wish, source=self.source
                )
            except (OSError, TimeoutError):
                await asyncio.sleep(0.1)
                continue
            if status == 201:
                made = json.loads(body)
                return Sitting(game, made["id"], made["seats"][0]["secret"])
            self.refusals.append(json.loads(body)["error"])
            await asyncio.sleep(0.5)
        return None

    async def finish(self, sitting: Sitting) -> None:
        """Play a game to its end and fetch its record."""
        until = time.monotonic() + GIVE_UP
        while not sitting.over or sitting.record is None:
            if time.monotonic() > until:
                where = "at its end" if sitting.over else f"from ply {sitting.ply}"
                self.lost.append(
                    f"{sitting.game}, table {sitting.id}, did not go on {where}: "
                    f"{self.refusals[-1:]}"
                )
                return
            before = sitting.ply
            try:
                if not sitting.over:
                    await self._converse(sitting)
                else:
                    await self._fetch(sitting)
            except ConnectionClosed as closed:
                code = closed.rcvd.code if closed.rcvd else None
                if code in (NO_SEAT, NO_TABLE):
                    self.lost.append(f"{sitting.game}: table {sitting.id} is gone ({code})")
                    return
                await asyncio.sleep(0.1)
            except (OSError, WebSocketException, TimeoutError):
                await asyncio.sleep(0.1)
            if sitting.ply > before:
                until = time.monotonic() + GIVE_UP

    async def _fetch(self, sitting: Sitting) -> None:
        path = f"/api/tables/{sitting.id}/record"
        status, body = await ask(self.server.address, "GET", path, source=self.source)
        if status == 200:
            sitting.record = body.decode()
        else:
            self.refusals.append(body.decode()[:200])
            await asyncio.sleep(0.2)

    async def _converse(self, sitting: Sitting) -> None:
        """Join a table and play until the game is over or the line breaks."""
        path = f"/api/tables/{sitting.id}/socket"
        own = None if self.source is None else (self.source, 0)
        began = 0.0
        async with connect(
            self.server.address.replace("http", "ws", 1) + path,
            compression=None,
            local_addr=own,
            open_timeout=PATIENCE,
            close_timeout=1,
        ) as line:
            sitting.sent = None  # whether that move was taken shows now
            await line.send(json.dumps({"type": "join", "secret": sitting.secret}))
            while not sitting.over:
                message = json.loads(await asyncio.wait_for(line.recv(), PATIENCE))
                if message["type"] == "saving":
                    self.waits += 1
                if message["type"] == "refused":
                    self.refusals.append(message["error"])
                    await asyncio.sleep(0.3)
                    return  # joining again shows how it is
                if message["type"] != "view":
                    continue
                if sitting.sent is not None and message["ply"] > sitting.sent[0]:
                    self.seconds.append(time.perf_counter() - began)
                self.views += 1
                self.lost += sitting.see(message)
                if message["legal"] and sitting.sent is None:
                    await asyncio.sleep(PAUSE)
                    action = self.random.choice(message["legal"])["id"]
                    sitting.sent = (message["ply"], action)
                    act = {"type": "act", "version": message["version"], "action": action}
                    began = time.perf_counter()
                    await line.send(json.dumps(act))

    def contradictions(self) -> list[str]:
        """Return all that was undone or shown wrongly, by the records of the games."""
        found = list(self.lost)
        for sitting in self.sittings:
            if not any(sitting.id in sentence for sentence in found):
                found += sitting.contradictions()
        return found

    @property
    def acknowledged(self) -> int:
        """How many moves were acknowledged."""
        return sum(len(sitting.moves) for sitting in self.sittings)


class Party:
    """Some visitors who play beside an attack, and what became of their games."""

    def __init__(self, server: Server, number: int, seed: int, **more: Any) -> None:
        self.visitors = [Visitor(server, 100 * seed + k, **more) for k in range(number)]
        self.tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Party:
        self.tasks = [asyncio.create_task(visitor.play_on()) for visitor in self.visitors]
        return self

    async def __aexit__(self, *error: object) -> None:
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    async def everybody_plays(self, seconds: float = PATIENCE) -> list[str]:
        """Wait until everybody has had a new view; return who has not."""
        before = [visitor.views for visitor in self.visitors]
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            pairs = list(zip(self.visitors, before, strict=True))
            if all(visitor.views > count for visitor, count in pairs):
                return []
            await asyncio.sleep(0.05)
        return [
            f"a visitor saw nothing new for {seconds:g} s: {visitor.refusals[-1:]}"
            for visitor, count in pairs
            if visitor.views <= count
        ]

    async def end(self) -> list[str]:
        """Let everybody play to the end; return what was undone or shown wrongly."""
        for visitor in self.visitors:
            visitor.closing = True
        done = await asyncio.gather(*self.tasks, return_exceptions=True)
        failures = [f"a visitor failed: {error!r}" for error in done if error is not None]
        wrong = [sentence for visitor in self.visitors for sentence in visitor.contradictions()]
        return failures + wrong

    @property
    def acknowledged(self) -> int:
        """How many moves were acknowledged."""
        return sum(visitor.acknowledged for visitor in self.visitors)

    @property
    def seconds(self) -> list[float]:
        """How long each move took to be acknowledged."""
        return [each for visitor in self.visitors for each in visitor.seconds]

    @property
    def waits(self) -> int:
        """How often somebody read that a move is being saved."""
        return sum(visitor.waits for visitor in self.visitors)
