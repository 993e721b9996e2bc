"""Rooms: one game each with its seats, what each seat is sent, and the store behind them.

A room is in memory while somebody looks at it or an agent thinks; otherwise it lies in the store
and comes back when it is asked for, which is also what happens after a restart. An agent's random
stream is that of (seed, seat, ply), so that nothing about it needs to be kept.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import logging
import secrets
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from cardlab.agents.catalog import adviser_of
from cardlab.engine import seeding
from cardlab.engine.errors import CardlabError, IllegalAction
from cardlab.engine.game import OVER, Game, State, Turn
from cardlab.engine.play import Table
from cardlab.engine.records import Record
from cardlab.web import agent_pool
from cardlab.web.agent_pool import AgentPool, Busy, is_open, is_quick
from cardlab.web.limits import Limits
from cardlab.web.lobby import page_json
from cardlab.web.menu import Menu
from cardlab.web.messages import AgentSeat, NewTable
from cardlab.web.page_data import page_data_of
from cardlab.web.room_writer import RoomWriter, StoredRoom, row_of
from cardlab.web.views import action_json, move_json, public_description, view_json, words_of

LOG = logging.getLogger(__name__)
ID_BYTES, SECRET_BYTES = 9, 24
NAMELESS = "a guest"
RETRY_SECONDS = 0.5  # until an agent asks again for a place in the queue


def digest_of(secret: str) -> str:
    """Return what is kept of a seat's secret: it is long and random, so one hash is enough."""
    return hashlib.sha256(secret.encode()).hexdigest()


@dataclass(slots=True)
class Seat:
    """Who sits there: an agent, a person, or as yet nobody who has said a name."""

    agent: str | None = None
    name: str | None = None
    digest: str | None = None

    @property
    def label(self) -> str:
        """The name that others read."""
        return self.agent or self.name or NAMELESS


@dataclass(slots=True, eq=False)
class Listener:
    """A browser at a table: its seat, if it has one, and how it is written to or sent away."""

    seat: int | None
    send: Callable[[str], None]
    close: Callable[[int, str], None]


@dataclass(frozen=True, slots=True)
class RoomSettings:
    """What does not change as long as a room exists."""

    id: str
    seed: int
    hints: bool
    adviser: str | None
    begun: str  # date and time


class Room:
    """One game with its seats and listeners; all calls come from the event loop."""

    __slots__ = ("home", "listeners", "seats", "settings", "table", "task", "undone")

    def __init__(
        self,
        home: Rooms,
        settings: RoomSettings,
        table: Table,
        seats: list[Seat],
        undone: int = 0,
    ) -> None:
        self.home, self.settings, self.table, self.seats = home, settings, table, seats
        self.undone = undone
        self.listeners: list[Listener] = []
        self.task: asyncio.Task[None] | None = None

    @property
    def id(self) -> str:
        """What the room is found by."""
        return self.settings.id

    @property
    def game(self) -> Game:
        """The game that is played."""
        return self.table.game

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self.table.over

    @property
    def ply(self) -> int:
        """How many moves have been made."""
        return len(self.table.actions)

    @property
    def version(self) -> int:
        """A number that rises with every change, steps back included."""
        return self.ply + 2 * self.undone

    @property
    def busy(self) -> bool:
        """Whether the table must stay in memory."""
        return bool(self.listeners) or (self.task is not None and not self.task.done())

    # What is sent

    def facts(self) -> dict[str, Any]:
        """Return what everybody may know of a table, without a card of it."""
        return {
            "id": self.id,
            "game": self.game.name,
            "title": self.game.title,
            "options": self.table.options,
            "hints": self.settings.hints,
            "adviser": self.settings.adviser if self.settings.hints else None,
        }

    def people(self) -> list[dict[str, Any]]:
        """Return who sits where."""
        there = {listener.seat for listener in self.listeners}
        return [
            {
                "name": seat.label if seat.agent or seat.name else None,
                "kind": "agent" if seat.agent else "person" if seat.name else "open",
                "connected": bool(seat.agent) or k in there,
                "open_cards": bool(seat.agent) and is_open(seat.agent or ""),
            }
            for k, seat in enumerate(self.seats)
        ]

    def public(self) -> dict[str, Any]:
        """Return the facts and how far the game is."""
        summary = {
            **self.facts(),
            "summary": self.game.summary,
            "page": page_json(self.game),
            "seats": self.people(),
            "version": self.version,
            "ply": self.ply,
            "over": self._result(None) if self.over else None,
        }
        return {**summary, "seed": self.table.seed} if self.over else summary

    def view(self, seat: int | None, move: tuple[int, int] | None = None) -> str:
        """Return the message that shows the table to a seat, or to somebody without one."""
        state, mover = self.table.state, self.table.mover
        over, to_move = mover == OVER, None if mover == OVER else mover
        if seat is None:
            shown = public_description(state, to_move)
        else:
            legal = state.legal() if seat == mover else None
            shown = view_json(state.view(seat), to_move, legal)
        return _dump(
            {
                "type": "view",
                "version": self.version,
                "ply": self.ply,
                "table": self.facts(),
                "seat": seat,
                "seats": self.people(),
                **shown,
                "move": None if move is None else move_json(self.game, *move, seat),
                "over": self._result(seat) if over else None,
            }
        )

    def _result(self, seat: int | None) -> dict[str, Any]:
        returns, points = self.table.state.returns(), self.table.state.points()
        names = [seat.label for seat in self.seats]
        words = words_of(self.game, returns, points, names, seat)
        return {"returns": returns, "points": points, "words": words, "seed": self.table.seed}

    def send_views(self, move: tuple[int, int] | None = None) -> None:
        """Send everybody their view."""
        made: dict[int | None, str] = {}
        for listener in list(self.listeners):
            if listener.seat not in made:
                made[listener.seat] = self.view(listener.seat, move)
            listener.send(made[listener.seat])

    def send_all(self, message: dict[str, Any]) -> None:
        """Send everybody the same."""
        text = _dump(message)
        for listener in list(self.listeners):
            listener.send(text)

    # Who comes and goes

    def find_seat(self, secret: str) -> int | None:
        """Return the seat that a secret opens."""
        digest = digest_of(secret)
        found = None
        for k, seat in enumerate(self.seats):
            if seat.digest is not None and hmac.compare_digest(seat.digest, digest):
                found = k
        return found

    def join(self, listener: Listener, name: str | None) -> None:
        """Let somebody in, in place of whoever held the seat in another tab."""
        if listener.seat is not None:
            for other in [each for each in self.listeners if each.seat == listener.seat]:
                self.listeners.remove(other)
                other.close(4409, "this seat was taken over by another tab")
            seat = self.seats[listener.seat]
            if name and not seat.name:
                seat.name = name
                self.save()
        elif len(self.listeners) >= self.home.limits.sockets_at_table:
            raise CardlabError("too many look at this table already; try again later")
        self.listeners.append(listener)
        listener.send(self.view(listener.seat))
        self._announce(listener)
        self.go_on()

    def leave(self, listener: Listener) -> None:
        """Let somebody go."""
        if listener in self.listeners:
            self.listeners.remove(listener)
            self._announce(None)
        self.home.tidy(self)

    def _announce(self, newcomer: Listener | None) -> None:
        text = _dump({"type": "seats", "seats": self.people()})
        for listener in list(self.listeners):
            if listener is not newcomer:
                listener.send(text)

    # What they do

    def act(self, seat: int | None, version: int, action: int) -> None:
        """Take a person's action."""
        self._check_turn(seat, version)
        mover = self.table.mover
        try:
            self.table.act(action)
        except IllegalAction:
            sentence = f"action {action} is not possible now; choose one that is offered"
            raise CardlabError(sentence) from None
        self._moved((mover, action))
        self.go_on()

    def undo(self, seat: int | None) -> None:
        """Take the last move back where somebody plays alone."""
        if page_data_of(self.game).solvable is None:
            raise CardlabError(f"a move of {self.game.title} cannot be taken back")
        if seat is None:
            raise CardlabError("only who plays may take a move back")
        if not self.table.actions:
            raise CardlabError("there is no move to take back")
        self.table = play_again(
            self.game,
            self.settings.seed,
            self.table.options,
            self.table.deals,
            self.table.actions[:-1],
        )
        self.undone += 1
        self._moved(None)

    async def hint(self, seat: int | None, version: int) -> dict[str, Any]:
        """Return what the adviser thinks of every action, from the view of the seat to move."""
        if not self.settings.hints:
            raise CardlabError("hints are not allowed at this table")
        self._check_turn(seat, version)
        turn, adviser = self.table.turn(), self.settings.adviser or adviser_of(self.game)
        stream = (self.settings.seed, "hint", self.ply)
        if is_quick(adviser):
            advice = agent_pool.advise(adviser, turn, stream)
        else:
            advice = await self.home.pool.call(agent_pool.advise, adviser, turn, stream)
        return {"type": "hint", "version": version, **hint_json(adviser, turn, advice)}

    async def solvable(self, seat: int | None) -> dict[str, Any]:
        """Return whether the position can still be solved."""
        if page_data_of(self.game).solvable is None:
            raise CardlabError(f"{self.game.title} has no solution to ask for")
        if seat is None or not self.settings.hints:
            raise CardlabError("hints are not allowed at this table")
        version = self.version
        state = State(self.game, self.table.state.view(0).array)
        if self.over:
            answer = self.table.state.returns()[0] > 0
        else:
            answer = await self.home.pool.call(agent_pool.solvable, state)
        words = "It can still be solved." if answer else "It cannot be solved any more."
        return {"type": "solvable", "version": version, "answer": answer, "words": words}

    def _check_turn(self, seat: int | None, version: int) -> None:
        if seat is None:
            raise CardlabError("you look on without a seat; only players can do this")
        if self.over:
            raise CardlabError("the game is over; start a new one")
        if version != self.version:
            raise CardlabError(
                f"this answers position {version}, but the table is at {self.version}; look again"
            )
        if seat != self.table.mover:
            raise CardlabError(f"it is the turn of seat {self.table.mover}, not yours")

    def _moved(self, move: tuple[int, int] | None) -> None:
        self.save()
        self.send_views(move)

    def go_on(self) -> None:
        """Have the agents move, if one is to move and somebody looks on."""
        if self.task is not None and not self.task.done():
            return
        mover = self.table.mover
        if mover != OVER and self.seats[mover].agent and self.listeners:
            self.task = asyncio.get_running_loop().create_task(self._agents_move())

    async def _agents_move(self) -> None:
        try:
            while self.listeners and (mover := self.table.mover) != OVER:
                spec = self.seats[mover].agent
                if spec is None:
                    break
                action = await self._decide(mover, spec)
                self.table.act(action)
                self._moved((mover, action))
                await asyncio.sleep(0)  # others have their turn
        except CardlabError as error:
            self.send_all({"type": "refused", "error": f"{spec} could not move: {error}"})
        except Exception:
            LOG.exception("table %s, %s", self.id, spec)
            self.send_all({"type": "refused", "error": f"{spec} made a mistake and cannot move"})
        finally:
            self.task = None
            self.home.tidy(self)

    async def _decide(self, mover: int, spec: str) -> int:
        state, stream = self.table.state, (self.settings.seed, mover, self.ply)
        what = state.copy() if is_open(spec) else self.table.turn()
        if is_quick(spec):
            return agent_pool.decide(spec, what, stream)
        self.send_all({"type": "thinking", "seat": mover})
        while True:
            try:
                return await self.home.pool.call(agent_pool.decide, spec, what, stream)
            except Busy:
                if self.home.pool.closed:
                    raise
                await asyncio.sleep(RETRY_SECONDS)

    # What is kept

    def save(self) -> None:
        """Have the table written to the store."""
        over = self.over
        self.home.writer.save(
            row_of(
                self.game,
                **asdict(self.settings),
                options=self.table.options,
                seats=[asdict(seat) for seat in self.seats],
                orders=self.table.deals,
                actions=self.table.actions,
                undone=self.undone,
                returns=self.table.state.returns() if over else None,
                points=self.table.state.points() if over else None,
            )
        )

    def record(self) -> Record:
        """Return the record of a finished game."""
        if not self.over:
            raise CardlabError(
                f"table {self.id} is still played; its record comes when the game is over"
            )
        return self.table.record([seat.label for seat in self.seats])


class Rooms:
    """All rooms: those in use here, the others in the store."""

    def __init__(self, menu: Menu, writer: RoomWriter, pool: AgentPool, limits: Limits) -> None:
        self.menu, self.writer, self.pool, self.limits = menu, writer, pool, limits
        self.live: dict[str, Room] = {}

    def open(self, wish: NewTable) -> tuple[Room, list[str | None]]:
        """Return a new room and the secrets of its seats."""
        if len(self.live) >= self.limits.tables:
            raise Busy("too many tables are in use; try again in a few minutes")
        game = self.menu.game(wish.game)
        options = game.read_options(dict(wish.options))
        count = int(game.fresh(**options)[0].seats)
        if len(wish.seats) != count:
            raise CardlabError(
                f"{len(wish.seats)} seats are filled, but {game.title} is played by {count} here; "
                "name an agent or a person for each"
            )
        adviser = wish.adviser or adviser_of(game)
        if is_open(adviser):
            raise CardlabError(
                f"adviser {adviser} sees all cards; choose one that sees only your own"
            )
        agent_pool.check_agent(adviser, game, self.limits, self.menu.agents)
        seats: list[Seat] = []
        keys: list[str | None] = []
        for seat in wish.seats:
            if isinstance(seat, AgentSeat):
                agent_pool.check_agent(seat.agent, game, self.limits, self.menu.agents)
                seats.append(Seat(agent=seat.agent))
                keys.append(None)
            else:
                key = secrets.token_urlsafe(SECRET_BYTES)
                seats.append(Seat(name=seat.person, digest=digest_of(key)))
                keys.append(key)
        # Nobody finds the deal by trying out seeds, unless the game has numbered deals to share.
        most = page_data_of(game).most_seed
        fresh = secrets.randbelow(most) if most else secrets.randbits(62)
        seed = seeding.read_seed(fresh if wish.seed is None else wish.seed)
        settings = RoomSettings(secrets.token_urlsafe(ID_BYTES), seed, wish.hints, adviser, _now())
        room = Room(self, settings, Table(game, seed=seed, options=options), seats)
        room.save()
        return room, keys

    async def find(self, name: str) -> Room | None:
        """Return a room that is in use, or bring it back from the store."""
        found = self.live.get(name)
        if found is not None or len(name) > 32:
            return found
        stored = await asyncio.to_thread(self.writer.load, name)
        if name in self.live:  # somebody else was faster
            return self.live[name]
        return None if stored is None else self.restore(stored)

    def restore(self, stored: StoredRoom) -> Room:
        """Return a room as the store holds it; it is in use only once somebody joins it."""
        game = self.menu.game(stored.game)
        if stored.rules != game.rules_version:
            raise CardlabError(
                f"this table follows rules version {stored.rules} of {game.title}, this server "
                f"plays version {game.rules_version}; it cannot go on"
            )
        settings = RoomSettings(stored.id, stored.seed, stored.hints, stored.adviser, stored.begun)
        table = play_again(game, stored.seed, stored.options, stored.orders, stored.actions)
        seats = [Seat(seat["agent"], seat["name"], seat["digest"]) for seat in stored.seats]
        return Room(self, settings, table, seats, stored.undone)

    def use(self, room: Room) -> Room:
        """Hold a room in memory; if it is there already, that one is returned."""
        known = self.live.get(room.id)
        if known is None and len(self.live) >= self.limits.tables:
            raise Busy("too many tables are in use; try again in a few minutes")
        return self.live.setdefault(room.id, room)

    def tidy(self, room: Room) -> None:
        """Let a room go that nobody looks at and at which nobody thinks."""
        if not room.busy and self.live.get(room.id) is room:
            del self.live[room.id]

    async def close(self) -> None:
        """Stop all agents and send everybody away; the store has everything."""
        tasks = [room.task for room in self.live.values() if room.task]
        for task in tasks:
            task.cancel()
        for room in list(self.live.values()):
            for listener in list(room.listeners):
                listener.close(1012, "the server restarts; the game goes on when it is back")
        await asyncio.gather(*tasks, return_exceptions=True)


def play_again(
    game: Game, seed: int, options: dict[str, Any], orders: Any, actions: list[int]
) -> Table:
    """Return a table after these actions, on the decks that were dealt and then on the seed's."""
    table = Table(game, seed=seed, deals=orders, options=options)
    for action in actions:
        table.act(action)
    return table


def hint_json(adviser: str, turn: Turn, advice: dict[str, Any]) -> dict[str, Any]:
    """Return an adviser's answer with the texts of the actions."""
    unknown = {"value": None, "shown": None}
    values = advice["values"] or [unknown] * len(turn.legal)
    rows = [
        {**action_json(turn.game, int(action)), **value}
        for action, value in zip(turn.legal, values, strict=True)
    ]
    return {"adviser": adviser, **advice, "values": rows}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _dump(message: dict[str, Any]) -> str:
    return json.dumps(message, separators=(",", ":"))
