"""Thousands of broken requests, messages and records: answered with 4xx, never 5xx, and no harm."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from attacks.case import Outcome, Setting
from attacks.crowd import open_table
from attacks.long_records import long_record
from attacks.programs import Server
from attacks.wire import SECONDS, ask, exchange, request_bytes

REQUESTS, RECORDS, MESSAGES = 3000, 400, 3000
AT_ONCE = 200  # broken ones are waited for as long as the server has patience
RECORDS_AT_ONCE = 16  # they are replayed one after the other
SOCKETS_AT_ONCE = 10
QUIET_SECONDS = 1.0  # after which nothing more is expected to come
MISTAKE = 1011
PATIENCE = 120.0
PER_SOCKET = 30  # messages; 40 at once are allowed
BUSY = 503  # is allowed as an answer to a record: too many are being made
PATHS = (
    "/", "/api/games", "/api/games/recent", "/api/tables", "/api/tables/{id}",
    "/api/tables/{id}/record", "/api/tables/{id}/socket", "/api/replays", "/api/replays/{id}",
    "/api/replays/advice", "/api/replays/review", "/api/leaderboard", "/api/people",
    "/api/library", "/api/library/{id}", "/library/figures/{id}", "/static/style.css",
    "/static/../server.py", "/static/%2e%2e/server.py", "/games/uno/page.js", "/games/x/{id}",
    "/cards/{id}.svg", "/cards/french.json", "/api/health", "/metrics", "//", "/%00", "/é",
)  # fmt: skip
METHODS = ("GET", "POST", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "get", "X" * 40)
HOSTS = ("localhost", "127.0.0.1:1", "example.org", "", "[::1", "a" * 300, "localhost:99999", "é")
ORIGINS = ("http://localhost", "null", "http://example.org", "http://[", "file://", "\x7f")
KINDS = ("application/json", "text/plain", "application/json; charset=x", "", "\x01")
WORDS: tuple[Any, ...] = (
    None, True, 0, -1, 1 << 31, 1 << 70, 1.5, float("inf"), float("nan"), "", "x", "\0", "\ud800",
    "é" * 50, "A" * 3000, "crazy_eights", "uno", "heuristic", "monte_carlo:9", "os:system",
    "../../etc/passwd", "<script>", [], {}, [[]], [1] * 50, {"a": {"b": []}}, "join", "act", "hint",
)  # fmt: skip
FIELDS = (
    "game", "options", "seats", "seed", "hints", "adviser", "agent", "person", "type", "secret",
    "name", "commitment", "share", "version", "action", "record", "ply", "rules", "deals",
    "actions", "result", "forfeit", "note", "target", "__class__",
)  # fmt: skip


async def web_fuzzed(setting: Setting) -> Outcome:
    """Requests, socket messages and records that are broken in seeded ways."""
    outcome, rng = Outcome(), random.Random(setting.seed)
    async with Server(setting.folder) as server:
        table, _ = await open_table(server.address, "crazy_eights", "heuristic", "127.0.0.9")
        requests = [_request(rng, table) for _ in range(setting.count(REQUESTS, 150))]
        await _send_all(outcome, server, requests, AT_ONCE)
        records = [_record_request(rng) for _ in range(setting.count(RECORDS, 20))]
        await _send_all(outcome, server, records, RECORDS_AT_ONCE)
        await _say_all(outcome, server, rng, setting.count(MESSAGES, 150))
        trouble = await server.settled()
        outcome.demand(trouble is None, str(trouble))
        outcome.lost += server.tracebacks()
        outcome.figures["log kB"] = round(len(server.said()) / 1000, 1)
    return outcome


def sources() -> Iterator[str]:
    """Yield addresses of this machine in turn: one alone would soon be refused unread."""
    while True:
        for number in range(1, 200):
            yield f"127.0.3.{number}"


async def _send_all(outcome: Outcome, server: Server, requests: list[bytes], at_once: int) -> None:
    """Send requests, some at once, and see how each is answered."""
    places, own = asyncio.Semaphore(at_once), sources()
    statuses: Counter[str] = Counter()

    async def send(sent: bytes) -> None:
        async with places:
            outcome.tries += 1
            try:
                answer = await exchange(server.address, sent, next(own), PATIENCE)
            except (OSError, TimeoutError) as error:
                outcome.lost.append(f"no answer ({error!r}) to {sent[:120]!r}")
                return
        words = answer.split(None, 2)
        status = int(words[1]) if len(words) > 1 and words[1].isdigit() else 0
        statuses[f"{status // 100}xx" if status not in (429, BUSY) else str(status)] += 1
        if b"Traceback" in answer:
            outcome.lost.append(f"a traceback is shown for {sent[:120]!r}")
        if status >= 500 and not (status == BUSY and b"/api/replays" in sent):
            outcome.lost.append(f"{status} for {sent[:160]!r}")

    await asyncio.gather(*map(send, requests))
    for status, count in sorted(statuses.items()):
        name = "without a status" if status == "0xx" else status
        outcome.figures[name] = outcome.figures.get(name, 0) + count


async def _say_all(outcome: Outcome, server: Server, rng: random.Random, number: int) -> None:
    """Send broken messages over sockets; each table must still answer afterwards."""
    places, own = asyncio.Semaphore(SOCKETS_AT_ONCE), sources()
    closed: Counter[str] = Counter()

    async def say(messages: list[str | bytes]) -> None:
        async with places:
            source = next(own)
            table, secret = await open_table(server.address, "crazy_eights", "heuristic", source)
            outcome.tries += len(messages)
            code = await _converse(server, table, secret, source, messages)
            closed[str(code or "not closed")] += 1
            outcome.demand(code != MISTAKE, "a socket was closed for a mistake of the server")
            status, _ = await ask(server.address, "GET", f"/api/tables/{table}", source=source)
            outcome.demand(status == 200, f"a table answers {status} after broken messages")

    await asyncio.gather(
        *(
            say([_message(rng) for _ in range(PER_SOCKET)])
            for _ in range(max(1, number // PER_SOCKET))
        )
    )
    outcome.figures["sockets closed with"] = dict(closed)


async def _converse(
    server: Server, table: str, secret: str, source: str, messages: list[str | bytes]
) -> int | None:
    """Join, send messages and read what comes; return the code that the socket was closed with."""
    where = f"{server.address.replace('http', 'ws', 1)}/api/tables/{table}/socket"
    try:
        async with connect(
            where, compression=None, local_addr=(source, 0), max_queue=None, open_timeout=SECONDS
        ) as line:
            await line.send(json.dumps({"type": "join", "secret": secret}))
            for message in messages:
                await line.send(message)
            with contextlib.suppress(TimeoutError):
                while True:
                    await asyncio.wait_for(line.recv(), QUIET_SECONDS)
    except ConnectionClosed as error:
        return error.rcvd.code if error.rcvd else None
    return None


def _request(rng: random.Random, table: str) -> bytes:
    """Return a request that is wrong in some way, or not quite."""
    path = rng.choice(PATHS).replace("{id}", rng.choice((table, "x", "%00", "..", "A" * 40, "é")))
    if rng.random() < 0.2:
        path += "?" + rng.choice(("game=uno", "game=%00", "x" * 500, "game=os:system", "a&&=;"))
    method = rng.choice(METHODS) if rng.random() < 0.4 else rng.choice(METHODS[:2])
    headers = {}
    if rng.random() < 0.2:
        headers["host"] = rng.choice(HOSTS)
    if rng.random() < 0.2:
        headers["origin"] = rng.choice(ORIGINS)
    body = _body(rng) if method != "GET" or rng.random() < 0.1 else None
    if body is not None:
        headers["content-type"] = rng.choice(KINDS) if rng.random() < 0.2 else KINDS[0]
        if rng.random() < 0.1:
            headers["content-length"] = rng.choice(("-1", "0", "99999999999", "x", ""))
    if rng.random() < 0.1:
        name = rng.choice(("range", "cookie", "x-forwarded-for", "accept-encoding", "upgrade"))
        values = ("bytes=0-1", "websocket", "gzip;q=x", "127.0.0.1, ::1", "\xff")
        headers[name] = rng.choice(values)
    sent = request_bytes(method, path, body, headers)
    return _damaged(rng, sent) if rng.random() < 0.1 else sent


def _record_request(rng: random.Random) -> bytes:
    """Return a question about a record that is wrong in some way."""
    record: Any = json.loads(long_record(rng.choice((5, 60, 300)), rng.randrange(8)))
    for _ in range(rng.randint(1, 3)):
        place = rng.choice([*record])
        if isinstance(record[place], list) and record[place] and rng.random() < 0.7:
            record[place][rng.randrange(len(record[place]))] = rng.choice(WORDS)
        else:
            record[place] = rng.choice(WORDS)
    path = rng.choice(("/api/replays", "/api/replays/advice", "/api/replays/review"))
    text = json.dumps(record)
    if path != "/api/replays":
        adviser = rng.choice(("heuristic", "random", *WORDS))
        ply = rng.choice((0, 3, -1, 1e9))
        text = json.dumps({"record": record, "ply": ply, "adviser": adviser})
    body = text.encode(errors="replace")
    body = _damaged(rng, body) if rng.random() < 0.2 else body
    return request_bytes("POST", path, body, {"content-type": "application/json"})


def _body(rng: random.Random) -> bytes:
    """Return a body of JSON, or something like it."""
    makers: tuple[Callable[[], bytes], ...] = (
        lambda: json.dumps(_value(rng, 3)).encode(errors="replace"),
        lambda: json.dumps(
            {
                "game": rng.choice(("crazy_eights", "uno", *WORDS)),
                "seats": [{"person": "Ann"}, {"agent": rng.choice(("heuristic", *WORDS))}],
                rng.choice(FIELDS): rng.choice(WORDS),
            }
        ).encode(errors="replace"),
        lambda: rng.randbytes(rng.randrange(200)),
        lambda: b"[" * rng.choice((10, 5000)),
        lambda: b"{}",
        lambda: b" " * rng.choice((20_000, 200_000)),
    )
    return rng.choice(makers)()


def _message(rng: random.Random) -> str | bytes:
    """Return a message to a table, wrong in some way."""
    if rng.random() < 0.02:
        return rng.randbytes(20)
    if rng.random() < 0.1:
        return rng.choice(("", "{", "[" * 1000, "null", '"x"', "{}" * 10, '{"type":"\\ud800"}'))
    kind = rng.choice(("join", "share", "act", "hint", "undo", "solvable", "leaf", *WORDS))
    message = {"type": kind}
    for _ in range(rng.randrange(3)):
        message[rng.choice(FIELDS)] = rng.choice(WORDS)
    if kind == "act" and rng.random() < 0.5:
        message |= {"version": rng.choice((0, 1, -1)), "action": rng.randrange(-2, 99)}
    return json.dumps(message)


def _value(rng: random.Random, depth: int) -> Any:
    if depth == 0 or rng.random() < 0.3:
        return rng.choice(WORDS)
    if rng.random() < 0.3:
        return [_value(rng, depth - 1) for _ in range(rng.randrange(4))]
    return {rng.choice(FIELDS): _value(rng, depth - 1) for _ in range(rng.randrange(5))}


def _damaged(rng: random.Random, data: bytes) -> bytes:
    """Return bytes with some of them exchanged, and perhaps a part cut out of the middle."""
    damaged = bytearray(data)
    for _ in range(rng.randint(1, 5)):
        damaged[rng.randrange(len(damaged))] = rng.randrange(256)
    if rng.random() < 0.3:
        start = rng.randrange(len(damaged))
        del damaged[start : start + rng.randrange(20)]
    return bytes(damaged)
