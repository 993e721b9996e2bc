"""Connections of strangers: silent, many, slow to read, full of pings; others are served on."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import uvicorn
import websockets
from fastapi import FastAPI
from websockets.exceptions import ConnectionClosed

from cardlab.engine.play import Table
from cardlab.engine.registry import find_game
from cardlab.web.admission import Admission
from cardlab.web.limits import Limits
from cardlab.web.running import configuration
from cardlab.web.server import make_app
from tests.support.waiting import PATIENCE
from tests.support.web_wire import GENEROUS, PAIR, run_alone

HEALTH = b"GET /api/health HTTP/1.1\r\nhost: localhost\r\n\r\n"


class Live(NamedTuple):
    """A real server in this process."""

    app: FastAPI
    admission: Admission
    port: int

    async def line(self, source: str = "127.0.0.1") -> tuple[Any, Any]:
        """Return a connection from an address, as reader and writer."""
        return await asyncio.open_connection("127.0.0.1", self.port, local_addr=(source, 0))

    async def status(self, source: str = "127.0.0.1", *headers: str) -> int:
        """Return how a request from an address is answered."""
        reader, writer = await self.line(source)
        lines = "".join(f"{header}\r\n" for header in headers)
        writer.write(HEALTH[:-2] + lines.encode() + b"connection: close\r\n\r\n")
        answer = await asyncio.wait_for(reader.read(), PATIENCE)
        writer.close()
        return int(answer.split(None, 2)[1]) if answer else 0

    async def table(self) -> tuple[str, str]:
        """Return a new table and the secret of the person's seat."""
        reader, writer = await self.line("127.0.0.9")
        body = json.dumps(PAIR).encode()
        head = "POST /api/tables HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
        writer.write(f"{head}connection: close\r\ncontent-length: {len(body)}\r\n\r\n".encode())
        writer.write(body)
        made = json.loads((await reader.read()).partition(b"\r\n\r\n")[2])
        writer.close()
        return made["id"], made["seats"][0]["secret"]

    def socket(self, table: str, **more: Any) -> Any:
        """Return the socket of a table."""
        return websockets.connect(f"ws://localhost:{self.port}/api/tables/{table}/socket", **more)


@asynccontextmanager
async def live(store: Path, limits: Limits, *proxies: str) -> AsyncIterator[Live]:
    admission = Admission.of(limits, proxies)
    app = make_app(str(store), limits=limits, workers=1, admission=admission)
    server = uvicorn.Server(configuration(app, admission, list(proxies)))
    with socket.create_server(("127.0.0.1", 0)) as line:
        serving = asyncio.create_task(server.serve(sockets=[line]))
        while not server.started:
            assert not serving.done()
            await asyncio.sleep(0.01)
        try:
            yield Live(app, admission, line.getsockname()[1])
        finally:
            server.should_exit = True
            await serving


def on_server(
    store: Path, play: Callable[[Live], Awaitable[None]], limits: Limits, *proxies: str
) -> None:
    async def run() -> None:
        async with live(store, limits, *proxies) as server:
            await asyncio.wait_for(play(server), PATIENCE)

    run_alone(run())


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "games.db"


async def ended(reader: Any) -> bytes:
    """Return all that comes until the connection has ended."""
    with suppress(ConnectionError):
        return bytes(await asyncio.wait_for(reader.read(), PATIENCE))
    return b""


@pytest.mark.parametrize(
    "start",
    [
        b"",
        b"GET /api/health HTTP/1.1\r\nhost: loc",
        b"POST /api/tables HTTP/1.1\r\nhost: localhost\r\ncontent-length: 50\r\n\r\n{",
        HEALTH,
    ],
    ids=["silent", "half a head", "half a body", "silent after a request"],
)
def test_whoever_sends_no_request_in_time_is_let_go(store: Path, start: bytes) -> None:
    async def play(server: Live) -> None:
        reader, writer = await server.line()
        writer.write(start)
        await ended(reader)
        while server.admission.total["connections"]:
            await asyncio.sleep(0.01)
        writer.close()

    on_server(store, play, replace(GENEROUS, header_seconds=0.2))


def test_a_connection_that_sends_one_byte_after_the_other_is_let_go(store: Path) -> None:
    async def play(server: Live) -> None:
        reader, writer = await server.line()
        drip = asyncio.create_task(ended(reader))
        with suppress(ConnectionError):
            while not drip.done():
                writer.write(b"G")
                await writer.drain()
                await asyncio.sleep(0.02)
        await drip
        writer.close()

    on_server(store, play, replace(GENEROUS, header_seconds=0.3))


def test_one_address_holds_a_bounded_number_of_connections(store: Path) -> None:
    async def play(server: Live) -> None:
        lines = [await server.line("127.0.0.2") for _ in range(5)]
        while server.admission.total["connections"] < 5:
            await asyncio.sleep(0.01)
        reader, writer = await server.line("127.0.0.2")
        assert b"too many connections from your network" in await ended(reader)
        assert await server.status("127.0.0.3") == 200
        for _, one in (*lines, (None, writer)):
            one.close()
        while server.admission.total["connections"]:
            await asyncio.sleep(0.01)
        assert await server.status("127.0.0.2") == 200

    on_server(store, play, replace(GENEROUS, connections_of_address=5))


def test_on_a_full_server_the_longest_silent_connection_makes_room(store: Path) -> None:
    async def play(server: Live) -> None:
        lines = [await server.line(f"127.0.0.{k}") for k in range(2, 8)]
        while server.admission.total["connections"] < 6:
            await asyncio.sleep(0.01)
        assert await server.status("127.0.0.99") == 200
        assert await ended(lines[0][0]) == b""  # the first was let go, long before its time
        for _, writer in lines:
            writer.close()

    on_server(store, play, replace(GENEROUS, connections=6, header_seconds=600))


def test_pings_are_counted_like_messages_and_unread_answers_bounded(store: Path) -> None:
    async def play(server: Live) -> None:
        name, secret = await server.table()
        async with server.socket(name) as line:
            await line.send(json.dumps({"type": "join", "secret": secret}))
            await line.recv()
            with suppress(ConnectionClosed):
                while True:
                    await line.ping()
                    await asyncio.sleep(0)
        assert server.admission.refused["silent or unread"] == 1

    on_server(store, play, replace(GENEROUS, frames_a_second=1, frame_burst=50))


def test_a_browser_that_does_not_read_is_let_go(store: Path) -> None:
    async def play(server: Live) -> None:
        raw = socket.socket()
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        raw.setblocking(False)
        loop = asyncio.get_running_loop()
        await loop.sock_connect(raw, ("127.0.0.1", server.port))
        while not server.admission.total["connections"]:
            await asyncio.sleep(0.01)
        wanted = b"GET /static/style.css HTTP/1.1\r\nhost: localhost\r\n\r\n"
        with suppress(ConnectionError, TimeoutError):
            async with asyncio.timeout(2):
                await loop.sock_sendall(raw, wanted * 500)
        while server.admission.total["connections"]:
            await asyncio.sleep(0.02)
        raw.close()
        assert server.admission.refused["silent or unread"] == 1

    on_server(store, play, replace(GENEROUS, unread_seconds=0.3))


def test_a_large_answer_counts_until_it_is_read_or_given_up(store: Path) -> None:
    """A small record yields a large answer: whoever does not read it gets no second one."""
    table = Table(find_game("koi_koi"), seed=3, options={"rounds": 12})
    while not table.over:
        table.act(int(table.turn().legal[0]))
    record = table.record(["a", "b"]).to_line().encode()
    head = "POST /api/replays HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
    wanted = f"{head}content-length: {len(record)}\r\n\r\n".encode() + record

    async def ask(server: Live) -> socket.socket:
        line = socket.socket()
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        line.setblocking(False)
        loop = asyncio.get_running_loop()
        await loop.sock_connect(line, ("127.0.0.1", server.port))
        await loop.sock_sendall(line, wanted)
        return line

    async def play(server: Live) -> None:
        held, loop = server.admission.held, asyncio.get_running_loop()
        first = await ask(server)
        while not held["replays", "127.0.0.1"]:
            await asyncio.sleep(0.01)
        second = await ask(server)
        assert (await loop.sock_recv(second, 4096)).startswith(b"HTTP/1.1 503")
        while held["replays", "127.0.0.1"]:  # until the first one is given up
            await asyncio.sleep(0.01)
        assert server.admission.refused["silent or unread"] >= 1
        third = await ask(server)
        assert (await loop.sock_recv(third, 4096)).startswith(b"HTTP/1.1 200")
        for line in (first, second, third):
            line.close()

    on_server(store, play, replace(GENEROUS, replays_of_address=1, unread_seconds=1.0))


@pytest.mark.parametrize("proxies", [("127.0.0.1",), ("10.2.0.0/16", "127.0.0.0/8"), ()])
def test_addresses_of_visitors_are_believed_from_named_proxies_only(
    store: Path, proxies: tuple[str, ...], caplog: pytest.LogCaptureFixture
) -> None:
    trusted = bool(proxies)

    async def play(server: Live) -> None:
        found = [
            await server.status("127.0.0.1", f"X-Forwarded-For: 10.0.0.{k}") for k in range(1, 9)
        ]
        assert found.count(429) == (0 if trusted else 4)
        # A visitor behind the proxy is counted, however its own words change.
        behind = [
            await server.status("127.0.0.1", f"X-Forwarded-For: 9.9.9.{k}, 10.1.1.1")
            for k in range(8)
        ]
        assert behind.count(429) == (4 if trusted else 8)
        warnings = [line for line in caplog.messages if "X-Forwarded-For" in line]
        assert len(warnings) == (0 if trusted else 1)

    limits = replace(GENEROUS, requests_a_second=1e-9, request_burst=4, connections_of_address=3)
    on_server(store, play, limits, *proxies)


def test_new_sockets_count_as_requests(store: Path) -> None:
    async def play(server: Live) -> None:
        codes = []
        for _ in range(6):
            try:
                async with server.socket("nothing") as line:
                    await line.send('{"type":"join"}')
                    with suppress(ConnectionClosed):
                        await line.recv()
                    codes.append(101)
            except websockets.exceptions.InvalidStatus as refused:
                codes.append(refused.response.status_code)
        assert codes == [101] * 3 + [403] * 3

    on_server(store, play, replace(GENEROUS, requests_a_second=1e-9, request_burst=3))


def test_one_address_opens_a_bounded_number_of_tables_to_look_at(store: Path) -> None:
    async def play(server: Live) -> None:
        name, _ = await server.table()
        lines = []
        for _ in range(3):
            lines.append(await server.socket(name))
            await lines[-1].send('{"type":"join"}')
            await lines[-1].recv()
        async with server.socket(name) as one_more:
            with pytest.raises(ConnectionClosed) as gone:
                await one_more.recv()
            assert gone.value.rcvd is not None
            assert gone.value.rcvd.code == 4429
        await lines[0].close()
        while server.admission.total["sockets"] > 2:
            await asyncio.sleep(0.01)
        async with server.socket(name) as again:
            await again.send('{"type":"join"}')
            assert await again.recv()
        for line in lines:
            await line.close()

    on_server(store, play, replace(GENEROUS, sockets_of_address=3))
