"""Real programs under attack: `cardlab` commands and servers, each in a process group of its own.

Whatever a program starts ends with it: the group is killed when the context that started it is
left, also by Ctrl-C. Linux only, for /proc.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from attacks.wire import ask

ROOT = Path(__file__).parents[1]
START_SECONDS = 180.0  # the first start may have to compile
END_SECONDS = 60.0
STEP = 0.05


class Failed(Exception):
    """A program that should have worked did not."""


class Ended(NamedTuple):
    """How a command ended; `code` None: it did not, within its time."""

    code: int | None
    out: str
    err: str

    def fault(self) -> str | None:
        """Return what is wrong with the end of a command that met something damaged."""
        if self.code is None:
            return "it did not end in time"
        if "Traceback" in self.err or "Traceback" in self.out:
            return "a traceback: " + self.err.strip().rpartition("\n")[2][:200]
        if self.code not in (0, 2):
            return f"exit code {self.code}: {self.err.strip()[-200:]}"
        if self.code == 2 and not self.err.strip().startswith("cardlab: "):
            return f"no sentence, but {self.err.strip()[:200]!r}"
        return None


@asynccontextmanager
async def program(
    *words: str,
    folder: Path,
    stdout: Any = PIPE,
    stderr: Any = PIPE,
    stdin: Any = asyncio.subprocess.DEVNULL,
    **environment: str,
) -> AsyncIterator[Process]:
    """Run a program in a group of its own, all of which is killed at the end."""
    process = await asyncio.create_subprocess_exec(
        *words,
        cwd=folder,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        start_new_session=True,
        env={**os.environ, **environment},
    )
    try:
        yield process
    finally:
        kill_group(process.pid)
        await process.wait()


def cardlab(*words: str) -> list[str]:
    """Return the command line of a cardlab command."""
    return [sys.executable, "-m", "cardlab", *words]


async def run_command(
    *words: str, folder: Path, seconds: float = END_SECONDS, **environment: str
) -> Ended:
    """Run a cardlab command to its end, or for so long."""
    async with program(*cardlab(*words), folder=folder, **environment) as process:
        try:
            out, err = await asyncio.wait_for(process.communicate(), seconds)
        except TimeoutError:
            return Ended(None, "", "")
        return Ended(process.returncode, out.decode(errors="replace"), err.decode(errors="replace"))


def kill_group(group: int) -> None:
    """Kill all processes of a group."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def members_of(group: int) -> list[int]:
    """Return the processes of a group that have not ended."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _, its_group, *_ = stat.read_text().rpartition(")")[2].split()
            if int(its_group) == group and state != "Z":
                found.append(int(stat.parent.name))
    return found


def is_worker(pid: int) -> bool:
    """Return whether a process is one that agents think in."""
    with suppress(OSError):
        return b"--multiprocessing-fork" in Path(f"/proc/{pid}/cmdline").read_bytes()
    return False


def resident(pid: int) -> float:
    """Return the MB of memory that a process holds."""
    with suppress(OSError, IndexError):
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGESIZE") / 1e6
    return 0.0


def processor_seconds(pid: int) -> tuple[float, float]:
    """Return how long the main thread of a process has run, and waited for a core to run on."""
    ran, waited, _ = Path(f"/proc/{pid}/schedstat").read_text().split()
    return int(ran) / 1e9, int(waited) / 1e9


async def until(
    happens: Callable[[], Any], what: str, seconds: float = END_SECONDS, step: float = STEP
) -> Any:
    """Return the first true answer; after so long it is a failure."""
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    while not (answer := happens()):
        if loop.time() > end:
            raise Failed(f"not within {seconds:g} s: {what}")
        await asyncio.sleep(step)
    return answer


class Server:
    """`cardlab serve` on a port that stays the same when it is killed and started again."""

    def __init__(
        self,
        folder: Path,
        *more: str,
        store: str | None = None,
        host: str = "127.0.0.1",
        **env: str,
    ) -> None:
        self.folder, self.more, self.host, self.env = folder, more, host, env
        self.store = store or str(folder / "games.db")
        self.port = free_port(host)
        self.log = folder / f"server-{self.port}.log"
        self.process: Process | None = None

    @property
    def address(self) -> str:
        """Where it is reached."""
        return f"http://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"

    @property
    def pid(self) -> int:
        """The server's process, which is also the number of its group."""
        assert self.process is not None
        return self.process.pid

    async def __aenter__(self) -> Server:
        await self.start()
        return self

    async def __aexit__(self, *error: object) -> None:
        if self.process is not None:
            kill_group(self.process.pid)
            await self.process.wait()

    async def start(self) -> None:
        """Start it and wait until it answers."""
        where = ("--host", self.host, "--port", str(self.port), "--store", self.store)
        with self.log.open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                *cardlab("serve", *where, *self.more),
                cwd=self.folder,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=PIPE,
                stderr=log,
                start_new_session=True,
                env={**os.environ, **self.env},
            )
        assert self.process.stdout is not None
        line = await asyncio.wait_for(self.process.stdout.readline(), START_SECONDS)
        if b"cardlab is at" not in line:
            await asyncio.wait_for(self.process.wait(), END_SECONDS)
            raise Failed(f"the server did not start: {self.said().strip()[-300:]}")

    async def kill(self) -> bool:
        """Kill the server by kill -9, and it alone; return whether its workers left with it."""
        os.kill(self.pid, signal.SIGKILL)
        assert self.process is not None
        await self.process.wait()
        group = self.pid
        try:
            await until(lambda: not members_of(group), "the end of the workers", 30)
        except Failed:
            kill_group(group)
            return False
        return True

    async def stop(self) -> int:
        """End it as an operator does; return its exit code."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        return await asyncio.wait_for(self.process.wait(), END_SECONDS)

    def said(self) -> str:
        """Return its log."""
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def tracebacks(self) -> list[str]:
        """Return a sentence for each error in the log that is not one sentence."""
        found = []
        for part in self.said().split("Traceback (most recent call last):\n")[1:]:
            lines = part.splitlines()
            own = [line.strip() for line in lines if line.startswith("  File ")]
            end = next((line for line in lines if line and not line.startswith(" ")), "")
            found.append(f"a traceback in the log: {end[:200]} ({own[-1] if own else ''})")
        return list(dict.fromkeys(found))

    def workers(self) -> list[int]:
        """Return the processes that agents think in."""
        return [pid for pid in members_of(self.pid) if is_worker(pid)]

    def memory(self) -> tuple[float, float]:
        """Return the MB of the server, and of its workers together."""
        return resident(self.pid), sum(map(resident, self.workers()))

    async def health(self, source: str = "127.0.0.1") -> dict[str, Any]:
        """Return what it says of itself."""
        own = source if self.host == "127.0.0.1" else None
        _, body = await ask(self.address, "GET", "/api/health", source=own)
        found: dict[str, Any] = json.loads(body)
        return found

    async def settled(self, seconds: float = END_SECONDS) -> str | None:
        """Wait until health says ok; return what it says if that does not come."""
        loop = asyncio.get_running_loop()
        end, said = loop.time() + seconds, "no answer"
        while loop.time() < end:
            with suppress(OSError, TimeoutError, ValueError):
                found = await self.health()
                if found["ok"] and not found["unsaved"]:
                    return None
                said = f"{found['trouble']}, {found['unsaved']} unsaved"
            await asyncio.sleep(0.2)
        return f"health is not ok after {seconds:g} s: {said}"


def free_port(host: str) -> int:
    """Return a port that nobody listens on now."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as line:
        line.bind((host, 0))
        return int(line.getsockname()[1])
