"""Waiting for events: files, output, processes. No test relies on how long something takes."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from typing import TypeVar

__all__ = ["PATIENCE", "commands_in", "members_of", "wait_until"]

PATIENCE = 300.0  # seconds: a machine may be busy; only what never happens takes that long
STEP = 0.02
T = TypeVar("T")


def wait_until(
    happens: Callable[[], T], what: str, process: subprocess.Popen[str] | None = None
) -> T:
    """Return the first true answer; fail after long, or once a process that is to do it ends."""
    deadline = time.monotonic() + PATIENCE
    while True:
        ended = process is not None and process.poll() is not None
        answer = happens()
        if answer:
            return answer
        if ended and process is not None:
            err = process.stderr.read() if process.stderr else ""
            raise AssertionError(f"it ended with {process.returncode} before {what}: {err}")
        assert time.monotonic() < deadline, f"never seen: {what}"
        time.sleep(STEP)


def _group(group: int) -> list[tuple[int, str]]:
    listed = subprocess.run(
        ["ps", "-ww", "-e", "-o", "pid=,pgid=,stat=,args="],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    rows = [row.split(None, 3) for row in listed.splitlines()]
    return [(int(row[0]), row[-1]) for row in rows if int(row[1]) == group and "Z" not in row[2]]


def members_of(group: int) -> list[int]:
    """Return the processes of a group that have not ended."""
    return [pid for pid, _ in _group(group)]


def commands_in(group: int) -> list[str]:
    """Return what the processes of a group run."""
    return [command for _, command in _group(group)]
