"""A store that is damaged or full, under a server that runs and under one that starts."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import resource
import shutil
import sqlite3
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from attacks.case import Outcome, Setting
from attacks.crowd import open_table
from attacks.programs import Ended, Failed, Server
from attacks.visitors import Party
from attacks.wire import ask

MOUNT_MB = 3
FULL_SECONDS = 3.0
PAGES = ("/api/games", "/api/games/recent", "/api/leaderboard", "/api/people", "/api/health")
# What a row of `web_tables` may hold that no server of ours wrote.
ROWS: tuple[tuple[str, Any], ...] = (
    ("game", "no_such_game"),
    ("game", "os:system"),
    ("rules", 99),
    ("options", "{"),
    ("options", '{"seats": 99}'),
    ("options", "[]"),
    ("seats", "null"),
    ("seats", "[]"),
    ("seats", '[{"agent": "os:system", "name": null, "digest": null}]'),
    ("seats", '[{"x": 1}]'),
    ("seed", "text"),
    ("adviser", "os:system"),
    ("decks", -1),
    ("decks", 10**9),
    ("decks", 7),
    ("orders", b""),
    ("orders", bytes(52)),
    ("orders", b"\xff" * 52),
    ("orders", "text"),
    ("actions", b"\x01"),
    ("actions", b"\xff" * 64),
    ("actions", "text"),
    ("undone", "text"),
    ("undone", -5),
    ("returns", "{"),
    ("returns", "[1, 2, 3]"),
    ("points", "{"),
    ("dealing", "{"),
    ("dealing", '{"x": 1}'),
    ("dealing", "[]"),
    ("begun", b"\xff"),
    ("changed", 0),
)


async def damaged_rows(setting: Setting) -> Outcome:
    """A row of a table is not what a server wrote: that table says so, others go on."""
    outcome = Outcome()
    rows = ROWS[:: setting.count(1, 8)]
    async with Server(setting.folder) as server:
        party = Party(server, 1, setting.seed)
        async with party:
            for number, (column, value) in enumerate(rows):
                outcome.tries += 1
                source = f"127.0.4.{number + 1}"
                table, secret = await open_table(
                    server.address, "crazy_eights", "heuristic", source
                )
                with contextlib.closing(sqlite3.connect(server.store, timeout=60)) as at, at:
                    at.execute(f"UPDATE web_tables SET {column} = ? WHERE id = ?", (value, table))
                fault = await _visit(server, table, secret, source)
                if fault:
                    outcome.lost.append(f"{column} = {value!r}: {fault}")
            for path in PAGES:
                status, body = await ask(server.address, "GET", path, source="127.0.4.99")
                outcome.demand(status < 500, f"GET {path} answers {status}: {body[:150]!r}")
            outcome.lost += await party.end()
        outcome.lost += server.tracebacks()
    return outcome


async def _visit(server: Server, table: str, secret: str, source: str) -> str | None:
    """Come to a table whose row is damaged; return what is wrong with the answers."""
    for path in (f"/api/tables/{table}", f"/api/tables/{table}/record", f"/api/replays/{table}"):
        status, body = await ask(server.address, "GET", path, source=source)
        fault = _fault(status, body)
        if fault:
            return f"GET {path.replace(table, 'ID')}: {fault}"
    where = f"{server.address.replace('http', 'ws', 1)}/api/tables/{table}/socket"
    try:
        async with connect(where, compression=None, local_addr=(source, 0)) as line:
            await line.send(json.dumps({"type": "join", "secret": secret}))
            async with asyncio.timeout(20):
                message = json.loads(await line.recv())
    except ConnectionClosed as closed:
        return f"the socket was closed with {closed.rcvd}" if _is_mistake(closed) else None
    except TimeoutError:
        return "the socket says nothing"
    return None if message["type"] in ("view", "refused") else f"the socket says {message}"


def _is_mistake(closed: ConnectionClosed) -> bool:
    return closed.rcvd is None or closed.rcvd.code == 1011


def _fault(status: int, body: bytes) -> str | None:
    """Return what is wrong with an answer about something damaged: one sentence is right."""
    if b"Traceback" in body or b"sqlalchemy" in body or b"/tmp" in body:
        return f"the answer tells too much: {body[:150]!r}"
    if status >= 500 and status != 503:
        return f"{status}: {body[:150]!r}"
    return None


async def damaged_pages(setting: Setting) -> Outcome:
    """Bytes of an SQLite store are overwritten, before a server starts or while it runs."""
    outcome, rng = Outcome(), random.Random(setting.seed)
    sound = await _sound_store(setting, setting.folder / "sound")
    kinds = ("starts", "starts", "starts", "runs")
    for number in range(setting.count(16, 2)):
        outcome.tries += 1
        folder = setting.folder / str(number)
        folder.mkdir()
        store = folder / "games.db"
        shutil.copy(sound, store)
        runs = kinds[number % len(kinds)] == "runs"
        if not runs:
            damage(store, rng)
        server = Server(folder)
        try:
            async with server:
                if runs:
                    damage(store, rng)
                for path in PAGES:
                    fault = _fault(*await ask(server.address, "GET", path))
                    outcome.demand(fault is None, f"damage {number}, GET {path}: {fault}")
                wish = {"game": "uno", "seats": [{"person": "Ann"}, {"agent": "heuristic"}]}
                fault = _fault(*await ask(server.address, "POST", "/api/tables", wish))
                outcome.demand(fault is None, f"damage {number}, a new table: {fault}")
                outcome.lost += server.tracebacks()
        except Failed:
            assert server.process is not None
            fault = Ended(server.process.returncode, "", server.said()).fault()
            outcome.demand(fault is None, f"damage {number}, at the start: {fault}")
    return outcome


async def _sound_store(setting: Setting, folder: Path) -> Path:
    """Return a store with some games in it."""
    folder.mkdir()
    async with Server(folder) as server:
        party = Party(server, 3, setting.seed, games=("crazy_eights", "uno"))
        async with party:
            await party.everybody_plays()
            await party.end()
        await server.stop()
    return folder / "games.db"


def damage(path: Path, rng: random.Random) -> None:
    """Overwrite some bytes of a file, or cut its end off."""
    data = bytearray(path.read_bytes())
    if rng.random() < 0.25:
        del data[rng.randrange(len(data)) :]
    else:
        for _ in range(rng.choice((1, 4, 16))):
            at = rng.randrange(len(data))
            piece = rng.randbytes(rng.choice((1, 16, 512)))
            data[at : at + len(piece)] = piece
    with path.open("r+b") as file:
        file.write(data)
        file.truncate(len(data))


async def disk_full(setting: Setting) -> Outcome:
    """The disk is full for some seconds while people play; then there is space again."""
    outcome = Outcome()
    disk = setting.folder / "disk"
    disk.mkdir()
    async with (
        small_disk(disk) as mounted,
        Server(setting.folder, store=str(disk / "games.db")) as server,
    ):
        outcome.figures["disk"] = "a small one, mounted" if mounted else "a limit on file sizes"
        party = Party(server, 3, setting.seed)
        refused = 0
        async with party:
            outcome.lost += await party.everybody_plays()
            for _ in range(setting.count(6, 1)):
                outcome.tries += 1
                free = fill(disk, server, mounted)
                try:
                    await asyncio.sleep(FULL_SECONDS)
                    wish = {"game": "uno", "seats": [{"person": "Ann"}, {"agent": "heuristic"}]}
                    status, _ = await ask(server.address, "POST", "/api/tables", wish)
                    refused += status == 503
                finally:
                    free()
                outcome.lost += await party.everybody_plays()
            outcome.lost += await party.end()
        trouble = await server.settled()
        outcome.demand(trouble is None, str(trouble))
        outcome.lost += server.tracebacks()
        outcome.figures |= {"moves acknowledged": party.acknowledged, "told to wait": party.waits}
        outcome.figures["new tables refused"] = refused
        outcome.demand(party.waits > 0, "nobody was told that moves wait: was the disk full?")
        await server.stop()
    return outcome


@asynccontextmanager
async def small_disk(folder: Path) -> AsyncIterator[bool]:
    """Mount a small disk at a folder if we may; yield whether it is one."""
    words = ("mount", "-t", "tmpfs", "-o", f"size={MOUNT_MB}m", "tmpfs", str(folder))
    mounted = os.getuid() == 0 and subprocess.run(words, capture_output=True).returncode == 0
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", "--lazy", str(folder)], capture_output=True)


def fill(disk: Path, server: Server, mounted: bool) -> Callable[[], None]:
    """Leave a server no space to write; return what gives it back."""
    if not mounted:
        soft, hard = resource.prlimit(server.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (1, hard))
        return lambda: _set_limit(server.pid, soft, hard)
    return fill_disk(disk)


def fill_disk(disk: Path) -> Callable[[], None]:
    """Leave no space on a small disk; return what gives it back."""
    filler = disk / "filler"
    with filler.open("ab", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(4096))
    return filler.unlink


def _set_limit(pid: int, soft: int, hard: int) -> None:
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (soft, hard))
