"""A browser without a browser: speaks ASGI to the web table and keeps every text it is sent."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from cardlab.web.limits import Limits
from cardlab.web.server import make_app
from cardlab.web.server_state import Site

HOST = (b"host", b"localhost")
GENEROUS = Limits(
    tables_a_minute=1e9,
    replays_a_minute=1e9,
    hints_a_minute=1e9,
    messages_a_second=1e9,
    request_burst=1_000_000,
    sockets_of_address=4000,
    opening_seconds=100,
    reading_seconds=100,
    decision_seconds=100,
    thinking_seconds=100,
)


@asynccontextmanager
async def serving(store: str, limits: Limits = GENEROUS, **more: Any) -> AsyncIterator[Any]:
    """Run the application over a store; `app.state.site` is its inside."""
    app = make_app(store, limits=limits, workers=1, **more)
    async with app.router.lifespan_context(app):
        yield app


def site_of(app: Any) -> Site:
    """Return the inside of a running application."""
    return app.state.site


async def request(
    app: Any, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
) -> tuple[int, dict[str, str], bytes]:
    """Return status, headers and body of the answer to one request."""
    sent = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    lines = {"host": "localhost", "content-length": str(len(sent))}
    if body is not None:
        lines["content-type"] = "application/json"
    lines |= headers or {}
    path, _, query = path.partition("?")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(name.encode(), value.encode()) for name, value in lines.items()],
        "client": ("127.0.0.1", 4321),
        "server": ("localhost", 80),
    }
    waiting = [{"type": "http.request", "body": sent, "more_body": False}]
    answers: list[Any] = []

    async def receive() -> Any:
        if waiting:
            return waiting.pop(0)
        await asyncio.sleep(3600)

    async def send(message: Any) -> None:
        answers.append(message)

    await app(scope, receive, send)
    start = answers[0]
    told = {name.decode().lower(): value.decode() for name, value in start["headers"]}
    return start["status"], told, b"".join(one.get("body", b"") for one in answers[1:])


async def open_table(app: Any, **wish: Any) -> tuple[str, list[str | None]]:
    """Return the id of a new table and the secrets of its seats."""
    status, _, body = await request(app, "POST", "/api/tables", wish)
    assert status == 201, body
    told = json.loads(body)
    return told["id"], [seat["secret"] for seat in told["seats"]]


class Wire:
    """One socket: what was sent and what came, as text and as data."""

    def __init__(self, app: Any, table: str, headers: list[tuple[bytes, bytes]] | None = None):
        self.texts: list[str] = []
        self.closed: tuple[int, str] | None = None
        self.accepted = False
        self._arrived = asyncio.Event()
        self._read = 0
        self._out: asyncio.Queue[Any] = asyncio.Queue()
        self._out.put_nowait({"type": "websocket.connect"})
        path = f"/api/tables/{table}/socket"
        scope = {
            "type": "websocket",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "scheme": "ws",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "root_path": "",
            "headers": [HOST] if headers is None else headers,
            "client": ("127.0.0.1", 4321),
            "server": ("localhost", 80),
            "subprotocols": [],
        }
        self.task = asyncio.create_task(app(scope, self._out.get, self._take))

    async def _take(self, message: Any) -> None:
        if message["type"] == "websocket.accept":
            self.accepted = True
        elif message["type"] == "websocket.send":
            self.texts.append(message["text"])
        elif message["type"] == "websocket.close" and self.closed is None:
            self.closed = (message.get("code", 1000), message.get("reason") or "")
        self._arrived.set()

    def say(self, message: Any) -> None:
        """Send data, or text as it is."""
        text = message if isinstance(message, str) else json.dumps(message)
        self._out.put_nowait({"type": "websocket.receive", "text": text})

    async def hear(self, kind: str | None = None) -> dict[str, Any] | None:
        """Return the next message (of a kind), or None once the line is closed."""
        while True:
            while self._read < len(self.texts):
                self._read += 1
                told = json.loads(self.texts[self._read - 1])
                if kind is None or told["type"] == kind:
                    return told
            if self.closed is not None or self.task.done():
                return None
            self._arrived.clear()
            await asyncio.wait_for(self._arrived.wait(), 60)

    async def join(self, secret: str | None, name: str | None = None) -> dict[str, Any] | None:
        """Say who is there and return the first view."""
        self.say({"type": "join", "secret": secret, "name": name})
        return await self.hear("view")

    async def end(self) -> None:
        """Go away without a word."""
        self._out.put_nowait({"type": "websocket.disconnect", "code": 1001})
        await asyncio.wait_for(self.task, 10)


PERSON, AGENT = {"person": "Ann"}, {"agent": "heuristic"}
PAIR = {"game": "crazy_eights", "seats": [PERSON, AGENT], "seed": 5}


def run_alone(work: Coroutine[Any, Any, Any]) -> Any:
    """Run in a thread of its own: a browser of other tests keeps a loop running in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


def in_app(
    store: Path | str,
    play: Callable[[Any], Awaitable[Any]],
    limits: Limits = GENEROUS,
    **more: Any,
) -> Any:
    """Run a play against a server of its own."""

    async def run() -> Any:
        async with serving(str(store), limits, **more) as app:
            return await asyncio.wait_for(play(app), 100)

    return run_alone(run())


async def finish(wire: Wire, told: Any, most: int = 10_000) -> Any:
    """Play on with the first legal action, to the end or for so many moves."""
    for _ in range(most):
        while told and not told["over"] and not told["legal"]:
            told = await wire.hear("view")
        if told["over"]:
            break
        wire.say({"type": "act", "version": told["version"], "action": told["legal"][0]["id"]})
        told = await wire.hear("view")
    return told
