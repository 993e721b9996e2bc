"""The supervisor of an outside agent: starts it, watches its memory, and leaves nothing behind.

Run as a script of its own (it imports nothing but the standard library):

    python supervisor.py LIFELINE MEMORY_MB FOLDER PROGRAM ARGUMENT ...

LIFELINE is the number of an open socket to the process that uses the agent. When its other end
closes, by intent or because that process was killed, everything that the agent has started is
killed. When the agent ends, the supervisor writes one line about how it ended into the socket and
removes the agent's temporary folder. On
Linux orphans of the agent become children of the supervisor, so that processes in a session of
their own are found, too.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import sys
import time
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36
CHECK_SECONDS = 0.05  # between two looks at the memory
PAGE = os.sysconf("SC_PAGE_SIZE")


def adopt_orphans() -> None:
    """Become the parent of whatever the agent leaves behind, where the system offers that."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def limit_memory(megabytes: int) -> None:
    """Bound the address space where memory cannot be watched."""
    if not Path(f"/proc/self/task/{os.getpid()}/children").exists():
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))


def children_of(process: int) -> list[int]:
    """Return the children of a process, as far as the system tells."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{process}/task"):
            found += map(int, Path(f"/proc/{process}/task/{thread}/children").read_text().split())
    return found


def descendants(root: int) -> list[int]:
    """Return the processes below `root`."""
    found = children_of(root)
    for process in found:
        found += children_of(process)
    return found


def memory_of(processes: list[int]) -> int:
    """Return the bytes of memory that processes hold together."""
    total = 0
    for process in processes:
        try:
            total += int(Path(f"/proc/{process}/statm").read_text().split()[1]) * PAGE
        except (OSError, ValueError, IndexError):
            continue
    return total


def kill_all(agent: int) -> None:
    """Kill the agent, its group and everything below this process, until nothing is left."""
    for _ in range(100):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(agent, signal.SIGKILL)
        left = descendants(os.getpid())
        for process in left:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                continue
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            if not left:
                return
        time.sleep(0.01)


def remove(folder: str) -> None:
    """Remove a folder with all that is in it."""
    for place, folders, files in os.walk(folder, topdown=False):
        for name in files:
            with contextlib.suppress(OSError):
                os.unlink(f"{place}/{name}")
        for name in folders:
            with contextlib.suppress(OSError):
                path = f"{place}/{name}"
                (os.unlink if os.path.islink(path) else os.rmdir)(path)
    with contextlib.suppress(OSError):
        os.rmdir(folder)


def main() -> None:
    """Run one agent until it ends or nobody uses it any more."""
    lifeline, megabytes, folder = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    command = sys.argv[4:]
    os.set_inheritable(lifeline, False)
    adopt_orphans()
    agent = os.fork()
    if agent == 0:
        os.setsid()
        limit_memory(megabytes)
        try:
            os.execvp(command[0], command)
        except OSError as error:
            os.write(2, f"{command[0]} cannot be started: {error.strerror}\n".encode())
        os._exit(127)
    for stream in (0, 1, 2):  # the agent's ends alone shall keep its pipes open
        os.close(stream)
    ending = "killed"
    while True:
        # Nothing is ever sent this way: the other end has closed. How the agent ended comes first.
        unused = select.select([lifeline], [], [], CHECK_SECONDS)[0]
        done, status = os.waitpid(agent, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
            ending = f"exit {code}" if code >= 0 else f"signal {-code}"
            break
        if unused:
            break
        if memory_of(descendants(os.getpid())) > megabytes << 20:
            ending = f"memory {megabytes}"
            break
    kill_all(agent)
    with contextlib.suppress(OSError):
        os.write(lifeline, ending.encode() + b"\n")
    remove(folder)


if __name__ == "__main__":
    main()
