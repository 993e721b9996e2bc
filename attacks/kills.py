"""What dies while people play: the server, its workers, its database; or the store is held.

No move that a player has seen acknowledged is ever undone, and no view that a seat was shown is
contradicted by another, or by the record of the game.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from attacks.case import Outcome, Setting
from attacks.programs import Server, program, until
from attacks.visitors import Party
from attacks.wire import percentile
from tests.support import postgres

VISITORS = 4
LONG_HOLD = 30.0  # seconds
HOLD = """
import sqlite3, sys
at = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=60)
at.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()
"""


async def _strike_again_and_again(
    outcome: Outcome,
    server: Server,
    party: Party,
    strike: Callable[[], Awaitable[None]],
    tries: int,
) -> None:
    """Strike so often while a party plays; everybody must play on after each time."""
    async with party:
        outcome.lost += await party.everybody_plays()
        for _ in range(tries):
            outcome.tries += 1
            await strike()
            outcome.lost += await party.everybody_plays()
        outcome.lost += await party.end()
    trouble = await server.settled()
    outcome.demand(trouble is None, str(trouble))
    outcome.lost += server.tracebacks()
    moves = outcome.figures.get("moves acknowledged", 0)
    outcome.figures["moves acknowledged"] = moves + party.acknowledged


async def server_killed(setting: Setting) -> Outcome:
    """The server is killed by kill -9 at random moments and started again on its store."""
    outcome, rng = Outcome(), random.Random(setting.seed)
    starts: list[float] = []
    async with Server(setting.folder) as server:

        async def strike() -> None:
            await asyncio.sleep(rng.uniform(0.05, 1.5))
            outcome.demand(await server.kill(), "workers outlived their server")
            began = time.monotonic()
            await server.start()
            starts.append(time.monotonic() - began)

        party = Party(server, VISITORS, setting.seed)
        await _strike_again_and_again(outcome, server, party, strike, setting.count(12, 2))
    outcome.figures["s to start again"] = f"{percentile(starts, 50):.1f}"
    return outcome


async def workers_killed(setting: Setting) -> Outcome:
    """The processes that agents think in are killed while they think."""
    outcome, rng = Outcome(), random.Random(setting.seed)
    killed = 0
    async with Server(setting.folder) as server:

        async def strike() -> None:
            nonlocal killed
            await asyncio.sleep(rng.uniform(0.0, 0.5))
            workers = await until(server.workers, "a worker")
            for pid in rng.sample(workers, rng.randint(1, len(workers))):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                    killed += 1

        games = ("crazy_eights", "uno")
        party = Party(server, VISITORS, setting.seed, agent="monte_carlo:1000", games=games)
        await _strike_again_and_again(outcome, server, party, strike, setting.count(10, 2))
    outcome.figures["workers killed"] = killed
    return outcome


async def postgres_stopped(setting: Setting) -> Outcome:
    """PostgreSQL is stopped without warning under a server, and started again."""
    outcome, rng = Outcome(), random.Random(setting.seed)
    if postgres.binaries() is None:
        outcome.skipped = "PostgreSQL is not installed (Debian's package postgresql)"
        return outcome
    # Its own user must reach the folder, and a socket's path is short: it is not the case's own.
    with tempfile.TemporaryDirectory(prefix="cardlab-pg-", dir="/tmp") as folder:
        async with (
            _running(Path(folder)) as database,
            Server(setting.folder, store=database.address) as server,
        ):

            async def strike() -> None:
                await asyncio.sleep(rng.uniform(0.05, 1.0))
                await asyncio.to_thread(database.stop)
                await asyncio.sleep(rng.choice((0.2, 1.0, 3.0)))
                await asyncio.to_thread(database.start)

            party = Party(server, VISITORS, setting.seed)
            await _strike_again_and_again(outcome, server, party, strike, setting.count(8, 2))
            outcome.figures["s to acknowledge at most"] = f"{max(party.seconds):.1f}"
    return outcome


@asynccontextmanager
async def _running(folder: Path) -> AsyncIterator[postgres.OwnServer]:
    """Run a database server, which is stopped at the end whatever has happened."""
    database = await asyncio.to_thread(postgres.OwnServer, folder)
    await asyncio.to_thread(database.start)
    try:
        yield database
    finally:
        with suppress(subprocess.CalledProcessError):  # it was stopped just now
            database.stop()


async def store_held(setting: Setting) -> Outcome:
    """Another process holds the SQLite store for up to 30 s; in some tries the server is killed."""
    outcome = Outcome()
    short, long = setting.folder / "short", setting.folder / "long"
    for folder in (short, long):
        folder.mkdir()
    rng = random.Random(setting.seed)
    times = [rng.choice((0.3, 2.0, 6.0)) for _ in range(setting.count(8, 1))]
    parts = [_hold_for(setting, short, times)]
    if not setting.quick:
        parts.append(_hold_for(setting, long, [LONG_HOLD] * 2))
    for found in await asyncio.gather(*parts):
        outcome.tries += found.tries
        outcome.lost += found.lost
        for name, figure in found.figures.items():
            outcome.figures[name] = round(outcome.figures.get(name, 0) + figure, 1)
    return outcome


async def _hold_for(setting: Setting, folder: Path, times: list[float]) -> Outcome:
    """Hold a store for these times; every fourth time the server is killed meanwhile."""
    outcome = Outcome()
    async with Server(folder) as server:
        waiting = iter(enumerate(times))

        async def strike() -> None:
            number, seconds = next(waiting)
            words = (sys.executable, "-c", HOLD, server.store)
            async with program(*words, folder=folder, stdin=PIPE) as holder:
                assert holder.stdout is not None
                await holder.stdout.readline()
                await asyncio.sleep(seconds)
                if number % 4 == 3:
                    outcome.demand(await server.kill(), "workers outlived their server")
            if number % 4 == 3:
                await server.start()

        party = Party(server, VISITORS, setting.seed)
        await _strike_again_and_again(outcome, server, party, strike, len(times))
        outcome.figures["times told that a move waits"] = party.waits
    with sqlite3.connect(server.store) as at:
        sound = at.execute("PRAGMA integrity_check").fetchone()[0]
    at.close()
    outcome.demand(sound == "ok", f"the store is damaged: {sound}")
    return outcome
