"""A fair queue for a few workers: nobody can delay the others by asking for more.

The next worker goes to the address that has recently used the least time, and to its tables in
turn. A newcomer waits for one running decision at most, however much others ask for.
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

HALF_LIFE = 60.0  # seconds after which used time counts half
MOST_KNOWN = 4096  # addresses that are remembered
FULL = "too many decisions are waiting; try again in a moment"


class Busy(CardlabError):
    """The server has too much to do, or an address asks for too much."""


class Payer(NamedTuple):
    """Whose share of computing time is used: an address, and one of its tables."""

    address: str
    table: str = ""


SERVER = Payer("the server")


class _Use:
    """Seconds of work, decaying with HALF_LIFE."""

    __slots__ = ("seconds", "then")

    def __init__(self) -> None:
        self.seconds, self.then = 0.0, time.monotonic()

    def add(self, seconds: float) -> float:
        now = time.monotonic()
        self.seconds = self.seconds * 0.5 ** ((now - self.then) / HALF_LIFE) + seconds
        self.then = now
        return self.seconds


class FairQueue:
    """Assigns places to those who wait; all calls come from one event loop."""

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
        """Add to the time that an address has used, and return the sum."""
        use = self.used.setdefault(address, _Use())
        self.used.move_to_end(address)
        if len(self.used) > MOST_KNOWN:
            self.used.popitem(last=False)
        return use.add(seconds)

    @asynccontextmanager
    async def place(self, payer: Payer) -> AsyncIterator[None]:
        """Wait for a place and hold it; the time counts for the payer."""
        await self._wait(payer)
        began = time.monotonic()
        self.running[payer.address] += 1
        try:
            yield
        finally:
            self.running[payer.address] -= 1
            self.running += Counter()  # removes addresses with nothing running
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
                self._release()  # the place had been assigned already
            raise

    def _make_room(self, payer: Payer) -> None:
        """Refuse a payer with too many waiting; a full queue drops the last of the busiest one."""
        own = self._waiting_of(payer.address)
        if own < self.limits.waiting_of_address and self.waiting < self.limits.waiting:
            return
        most = max(self.queues, key=self._waiting_of, default=payer.address)
        if own >= self.limits.waiting_of_address or self._waiting_of(most) <= own + 1:
            raise Busy(FULL)
        table = next(reversed(self.queues[most]))
        future = self.queues[most][table][-1]
        self._drop(Payer(most, table), future)
        future.set_exception(Busy(FULL))

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
        """Give the place to the next in the queue."""
        while self.queues:
            # Running decisions count before they end, otherwise a long one would cost nothing.
            address = min(self.queues, key=lambda name: (self.running[name], self.use(name)))
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
