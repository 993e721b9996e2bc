"""A queue for a few places of work in which nobody can push the others back.

Next is who has used the least time lately: addresses first, then the tables of one address in
turn. Somebody who comes for the first time waits for one running decision at most, however much
others ask for.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple

from cardlab.engine.errors import CardlabError
from cardlab.web.limits import Limits

HALF_LIFE = 60.0  # seconds after which half of the time that somebody has used is forgotten
MOST_KNOWN = 4096  # addresses whose use is remembered


class Busy(CardlabError):
    """Too much waits already, or somebody asks for too much."""


class Payer(NamedTuple):
    """For whom work is done: an address, and one of its tables."""

    address: str
    table: str = ""


SERVER = Payer("the server")


class _Use:
    """Seconds of work, of which time lets half go again and again."""

    __slots__ = ("seconds", "then")

    def __init__(self) -> None:
        self.seconds, self.then = 0.0, time.monotonic()

    def add(self, seconds: float) -> float:
        now = time.monotonic()
        self.seconds = self.seconds * 0.5 ** ((now - self.then) / HALF_LIFE) + seconds
        self.then = now
        return self.seconds


class FairQueue:
    """Hands out places; all calls come from one event loop."""

    def __init__(self, places: int, limits: Limits) -> None:
        self.free, self.limits = places, limits
        self.queues: dict[str, OrderedDict[str, deque[asyncio.Future[None]]]] = {}
        self.used: OrderedDict[str, _Use] = OrderedDict()
        self.running: Counter[str] = Counter()

    @property
    def waiting(self) -> int:
        """How many wait for a place."""
        return sum(map(self._waiting_of, self.queues))

    def _waiting_of(self, address: str) -> int:
        return sum(map(len, self.queues.get(address, {}).values()))

    def use(self, address: str, seconds: float = 0.0) -> float:
        """Add to what an address has used, and return it."""
        use = self.used.setdefault(address, _Use())
        self.used.move_to_end(address)
        if len(self.used) > MOST_KNOWN:
            self.used.popitem(last=False)
        return use.add(seconds)

    @asynccontextmanager
    async def place(self, payer: Payer) -> AsyncIterator[None]:
        """Wait for a place and hold it; the time is the payer's."""
        await self._wait(payer)
        began = time.monotonic()
        self.running[payer.address] += 1
        try:
            yield
        finally:
            self.running[payer.address] -= 1
            self.running += Counter()  # forgets whoever has nothing running
            self.use(payer.address, time.monotonic() - began)
            self._release()

    async def _wait(self, payer: Payer) -> None:
        if self.free > 0:
            self.free -= 1
            return
        self._make_room(payer)
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        tables = self.queues.setdefault(payer.address, OrderedDict())
        tables.setdefault(payer.table, deque()).append(future)
        try:
            await future
        except BaseException:
            self._drop(payer, future)
            if future.done() and not future.cancelled() and future.exception() is None:
                self._release()  # the place had been given already
            raise

    def _make_room(self, payer: Payer) -> None:
        """Refuse who has enough waiting; a full queue drops the last of who has most."""
        own = self._waiting_of(payer.address)
        if own < self.limits.waiting_of_address and self.waiting < self.limits.waiting:
            return
        most = max(self.queues, key=self._waiting_of, default=payer.address)
        if own >= self.limits.waiting_of_address or self._waiting_of(most) <= own + 1:
            raise Busy("too many decisions wait already; try again in a moment")
        table = next(reversed(self.queues[most]))
        future = self.queues[most][table][-1]
        self._drop(Payer(most, table), future)
        future.set_exception(Busy("too many decisions wait already; try again in a moment"))

    def _drop(self, payer: Payer, future: asyncio.Future[None]) -> None:
        tables = self.queues.get(payer.address, OrderedDict())
        line = tables.get(payer.table)
        if line is None or future not in line:
            return
        line.remove(future)
        if not line:
            del tables[payer.table]
        if not tables:
            del self.queues[payer.address]

    def _release(self) -> None:
        """Give the place to whoever is next."""
        while self.queues:
            # What still runs counts before it ends: a long decision is not free until then.
            address = min(self.queues, key=lambda one: (self.running[one], self.use(one)))
            tables = self.queues[address]
            table = next(iter(tables))
            future = tables[table][0]
            self._drop(Payer(address, table), future)
            if table in tables:
                tables.move_to_end(table)
            if not future.done():
                future.set_result(None)
                return
        self.free += 1
