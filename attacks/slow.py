"""Those who are slow, or never finish: half requests, single bytes, forged frames, open ends.

Each is let go within its time, while somebody else plays on undisturbed.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any, NamedTuple

from attacks.case import Outcome, Setting
from attacks.crowd import open_table
from attacks.programs import Server
from attacks.visitors import Party
from attacks.wire import JSON, SECONDS, ask, line_to, percentile, request_bytes

LET_GO = 45.0  # seconds until a slow one must have been let go: 10 are the limit of the server
DRIP = 0.5  # seconds between two bytes
BODY_DRIP = 1.0
TABLES, SOCKETS = 40, 80  # more than one address may have: 30 in a minute, 64
KEY = "dGhlIHNhbXBsZSBub25jZQ=="
UPGRADE = {
    "connection": "Upgrade",
    "upgrade": "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": KEY,
}
JOIN = b'{"type":"join"}'


class Line(NamedTuple):
    """A connection from an address of its own."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def send(self, data: bytes) -> None:
        """Send bytes, as long as anybody takes them."""
        with suppress(ConnectionError):
            self.writer.write(data)
            await self.writer.drain()

    async def ended(self) -> bool:
        """Return whether the server hangs up in time, whatever it says before."""
        try:
            async with asyncio.timeout(LET_GO):
                with suppress(ConnectionError):
                    while await self.reader.read(65_536):
                        pass
                return True
        except TimeoutError:
            return False


class Place(NamedTuple):
    """The server under attack, and a table of it."""

    server: Server
    table: str
    secret: str

    @asynccontextmanager
    async def line(self, source: str = "127.0.0.5") -> AsyncIterator[Line]:
        """Open a connection."""
        own = source if self.server.host == "127.0.0.1" else None
        reader, writer = await line_to(self.server.address, own)
        try:
            yield Line(reader, writer)
        finally:
            writer.close()

    @asynccontextmanager
    async def socket(self, source: str = "127.0.0.5") -> AsyncIterator[Line]:
        """Open the socket of the table by hand, so that anything can be sent over it."""
        async with self.line(source) as line:
            path = f"/api/tables/{self.table}/socket"
            await line.send(request_bytes("GET", path, None, UPGRADE))
            async with asyncio.timeout(SECONDS):
                head = await line.reader.readuntil(b"\r\n\r\n")
            if b" 101 " not in head:
                raise ConnectionRefusedError(head[:60].decode())
            yield line


def frame(code: int, data: bytes, *, mask: bool = True, length: int | None = None) -> bytes:
    """Return a frame of a socket; its length may be a lie."""
    count, bit = len(data) if length is None else length, 0x80 if mask else 0
    if count < 126:
        size = bytes([bit | count])
    elif count < 1 << 16:
        size = bytes([bit | 126]) + count.to_bytes(2, "big")
    else:
        size = bytes([bit | 127]) + count.to_bytes(8, "big")
    return bytes([code]) + size + (bytes(4) if mask else b"") + data


async def _drip(line: Line, data: bytes, pause: float) -> bool:
    """Send one byte after the other; return whether the server hangs up in time."""

    async def send() -> None:
        for place in range(len(data)):
            await line.send(data[place : place + 1])
            await asyncio.sleep(pause)

    sending = asyncio.create_task(send())
    try:
        return await line.ended()
    finally:
        sending.cancel()


async def slow_head(place: Place) -> str | None:
    """Send the head of a request byte by byte."""
    async with place.line() as line:
        head = b"GET /api/health HTTP/1.1\r\nhost: localhost\r\n" + b"x-more: a\r\n" * 50
        return None if await _drip(line, head, DRIP) else "a head without end is waited for"


async def slow_body(place: Place) -> str | None:
    """Send the body of a request at a byte a second."""
    async with place.line() as line:
        await line.send(request_bytes("POST", "/api/tables", b"", {**JSON, "content-length": "90"}))
        return None if await _drip(line, b" " * 90, BODY_DRIP) else "a slow body is waited for"


async def says_nothing(place: Place) -> str | None:
    """Open a connection and say nothing."""
    async with place.line() as line:
        return None if await line.ended() else "a silent connection is kept"


async def silent_after_request(place: Place) -> str | None:
    """Keep a connection after its request without another one."""
    async with place.line() as line:
        await line.send(b"GET /api/health HTTP/1.1\r\nhost: localhost\r\n\r\n")
        return None if await line.ended() else "an idle connection is kept"


async def joins_nowhere(place: Place) -> str | None:
    """Open a socket and do not join."""
    async with place.socket() as line:
        return None if await line.ended() else "a socket that does not join is kept"


async def half_closed(place: Place) -> str | None:
    """Close the own half after the request; the answer still comes, and then the end."""
    async with place.line() as line:
        await line.send(b"GET /api/health HTTP/1.1\r\nhost: localhost\r\n\r\n")
        line.writer.write_eof()
        return None if await line.ended() else "a half-closed connection is kept"


async def half_closed_socket(place: Place) -> str | None:
    """Close the own half of a socket after joining."""
    async with place.socket() as line:
        await line.send(frame(0x81, JOIN))
        line.writer.write_eof()
        return None if await line.ended() else "a half-closed socket is kept"


def forged(what: str, *frames: bytes) -> Callable[[Place], Coroutine[Any, Any, str | None]]:
    """Return an attack that sends frames which the protocol or the limits forbid."""

    async def attack(place: Place) -> str | None:
        async with place.socket() as line:
            await line.send(frame(0x81, JOIN))
            for each in frames:
                await line.send(each)
            return None if await line.ended() else f"a socket is kept in spite of {what}"

    attack.__name__ = what
    return attack


async def many_tables(place: Place) -> str | None:
    """Open more tables from one address than it may."""
    sources = ["127.0.0.6"] * TABLES
    answers = await asyncio.gather(*(_open(place, source) for source in sources))
    if set(answers) - {201, 429, 503}:
        return f"new tables were answered with {sorted(set(answers))}"
    return None if 429 in answers else f"one address may open {TABLES} tables at once"


async def _open(place: Place, source: str) -> int:
    wish = {"game": "crazy_eights", "seats": [{"person": "Eve"}, {"agent": "heuristic"}]}
    own = source if place.server.host == "127.0.0.1" else None
    return (await ask(place.server.address, "POST", "/api/tables", wish, source=own))[0]


async def many_sockets(place: Place) -> str | None:
    """Hold more sockets from one address than it may; others still get in."""
    released = asyncio.Event()
    kept = 0

    async def hold() -> None:
        nonlocal kept
        with suppress(OSError, asyncio.IncompleteReadError, TimeoutError):
            async with place.socket("127.0.0.7") as line:
                await line.send(frame(0x81, JOIN))
                async with asyncio.timeout(LET_GO):
                    said = await line.reader.read(100)
                if b"view" in said:
                    kept += 1
                await released.wait()

    tasks = [asyncio.create_task(hold()) for _ in range(SOCKETS)]
    try:
        await asyncio.sleep(3)
        status = await _open(place, "127.0.0.8")
    finally:
        released.set()
        await asyncio.gather(*tasks, return_exceptions=True)
    if kept >= SOCKETS:
        return f"one address holds {kept} sockets"
    return None if status == 201 else f"meanwhile another address is answered with {status}"


KINDS: tuple[Callable[[Place], Coroutine[Any, Any, str | None]], ...] = (
    slow_head,
    slow_body,
    says_nothing,
    silent_after_request,
    joins_nowhere,
    half_closed,
    half_closed_socket,
    forged("reserved bits", frame(0xF1, JOIN)),
    forged("an unmasked frame", frame(0x81, JOIN, mask=False)),
    forged("an unknown kind of frame", frame(0x83, b"")),
    forged("a continuation of nothing", frame(0x80, b"x")),
    forged("a frame of 2**62 bytes", frame(0x81, b"x", length=1 << 62)),
    forged("a ping of 2,000 bytes", frame(0x89, bytes(2000))),
    forged("bytes instead of text", frame(0x82, os.urandom(64))),
    forged("text that is no UTF-8", frame(0x81, b"\xff\xfe")),
    forged("a message of 100 kB", frame(0x81, b"x" * 100_000)),
    forged("a message in endless parts", frame(0x01, b"x"), *[frame(0x00, b"x" * 200)] * 300),
    forged("too many messages", *[frame(0x81, b'{"type":"undo"}')] * 300),
    forged("too many pongs", *[frame(0x8A, b"")] * 1000),
    many_tables,
    many_sockets,
)
ON_IPV6 = (slow_head, says_nothing, joins_nowhere, half_closed)


async def slow_and_forged(setting: Setting) -> Outcome:
    """Everything of this module, and again some of it over IPv6, beside a visitor."""
    outcome = Outcome()
    kinds = KINDS[:: setting.count(1, 5)]
    repeats = setting.count(3, 1)
    async with Server(setting.folder) as server:
        await _attack(outcome, server, kinds * repeats, setting)
    six = setting.folder / "six"
    six.mkdir()
    try:
        async with Server(six, host="::1") as server:
            await _attack(outcome, server, ON_IPV6[: setting.count(4, 1)], setting)
    except OSError as error:
        outcome.figures["IPv6"] = f"not tried ({error.strerror})"
    return outcome


async def _attack(
    outcome: Outcome,
    server: Server,
    kinds: tuple[Callable[[Place], Coroutine[Any, Any, str | None]], ...],
    setting: Setting,
) -> None:
    """Let all attack at once while somebody plays, and see how the server is afterwards."""
    own = "127.0.0.1" if server.host == "127.0.0.1" else None
    party = Party(server, 2, setting.seed, source=own)
    place = Place(server, *await open_table(server.address, "crazy_eights", "heuristic", own))

    async def one(kind: Callable[[Place], Coroutine[Any, Any, str | None]]) -> str | None:
        try:
            return await kind(place)
        except (OSError, asyncio.IncompleteReadError, TimeoutError) as error:
            return f"{kind.__name__}: {error!r}"

    async with party:
        outcome.lost += await party.everybody_plays()
        found = await asyncio.gather(*map(one, kinds))
        outcome.tries += len(found)
        outcome.lost += [sentence for sentence in found if sentence]
        outcome.lost += await party.everybody_plays()
        outcome.lost += await party.end()
    outcome.figures["p99 ms"] = round(1000 * percentile(party.seconds, 99))
    trouble = await server.settled()
    outcome.demand(trouble is None, str(trouble))
    outcome.lost += server.tracebacks()
    health = json.loads((await ask(server.address, "GET", "/api/health", source=own))[1])
    outcome.demand(
        health["connections"] <= 10, f"{health['connections']} connections are left afterwards"
    )
