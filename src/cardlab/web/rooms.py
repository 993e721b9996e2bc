"""All tables of a server: those in use are in memory, all others in the store.

A table stays in memory while somebody is connected, an agent thinks, or a move is not yet in the
store. Otherwise it is loaded from the store when somebody asks for it, also after a restart.
"""

from __future__ import annotations

import asyncio
import re
import secrets
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from cardlab.agents.catalog import adviser_of
from cardlab.engine import seeding
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Game
from cardlab.web import agent_pool
from cardlab.web.agent_pool import AgentPool, is_open
from cardlab.web.fair_queue import SERVER, Busy, Payer
from cardlab.web.limits import Limits
from cardlab.web.menu import Menu
from cardlab.web.messages import AgentSeat, NewTable
from cardlab.web.page_data import page_data_of
from cardlab.web.room import Room, RoomSettings, Seat, digest_of
from cardlab.web.room_deal import Dealing
from cardlab.web.room_writer import RoomWriter, StoredRoom, whole
from cardlab.web.store_reads import StoreReads

ID_BYTES, SECRET_BYTES = 9, 24
ID = re.compile(r"[A-Za-z0-9_-]{1,32}")


class Rooms:
    """All rooms of a server, by id."""

    def __init__(
        self, menu: Menu, writer: RoomWriter, reads: StoreReads, pool: AgentPool, limits: Limits
    ) -> None:
        self.menu, self.writer, self.reads = menu, writer, reads
        self.pool, self.limits = pool, limits
        self.live: dict[str, Room] = {}
        self.unsaved: dict[str, Room] = {}
        self.loop = asyncio.get_running_loop()
        writer.committed = self._hear

    def _hear(self, done: dict[str, int]) -> None:
        """Pass on, from the writing thread, which rows have reached the store."""
        with suppress(RuntimeError):  # the server has stopped meanwhile
            self.loop.call_soon_threadsafe(self._committed, done)

    def _committed(self, done: dict[str, int]) -> None:
        for name, number in done.items():
            room = self.unsaved.get(name)
            if room is not None:
                room.committed(number)

    async def open(self, wish: NewTable, payer: Payer = SERVER) -> tuple[Room, list[str | None]]:
        """Return a new room, once it is in the store, and the secrets of its seats."""
        if len(self.live) >= self.limits.tables:
            raise Busy("too many tables are in use; try again in a few minutes")
        game = self.menu.game(wish.game)
        options = game.read_options(dict(wish.options))
        count = _seats_of(game, options)
        if len(wish.seats) != count:
            raise CardlabError(
                f"{game.title} needs {count} seats here, got {len(wish.seats)}; name an agent or "
                "a person for each seat"
            )
        adviser = wish.adviser or adviser_of(game)
        if is_open(adviser):
            raise CardlabError(
                f"adviser {adviser} sees all cards; choose an agent that sees only your cards"
            )
        agents = {seat.agent for seat in wish.seats if isinstance(seat, AgentSeat)}
        for spec in (adviser, *sorted(agents)):
            entry = agent_pool.check_agent(spec, game, self.limits, self.menu.agents)
            if spec not in self.menu.agents:  # those are the operator's own choice
                await self.pool.try_out(spec, game, options, entry, payer)
        room, keys = self._make(wish, game, options, adviser)
        room.save()
        try:
            async with asyncio.timeout(self.limits.opening_seconds):
                await room.settled()
        except TimeoutError:
            self.writer.drop(room.id)
            self.unsaved.pop(room.id, None)
            raise Busy("the new table could not be saved; try again in a minute") from None
        return room, keys

    def _make(
        self, wish: NewTable, game: Game, options: dict[str, Any], adviser: str
    ) -> tuple[Room, list[str | None]]:
        """Return a room with the requested seats; the cards are dealt unless players must join."""
        seats: list[Seat] = []
        keys: list[str | None] = []
        for seat in wish.seats:
            if isinstance(seat, AgentSeat):
                seats.append(Seat(agent=seat.agent))
                keys.append(None)
            else:
                key = secrets.token_urlsafe(SECRET_BYTES)
                seats.append(Seat(name=seat.person, digest=digest_of(key)))
                keys.append(key)
        most = page_data_of(game).most_seed
        people = [seat for seat, key in enumerate(keys) if key is not None]
        dealing = Dealing.plan(wish.seed, bool(most), people)
        fresh = secrets.randbelow(most) if most else secrets.randbits(62)
        seed = seeding.read_seed(fresh if wish.seed is None else wish.seed)
        settings = RoomSettings(secrets.token_urlsafe(ID_BYTES), seed, wish.hints, adviser, _now())
        room = Room(self, game, options, settings, seats, dealing)
        if dealing.ready:
            room.start()
        return room, keys

    async def find(self, name: str) -> Room | None:
        """Return a room from memory or from the store."""
        found = self.live.get(name) or self.unsaved.get(name)
        if found is not None or not ID.fullmatch(name):
            return found
        stored = await self.reads.call(self.writer.load, name)
        found = self.live.get(name) or self.unsaved.get(name)
        if found is not None or stored is None:  # another request loaded it meanwhile
            return found
        return self.restore(stored)

    async def find_settled(self, name: str) -> Room | None:
        """Return a room once all its moves are in the store."""
        room = await self.find(name)
        if room is not None and room.pending:
            try:
                async with asyncio.timeout(self.limits.opening_seconds):
                    await room.settled()
            except TimeoutError:
                raise Busy("the last move is still being saved; try again in a minute") from None
        return room

    def restore(self, stored: StoredRoom) -> Room:
        """Return a room from its stored form; it counts as in use once somebody joins."""
        game = self.menu.game(stored.game)
        if stored.rules != game.rules_version:
            raise CardlabError(
                f"this table uses version {stored.rules} of the rules of {game.title}, this "
                f"server version {game.rules_version}; it cannot be continued, open a new table"
            )
        if stored.returns is None:  # unfinished: the store must not name code to be imported
            named = {seat["agent"] for seat in stored.seats} | {stored.adviser}
            for spec in sorted(filter(None, named)):
                agent_pool.check_agent(spec, game, self.limits, self.menu.agents)
        with whole(stored.id):
            return self._rebuild(game, stored)

    def _rebuild(self, game: Game, stored: StoredRoom) -> Room:
        settings = RoomSettings(stored.id, stored.seed, stored.hints, stored.adviser, stored.begun)
        seats = [Seat(seat["agent"], seat["name"], seat["digest"]) for seat in stored.seats]
        if len(seats) != _seats_of(game, stored.options):
            raise ValueError(f"{len(seats)} seats do not fit the options {stored.options}")
        dealing = Dealing.of(stored.dealing)
        room = Room(self, game, stored.options, settings, seats, dealing, stored.undone)
        if stored.orders or dealing.ready:
            room.start(stored.orders, stored.actions)
        return room

    def use(self, room: Room) -> Room:
        """Keep a room in memory and return it, or the one that is there already."""
        known = self.live.get(room.id)
        if known is None and len(self.live) >= self.limits.tables:
            raise Busy("too many tables are in use; try again in a few minutes")
        return self.live.setdefault(room.id, room)

    def tidy(self, room: Room) -> None:
        """Remove a room from memory if nobody is connected and no agent thinks."""
        if not room.busy and self.live.get(room.id) is room:
            del self.live[room.id]

    async def close(self) -> None:
        """Stop all agents and disconnect everybody; all moves are in the store."""
        tasks = [room.task for room in self.live.values() if room.task]
        for task in tasks:
            task.cancel()
        for room in list(self.live.values()):
            for listener in list(room.listeners):
                listener.close(1012, "the server restarts; the game continues when it is back")
        await asyncio.gather(*tasks, return_exceptions=True)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _seats_of(game: Game, options: dict[str, Any]) -> int:
    return int(game.fresh(**options)[0].seats)
