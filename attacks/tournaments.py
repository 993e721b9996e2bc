"""Tournaments that are killed, run out of space, or whose store is damaged."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from attacks.case import Outcome, Setting
from attacks.programs import (
    ROOT,
    Ended,
    Failed,
    cardlab,
    is_worker,
    members_of,
    program,
    run_command,
)
from attacks.stores import damage, fill_disk, small_disk

AGENTS = ("random", "heuristic", "monte_carlo:1500")
GAMES = 300  # of each pairing: some seconds of work
SMALL_GAMES = 20
SECONDS = 180.0  # that a tournament, or a command on a damaged store, may take
AT_ONCE = 2
TIMES = ("milliseconds", "store", "tournament")  # what may differ between two runs
DAMAGED = (
    ("leaderboard", "--json"),
    ("export", "games.jsonl"),
    ("tournament", "crazy_eights", "random", "heuristic", "--games", str(SMALL_GAMES), "--resume"),
)


def played(store: Path, *more: str, games: int = GAMES) -> list[str]:
    """Return the words of the tournament that is attacked."""
    words = ("tournament", "crazy_eights", *AGENTS, "--games", str(games), "--workers", "2")
    return [*words, "--store", str(store), "--json", *more]


def table_of(out: str) -> Any:
    """Return what a tournament has found, without times and places."""

    def without(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: without(part) for key, part in value.items() if key not in TIMES}
        return [without(part) for part in value] if isinstance(value, list) else value

    return without(json.loads(out))


async def tournament_killed(setting: Setting) -> Outcome:
    """The process of a tournament, or its workers, are killed at random moments; it resumes."""
    outcome, places = Outcome(), asyncio.Semaphore(AT_ONCE)
    whole = await run_command(
        *played(setting.folder / "whole.db"), folder=setting.folder, seconds=SECONDS
    )
    if whole.code != 0:
        raise Failed(f"the tournament does not even work in peace: {whole.err.strip()}")
    expected, kills = table_of(whole.out), 0

    async def one(number: int) -> None:
        nonlocal kills
        async with places:
            rng = random.Random(1000 * setting.seed + number)
            store = setting.folder / f"{number}.db"
            outcome.tries += 1
            kills += await _strike(store, rng, setting.folder, only_workers=number % 2 == 1)
            again = ("--resume",) if store.exists() else ()
            ended = await run_command(
                *played(store, *again), folder=setting.folder, seconds=SECONDS
            )
            if ended.code == 2 and "no tournament" in ended.err:  # killed before it was entered
                ended = await run_command(*played(store), folder=setting.folder, seconds=SECONDS)
            if ended.code != 0:
                outcome.lost.append(f"kill {number}: {ended.fault() or ended.err.strip()[-300:]}")
            elif table_of(ended.out) != expected:
                outcome.lost.append(f"kill {number}: the table is not that of a run in peace")

    await asyncio.gather(*(one(number) for number in range(setting.count(10, 2))))
    outcome.figures |= {"processes killed": kills, "games": expected["games"]}
    return outcome


async def _strike(store: Path, rng: random.Random, folder: Path, *, only_workers: bool) -> int:
    """Start a tournament and kill it at some moment, or its workers one after the other."""
    kills = 0
    async with program(*cardlab(*played(store)), folder=folder) as process:
        ending = asyncio.create_task(process.communicate())

        def victims() -> list[int]:
            if not only_workers:
                return [process.pid] if store.exists() else []
            return [pid for pid in members_of(process.pid) if is_worker(pid)]

        try:
            for _ in range(3 if only_workers else 1):
                while not (found := victims()) and not ending.done():
                    await asyncio.sleep(0.05)
                await asyncio.sleep(rng.uniform(0.0, 2.0))
                if ending.done():
                    break
                with suppress(ProcessLookupError):
                    os.kill(rng.choice(found), signal.SIGKILL)
                    kills += 1
            await asyncio.wait_for(ending, SECONDS)
        finally:
            ending.cancel()
            await asyncio.gather(ending, return_exceptions=True)
    return kills


async def tournament_disk_full(setting: Setting) -> Outcome:
    """The disk gets full during a tournament: it says so, and resumes when there is space."""
    outcome = Outcome(tries=1)
    whole = await run_command(
        *played(setting.folder / "whole.db"), folder=setting.folder, seconds=SECONDS
    )
    disk = setting.folder / "disk"
    disk.mkdir()
    async with small_disk(disk) as mounted:
        if not mounted:
            return Outcome(skipped="a small disk can be mounted by root only")
        store = disk / "games.db"
        async with program(*cardlab(*played(store)), folder=setting.folder) as process:
            running = asyncio.create_task(process.communicate())
            while not store.exists() and not running.done():
                await asyncio.sleep(0.05)
            free = fill_disk(disk)
            try:
                out, err = await asyncio.wait_for(running, SECONDS)
            except TimeoutError:
                outcome.lost.append("a tournament on a full disk neither ends nor goes on")
                return outcome
            finally:
                free()
            ended = Ended(process.returncode, out.decode(), err.decode())
        if ended.code == 0:
            outcome.figures["the disk"] = "was large enough"
        else:
            outcome.demand(ended.fault() is None, f"on a full disk: {ended.fault()}")
            outcome.figures["it says"] = repr(ended.err.strip().rpartition("\n")[2][-90:])
        ended = await run_command(*played(store, "--resume"), folder=setting.folder)
        if ended.code == 2 and "no tournament" in ended.err:
            ended = await run_command(*played(store), folder=setting.folder, seconds=SECONDS)
        sound = ended.code == 0 and table_of(ended.out) == table_of(whole.out)
        outcome.demand(sound, f"it does not go on with space: {ended.err.strip()[-200:]}")
    return outcome


class Commands:
    """Runs cardlab commands in forks of a process that has loaded everything."""

    def __init__(self, process: Process) -> None:
        self.process = process

    async def run(self, *words: str) -> Ended:
        """Run one command; without an answer in time the process is of no use any more."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(words).encode() + b"\n")
        line = await asyncio.wait_for(self.process.stdout.readline(), SECONDS)
        return Ended(*json.loads(line))


@asynccontextmanager
async def commands(folder: Path) -> AsyncIterator[Commands]:
    """Start what runs commands."""
    words = (sys.executable, "-m", "attacks.warm_commands")
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    async with program(*words, folder=folder, stdin=PIPE, stderr=None, PYTHONPATH=path) as process:
        yield Commands(process)


async def damaged_tournaments(setting: Setting) -> Outcome:
    """Bytes of a tournament's store are overwritten or cut off: commands end in one sentence."""
    outcome = Outcome()
    sound = setting.folder / "sound.db"
    await run_command(*DAMAGED[2][:-1], "--store", str(sound), folder=setting.folder)
    data = sound.read_bytes()
    codes = [0, 0]
    async with commands(setting.folder) as shell:
        for number in range(setting.count(72, 4)):
            for words in DAMAGED:
                outcome.tries += 1
                store = setting.folder / "damaged.db"
                for left in setting.folder.glob("damaged.db*"):
                    left.unlink()
                store.write_bytes(data)
                damage(store, random.Random(1000 * setting.seed + number))
                try:
                    ended = await shell.run(*words, "--store", str(store))
                except TimeoutError:
                    outcome.lost.append(f"damage {number}: {words[0]} does not end")
                    return outcome
                fault = ended.fault()
                outcome.demand(fault is None, f"damage {number}, {words[0]}: {fault}")
                codes[ended.code != 0] += 1
    outcome.figures |= {"worked": codes[0], "said why not": codes[1]}
    return outcome
