"""Four attacks at once, while somebody else plays and is answered within half a second."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import suppress

from websockets.asyncio.client import connect

from attacks.case import Outcome, Setting
from attacks.crowd import HEAVY, open_table
from attacks.long_records import long_record
from attacks.programs import ROOT, Server, processor_seconds, program, until
from attacks.visitors import Party
from attacks.wire import ask, percentile
from cardlab.arena.workers import default_workers

SECONDS, QUICK_SECONDS = 60, 8
WITHIN = 0.5  # seconds, for 99 % of the moves
MOST_MB = 250.0  # above the level before
MOST_LOG_KB = 1000.0
RECOVERY_SECONDS = 60.0
WARM_GAMES = tuple(HEAVY)
MOST_ROUNDS = 10  # of hints, until every worker has loaded every game
SETTLED_MB = 2.0


async def four_at_once(setting: Setting) -> Outcome:
    """Silent connections, pings and unread answers, long replays and heavy hints, all at once."""
    outcome, seconds = Outcome(tries=1), setting.count(SECONDS, QUICK_SECONDS)
    async with Server(setting.folder) as server:
        await _everybody_warm(server)  # compiles: a compiler keeps memory that is not the attack's
        await server.kill()
        await server.start()
        await _everybody_warm(server)
        before, busy = server.memory(), processor_seconds(server.pid)
        peak = list(before)
        files = (await server.health())["files"]
        words = (sys.executable, "-m", "attacks.crowd", server.address, str(seconds))
        share = "0.1" if setting.quick else "1"
        party = Party(server, 1, setting.seed)
        async with (
            program(*words, share, folder=ROOT, stderr=None) as crowd,
            party,
        ):
            assert crowd.stdout is not None
            await crowd.stdout.readline()  # it is ready
            telling = asyncio.create_task(crowd.stdout.readline())
            while not telling.done():
                peak = [max(pair) for pair in zip(peak, server.memory(), strict=True)]
                await asyncio.sleep(0.5)
            counts = json.loads(telling.result())
            seconds_of_moves = list(party.seconds)
            outcome.lost += await party.end()
        worked, waited = processor_seconds(server.pid)
        outcome.figures["server's s of CPU"] = round(worked - busy[0], 1)
        outcome.figures["s that it waited for a core"] = round(waited - busy[1], 1)
        _judge_moves(outcome, seconds_of_moves)
        outcome.figures["moves that waited for the disk"] = party.waits
        _judge_memory(outcome, before, peak)
        await _judge_recovery(outcome, server, before, files)
        said = server.said()
    log = len(said) / 1000
    outcome.demand(log < MOST_LOG_KB, f"the log has {log:,.0f} kB, {MOST_LOG_KB:,.0f} are allowed")
    outcome.lost += server.tracebacks()
    outcome.figures |= {"log kB": round(log, 1), **counts}
    if not setting.quick:
        refused = counts.get("replays of forbidden length: 400", 0)
        outcome.demand(refused > 0, "no replay of forbidden length was refused")
    return outcome


def _judge_moves(outcome: Outcome, seconds: list[float]) -> None:
    """See whether the visitor was answered in time."""
    within = sum(each <= WITHIN for each in seconds) / max(1, len(seconds))
    outcome.demand(
        within >= 0.99,
        f"{100 * within:.1f} % of {len(seconds)} moves were acknowledged within "
        f"{1000 * WITHIN:.0f} ms, 99 % should be",
    )
    for share in (50, 99):
        outcome.figures[f"p{share} ms"] = round(1000 * percentile(seconds, share))
    outcome.figures["most ms"] = round(1000 * max(seconds, default=0))
    outcome.figures["moves"] = len(seconds)


def _judge_memory(outcome: Outcome, before: tuple[float, float], peak: list[float]) -> None:
    """See whether the attack costs a bounded amount of memory."""
    for name, then, most in zip(("server", "workers"), before, peak, strict=True):
        outcome.figures[f"{name} MB"] = f"{then:.0f} to {most:.0f}"
    above = sum(peak) - sum(before)
    outcome.demand(above <= MOST_MB, f"{above:.0f} MB more memory, {MOST_MB:.0f} are allowed")


async def _judge_recovery(
    outcome: Outcome, server: Server, before: tuple[float, float], files: int
) -> None:
    """See whether the server is as before, some time after the attack."""
    trouble = await server.settled(RECOVERY_SECONDS)
    outcome.demand(trouble is None, f"after the attack {trouble}")
    found = await server.health()
    loop = asyncio.get_running_loop()
    end = loop.time() + RECOVERY_SECONDS
    while found["files"] > files + 20 and loop.time() < end:
        await asyncio.sleep(0.5)
        found = await server.health()
    outcome.demand(
        found["files"] <= files + 20,
        f"{found['files']} descriptors after the attack, {files} before",
    )
    after = sum(server.memory())
    outcome.figures["MB after"] = f"{after - sum(before):+.0f}"
    outcome.demand(
        after - sum(before) <= MOST_MB / 2,
        f"{after - sum(before):.0f} MB more memory after the attack",
    )


async def _everybody_warm(server: Server) -> None:
    """Have every worker started, and every game loaded that hints or replays are asked of."""
    record = long_record(100).encode()
    await ask(server.address, "POST", "/api/replays", record, source="127.0.0.9")
    most = default_workers() + 1  # one replays
    for _ in range(MOST_ROUNDS):
        before = sum(server.memory())
        await asyncio.gather(*(_one_hint(server, game) for game in WARM_GAMES for _ in range(4)))
        await until(lambda: len(server.workers()) >= most, f"{most} workers")
        await asyncio.sleep(1)
        if sum(server.memory()) - before < SETTLED_MB:
            return  # no worker has loaded anything new


async def _one_hint(server: Server, game: str) -> None:
    """Ask for one hint of a game by its usual adviser."""
    adviser = HEAVY[game].partition(":")[0]
    name, secret = await open_table(server.address, game, adviser, "127.0.0.9")
    where = f"{server.address.replace('http', 'ws', 1)}/api/tables/{name}/socket"
    async with connect(where, compression=None, local_addr=("127.0.0.9", 0)) as line:
        await line.send(json.dumps({"type": "join", "secret": secret}))
        version = 0
        with suppress(TimeoutError):
            async with asyncio.timeout(60):
                async for text in line:
                    message = json.loads(text)
                    if message["type"] == "view":
                        version = message["version"]
                        await line.send(json.dumps({"type": "hint", "version": version}))
                    elif message["type"] in ("hint", "refused"):
                        return
