"""The web table under load: a real server, real sockets, people who think for about a second.

    python benchmarks/web.py [latency] [memory] [growth]

`latency`: 200 tables at once, every game, a person against heuristic agents; how long it takes from
a person's move until the table waits for the same person again (all agents have moved).
`memory`: what an idle table with a connected browser costs the server.
`growth`: the server's memory over 5,000 finished games.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from websockets.asyncio.client import connect

TABLES = 200
THINK_SECONDS = (0.5, 1.5)
LATENCY_SECONDS = 40
IDLE_TABLES = 500
FINISHED_GAMES = 5000
SIDE_BY_SIDE = 16
GAMES: dict[str, dict[str, Any]] = {
    "crazy_eights": {},
    "uno": {"seats": 3},
    "birds_of_a_feather": {},
    "koi_koi": {},
    "cribbage": {},
}
SERVER = """
import sys
from cardlab.web.limits import Limits
from cardlab.web.running import ServerSettings, run
many = 100_000  # all visitors of the benchmark share one address
limits = Limits(
    tables_a_minute=1e9, messages_a_second=1e9, frames_a_second=1e9, requests_a_second=1e9,
    tables=many, sockets=many, sockets_of_address=many, connections_of_address=many,
)
settings = ServerSettings(port=0, store=sys.argv[1], limits=limits)
run(settings, on_ready=lambda at: print(at, flush=True))
"""


@contextmanager
def server() -> Iterator[tuple[str, int]]:
    """Run a server with a store of its own; yield its address and process id."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", SERVER, str(Path(folder) / "web.db")]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            yield process.stdout.readline().strip().rstrip("/"), process.pid
            process.terminate()


def post(address: str, game: str, seed: int) -> tuple[str, str]:
    """Open a table for a person against heuristic agents; return its id and the secret."""
    seats = {"uno": 3, "birds_of_a_feather": 1}.get(game, 2)
    wish = {
        "game": game,
        "options": GAMES[game],
        "seats": [{"person": "Ann"}, *[{"agent": "heuristic"}] * (seats - 1)],
        "seed": seed,
    }
    head = {"content-type": "application/json"}
    ask = urllib.request.Request(f"{address}/api/tables", json.dumps(wish).encode(), head)
    with urllib.request.urlopen(ask) as answer:
        table = json.load(answer)
    return table["id"], table["seats"][0]["secret"]


async def open_table(address: str, game: str, seed: int) -> tuple[str, str]:
    """Open a table without holding up the others."""
    return await asyncio.to_thread(post, address, game, seed)


def line_to(address: str, name: str) -> Any:
    return connect(f"ws{address.removeprefix('http')}/api/tables/{name}/socket", compression=None)


async def next_turn(line: Any) -> dict[str, Any]:
    """Return the next view in which the person is to move, or the last one."""
    while True:
        message: dict[str, Any] = json.loads(await line.recv())
        if message["type"] == "view" and (message["legal"] or message["over"]):
            return message


async def play(line: Any, secret: str, rng: random.Random, times: list[float] | None) -> None:
    """Play a game to its end by random moves; with `times`, at a person's pace."""
    await line.send(json.dumps({"type": "join", "secret": secret}))
    message = await next_turn(line)
    while not message["over"]:
        if times is not None:
            await asyncio.sleep(rng.uniform(*THINK_SECONDS))
        action = rng.choice(message["legal"])["id"]
        began = time.perf_counter()
        await line.send(
            json.dumps({"type": "act", "version": message["version"], "action": action})
        )
        message = await next_turn(line)
        if times is not None:
            times.append(time.perf_counter() - began)


def resident(pid: int) -> int:
    """Return the bytes of memory that a process holds."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def machine_seconds() -> float:
    """Return the CPU seconds that all processes have used, and that a virtual machine lost."""
    fields = [int(x) for x in Path("/proc/stat").read_text().split()[1:9]]
    user, nice, system, _idle, _waiting, _hard, _soft, stolen = fields
    return (user + nice + system + stolen) / os.sysconf("SC_CLK_TCK")


async def warm(address: str) -> None:
    for seed, game in enumerate(GAMES):
        name, secret = await open_table(address, game, seed)
        async with line_to(address, name) as line:
            await play(line, secret, random.Random(seed), None)


async def latency(address: str, pid: int) -> None:
    await warm(address)
    times: list[float] = []
    names = list(GAMES)
    end = time.perf_counter() + LATENCY_SECONDS

    async def sit(number: int) -> None:
        rng = random.Random(number)
        await asyncio.sleep(2 * number / TABLES)
        while time.perf_counter() < end:
            name, secret = await open_table(
                address, names[number % len(names)], rng.getrandbits(30)
            )
            async with line_to(address, name) as line:
                await play(line, secret, rng, times)

    before = cpu_seconds(pid)
    all_before, own_before = machine_seconds(), time.process_time()
    began = time.perf_counter()
    tasks = [asyncio.create_task(sit(number)) for number in range(TABLES)]
    await asyncio.wait(tasks, timeout=LATENCY_SECONDS)
    spent, passed = cpu_seconds(pid) - before, time.perf_counter() - began
    others = machine_seconds() - all_before - spent - (time.process_time() - own_before)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    ms = 1000 * np.array(times)
    shares = np.percentile(ms, [50, 90, 99, 99.9])
    print(
        f"{TABLES} tables at once, {len(ms):,} moves of people in {passed:.0f} s "
        f"({len(ms) / passed:.0f} a second)"
    )
    print(
        "answered within ms: "
        + ", ".join(
            f"{share} % {value:.1f}"
            for share, value in zip((50, 90, 99, 99.9), shares, strict=True)
        )
    )
    within = 100 * (ms <= 150).mean()
    print(f"within 150 ms: {within:.2f} % of moves (target 99 %)")
    print(
        f"server: {spent:.1f} s of CPU, {1000 * spent / len(ms):.2f} ms a move, "
        f"{100 * spent / passed:.0f} % of a core"
    )
    cores = os.cpu_count() or 1
    share = 100 * max(0, others) / passed / cores
    print(f"meanwhile other programs and virtual machines used {share:.0f} % of {cores} cores")


async def memory(address: str, pid: int) -> None:
    await warm(address)
    names = list(GAMES)
    lines = []
    before = resident(pid)
    for number in range(IDLE_TABLES):
        name, secret = await open_table(address, names[number % len(names)], number)
        line = await line_to(address, name)
        lines.append(line)
        await line.send(json.dumps({"type": "join", "secret": secret}))
        await next_turn(line)
    await asyncio.sleep(1)
    each = (resident(pid) - before) / IDLE_TABLES / 1000
    print(f"idle tables: {IDLE_TABLES} with a browser each, {each:.1f} kB a table (target 200 kB)")
    for line in lines:
        await line.close()


async def growth(address: str, pid: int) -> None:
    await warm(address)
    names = list(GAMES)
    marks: list[tuple[int, float]] = []
    left = iter(range(FINISHED_GAMES))
    done = 0

    async def sit() -> None:
        nonlocal done
        for number in left:
            # Four of five games are short ones.
            game = names[number // 5 % len(names)] if number % 5 == 0 else "birds_of_a_feather"
            game = "crazy_eights" if number % 5 in (1, 2) else game
            name, secret = await open_table(address, game, number)
            async with line_to(address, name) as line:
                await play(line, secret, random.Random(number), None)
            done += 1
            if done % (FINISHED_GAMES // 5) == 0:
                marks.append((done, resident(pid) / 1e6))

    began = time.perf_counter()
    await asyncio.gather(*(sit() for _ in range(SIDE_BY_SIDE)))
    passed = time.perf_counter() - began
    with urllib.request.urlopen(f"{address}/api/health") as answer:
        health = json.load(answer)
    print(f"{done:,} finished games in {passed:.0f} s; memory of the server:")
    for count, megabytes in marks:
        print(f"  after {count:,}: {megabytes:.1f} MB")
    grown = (marks[-1][1] - marks[0][1]) * 1000 / (marks[-1][0] - marks[0][0])
    print(
        f"growth after the first {marks[0][0]:,}: {grown:.2f} kB a game; "
        f"tables still in memory: {health['tables']}"
    )


def main() -> None:
    wanted = sys.argv[1:] or ["latency", "memory", "growth"]
    for name in wanted:
        with server() as (address, pid):
            asyncio.run(
                {"latency": latency, "memory": memory, "growth": growth}[name](address, pid)
            )


if __name__ == "__main__":
    main()
