"""Those who want a server for themselves, in a process of their own: `flood.py` starts it.

    python -m attacks.crowd ADDRESS SECONDS [SHARE]

All attack at once for so many seconds; then it prints as JSON how often what happened. `SHARE` is
the part of the usual number of attackers, 1 unless given.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import sys
from collections import Counter
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

from attacks.long_records import ALLOWED, FAR_TOO_LONG, long_record
from attacks.wire import JSON, ask, line_to, request_bytes

SILENT, SILENT_ADDRESSES = 1300, 13
PINGERS, UNREAD, REPLAYS, HINTERS = 4, 55, 60, 66
HINT_ADDRESSES = ("127.0.0.2", "127.0.0.3")
LOUD = "127.0.0.2"
HEAVY = {"crazy_eights": "guided:20000", "koi_koi": "koi_koi_search:1600"}  # seconds each
NICENESS = 5  # real attackers do not share the server's processor
PING = b"\x89\xfd\0\0\0\0" + bytes(125)  # masked with zeros
Counts = Counter[str]


async def silent(address: str, counts: Counts, number: int) -> None:
    """Hold a connection that says nothing, again and again."""
    source = f"127.0.2.{1 + number % SILENT_ADDRESSES}"
    reader, writer = await line_to(address, source)
    counts["silent connections"] += 1
    try:
        await reader.read()
    finally:
        writer.close()


async def ping(address: str, counts: Counts, number: int) -> None:
    """Send pings as fast as they go, and read no pong."""
    name, secret = await open_table(address, "crazy_eights", "heuristic", LOUD)
    key = "connection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n"
    head = f"GET /api/tables/{name}/socket HTTP/1.1\r\nhost: localhost\r\n{key}"
    raw = deaf_line(LOUD)
    loop = asyncio.get_running_loop()
    try:
        parts = urlsplit(address)
        await loop.sock_connect(raw, (parts.hostname, parts.port))
        await loop.sock_sendall(
            raw, f"{head}sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode()
        )
        join = json.dumps({"type": "join", "secret": secret}).encode()
        await asyncio.sleep(0.2)
        await loop.sock_sendall(raw, b"\x81" + bytes([0x80 | len(join)]) + bytes(4) + join)
        while True:
            await loop.sock_sendall(raw, PING * 20)
            counts["pings"] += 20
            await asyncio.sleep(0)
    finally:
        raw.close()


async def unread(address: str, counts: Counts, number: int) -> None:
    """Ask for an answer of many megabytes and read nothing of it."""
    raw = deaf_line(LOUD)
    loop = asyncio.get_running_loop()
    try:
        parts = urlsplit(address)
        await loop.sock_connect(raw, (parts.hostname, parts.port))
        sent = request_bytes("POST", "/api/replays", RECORDS[0], JSON)
        await loop.sock_sendall(raw, sent)
        counts["large answers asked for"] += 1
        await asyncio.sleep(30)
    finally:
        raw.close()


async def replay(address: str, counts: Counts, number: int) -> None:
    """Have a long game replayed: one that is allowed, or one that must be refused."""
    body = RECORDS[number % 2]
    status, _ = await ask(address, "POST", "/api/replays", body, source=LOUD)
    counts[f"replays of {'allowed' if number % 2 == 0 else 'forbidden'} length: {status}"] += 1


async def hint(address: str, counts: Counts, number: int) -> None:
    """Ask a heavy adviser, again and again."""
    source = HINT_ADDRESSES[number % len(HINT_ADDRESSES)]
    game, adviser = list(HEAVY.items())[number // 2 % len(HEAVY)]
    name, secret = await open_table(address, game, adviser, source)
    where = f"{address.replace('http', 'ws', 1)}/api/tables/{name}/socket"
    async with connect(where, compression=None, local_addr=(source, 0), open_timeout=60) as line:
        await line.send(json.dumps({"type": "join", "secret": secret}))
        version = 0
        async for text in line:
            message = json.loads(text)
            counts[f"to those who want hints: {message['type']}"] += 1
            version = message.get("version", version)
            if message["type"] in ("view", "hint", "refused"):
                await asyncio.sleep(0.2)
                await line.send(json.dumps({"type": "hint", "version": version}))


async def open_table(address: str, game: str, adviser: str, source: str | None) -> tuple[str, str]:
    """Return a table and the secret of its first seat."""
    wish = {
        "game": game,
        "seats": [{"person": "Eve"}, {"agent": "heuristic"}],
        "adviser": adviser,
    }
    status, body = await ask(address, "POST", "/api/tables", wish, source=source)
    if status != 201:
        raise ConnectionRefusedError(body.decode())
    made = json.loads(body)
    return made["id"], made["seats"][0]["secret"]


def deaf_line(source: str) -> socket.socket:
    """Return a socket that takes in almost nothing."""
    raw = socket.socket()
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    raw.setblocking(False)
    raw.bind((source, 0))
    return raw


RECORDS: list[bytes] = []
KINDS: tuple[tuple[Callable[[str, Counts, int], Awaitable[None]], int, float], ...] = (
    (silent, SILENT, 1.0),  # with the seconds until one comes back
    (ping, PINGERS, 0.5),
    (unread, UNREAD, 1.0),
    (replay, REPLAYS, 0.5),
    (hint, HINTERS, 2.0),
)


async def attack(address: str, seconds: float, share: float) -> Counts:
    """Let everybody attack for a while; return how often what happened."""
    RECORDS.extend(long_record(plies).encode() for plies in (ALLOWED, FAR_TOO_LONG))
    counts: Counts = Counter()

    async def again_and_again(
        kind: Callable[[str, Counts, int], Awaitable[None]], number: int, pause: float
    ) -> None:
        await asyncio.sleep(number % 100 * pause / 100)
        while True:
            with contextlib.suppress(OSError, TimeoutError, WebSocketException, ValueError):
                await kind(address, counts, number)
            await asyncio.sleep(pause)

    print("ready", flush=True)
    tasks = [
        asyncio.create_task(again_and_again(kind, number, pause))
        for kind, many, pause in KINDS
        for number in range(max(1, round(many * share)))
    ]
    await asyncio.sleep(seconds)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return counts


def main() -> None:
    """Attack, then tell."""
    os.nice(NICENESS)
    address, seconds, share = sys.argv[1], float(sys.argv[2]), float((*sys.argv, "1")[3])
    print(json.dumps(asyncio.run(attack(address, seconds, share))), flush=True)


if __name__ == "__main__":
    main()
