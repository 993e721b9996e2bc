"""The supervisor of an outside agent: starts it, limits its memory, and ends all its processes.

It runs as a script (it imports nothing but the standard library):

    python supervisor.py LIFELINE MEMORY_MB FOLDER PROGRAM ARGUMENT ...

LIFELINE is the number of an open socket to the process that uses the agent, its worker. When the
other end closes, on purpose or because the worker was killed, all processes of the agent are
killed. When the agent ends, the supervisor writes one line about its end into the socket and
removes the agent's temporary folder. On Linux orphans of the agent become children of the
supervisor, so that processes in a session of their own are found, too. While the worker is stopped
(Ctrl-Z), the agent is stopped, too: it gains no time to think.

The agent runs as the same user and could signal and trace all processes of this user. From Linux
6.12 on it is confined: it can signal and trace its own processes only. On other systems it could
stop or kill the supervisor. It then loses its game: the worker notices that the supervisor was
stopped or has ended, and kills its descendants and all processes that run in the temporary folder.
On these systems it is not guaranteed that an agent leaves the worker alone, or that its processes
are found if they clear their environment, leave the folder and then kill the supervisor. On no
system are files in /dev/shm counted that an agent has written and closed. For programs of strangers
use examples/sandboxed.sh.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import shutil
import signal
import stat
import struct
import sys
import time
from collections.abc import Callable
from pathlib import Path

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
LANDLOCK_CREATE_RULESET, LANDLOCK_RESTRICT_SELF = 444, 446  # the same on all processors
LANDLOCK_SCOPE_SIGNAL = 1 << 1
CHECK_SECONDS = 0.05  # between two checks of the memory
ROUNDS = 100  # of killing, as processes may start others meanwhile
SHARED = ("/memfd:", "/dev/shm/", "/dev/zero", "/SYSV")  # how Linux names shared memory
LITTLE = 16 << 20  # bytes of mapped shared memory up to which single files are not checked


def prepare() -> None:
    """Become the parent of all orphans of the agent, if the system supports that."""
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)  # no process can trace this one
        libc.prctl(
            PR_SET_PDEATHSIG, signal.SIGCONT, 0, 0, 0
        )  # stopped, it would outlive its worker


def confine(program: str, supervisor: int) -> None:
    """Let this process, which becomes the agent, end with its supervisor and signal only its own.

    A program such as sudo becomes another user, whose processes are separate anyway; confinement
    would prevent that.
    """
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != supervisor:
        os._exit(127)
    with contextlib.suppress(OSError):
        if os.stat(shutil.which(program) or program).st_mode & (stat.S_ISUID | stat.S_ISGID):
            return
    rules = struct.pack("=QQQ", 0, 0, LANDLOCK_SCOPE_SIGNAL)
    handle = libc.syscall(LANDLOCK_CREATE_RULESET, rules, len(rules), 0)
    if handle >= 0:
        libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        libc.syscall(LANDLOCK_RESTRICT_SELF, handle, 0)
        os.close(handle)


def limit_memory(megabytes: int) -> None:
    """Limit the address space if memory cannot be measured."""
    if not Path(f"/proc/self/task/{os.getpid()}/children").exists():
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))


def children_of(process: int) -> list[int]:
    """Return the children of a process, as far as the system reports them."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{process}/task"):
            found += map(int, Path(f"/proc/{process}/task/{thread}/children").read_text().split())
    return found


def descendants(root: int) -> list[int]:
    """Return all descendants of the process `root`."""
    found = children_of(root)
    for process in found:
        found += children_of(process)
    return found


def state_of(process: int) -> str:
    """Return the letter of a process's state, such as T for stopped, or '' if it has ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return ""


def memory_of(processes: list[int]) -> int:
    """Return the bytes of memory of several processes, each shared file counted once."""
    private = 0
    files: dict[tuple[int, int], int] = {}
    mapped: dict[tuple[int, int], int] = {}
    for process in processes:
        with contextlib.suppress(OSError, ValueError, LookupError):  # it has ended
            found = Path(f"/proc/{process}/status").read_text().splitlines()
            sizes = {row.split(":")[0]: row.split()[1] for row in found if row.startswith("Rss")}
            private += (int(sizes["RssAnon"]) + int(sizes["RssFile"])) << 10
            shared = int(sizes["RssShmem"]) << 10
            files |= open_shared_files(process)
            if shared > LITTLE:
                for file, size in mapped_shared_files(process).items():
                    mapped[file] = max(size, mapped.get(file, 0))
            else:
                private += shared
    return private + sum((mapped | files).values())


def open_shared_files(process: int) -> dict[tuple[int, int], int]:
    """Return the bytes of each file in memory that a process has open, by device and number."""
    found = {}
    with contextlib.suppress(OSError):
        for name in os.listdir(f"/proc/{process}/fd"):
            path = f"/proc/{process}/fd/{name}"
            with contextlib.suppress(OSError):
                if os.readlink(path).startswith(SHARED):
                    file = os.stat(path)
                    if stat.S_ISREG(file.st_mode):
                        found[file.st_dev, file.st_ino] = file.st_blocks * 512
    return found


def mapped_shared_files(process: int) -> dict[tuple[int, int], int]:
    """Return the bytes of each file in memory that a process has mapped, open or not."""
    found: dict[tuple[int, int], int] = {}
    file = None
    with contextlib.suppress(OSError):
        for row in Path(f"/proc/{process}/smaps").read_text().splitlines():
            words = row.split(maxsplit=5)
            if "-" in words[0]:  # ADDRESSES RIGHTS OFFSET MAJOR:MINOR NUMBER PATH
                major, _, minor = words[3].partition(":")
                shared = len(words) > 5 and words[5].startswith(SHARED)
                device = os.makedev(int(major, 16), int(minor, 16))
                file = (device, int(words[4])) if shared else None
            elif file and words[0] == "Rss:":
                found[file] = found.get(file, 0) + (int(words[1]) << 10)
    return found


def signal_all(processes: list[int], number: int) -> None:
    """Send a signal to processes, some of which may have ended."""
    for process in processes:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(process, number)


def kill_all(agent: int) -> None:
    """Kill the agent, its group and all descendants of this process, until none is left."""
    for _ in range(ROUNDS):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(agent, signal.SIGKILL)
        left = descendants(os.getpid())
        signal_all(left, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            if not left:
                return
        time.sleep(0.01)


def kill_found(find: Callable[[], list[int]]) -> None:
    """In the worker: kill processes until none is found alive."""
    for _ in range(ROUNDS):
        left = [process for process in find() if state_of(process) not in ("Z", "X", "")]
        if not left:
            return
        signal_all(left, signal.SIGKILL)
        time.sleep(0.01)


def working_in(folder: str) -> list[int]:
    """Return the processes that were started in a temporary folder or run there."""
    found = []
    mark = f"TMPDIR={folder}".encode()
    for name in os.listdir("/proc") if os.path.isdir("/proc/self") else ():
        if name.isdecimal() and int(name) != os.getpid():
            with contextlib.suppress(OSError):
                place = os.readlink(f"/proc/{name}/cwd").removesuffix(" (deleted)")
                environment = Path(f"/proc/{name}/environ").read_bytes().split(b"\0")
                if place == folder or mark in environment:
                    found.append(int(name))
    return found


def remove(folder: str) -> None:
    """Remove a folder with everything in it."""
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
    """Run one agent until it ends or its worker has ended."""
    lifeline, megabytes, folder = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    command = sys.argv[4:]
    os.set_inheritable(lifeline, False)
    prepare()
    worker, supervisor = os.getppid(), os.getpid()
    agent = os.fork()
    if agent == 0:
        os.setsid()
        confine(command[0], supervisor)
        limit_memory(megabytes)
        try:
            os.execvp(command[0], command)
        except OSError as error:
            os.write(2, f"{command[0]} cannot be started: {error.strerror}\n".encode())
        os._exit(127)
    for stream in (0, 1, 2):  # only the agent keeps its pipes open
        os.close(stream)
    ending = watch(agent, lifeline, megabytes, worker)
    kill_all(agent)
    with contextlib.suppress(OSError):
        os.write(lifeline, ending.encode() + b"\n")
    remove(folder)


def watch(agent: int, lifeline: int, megabytes: int, worker: int) -> str:
    """Wait until an agent ends, uses too much memory or is not used; return which of these."""
    frozen = False
    while True:
        # Nothing is sent through the lifeline, so it is readable when the other end has closed.
        unused = select.select([lifeline], [], [], CHECK_SECONDS)[0]
        done, status = os.waitpid(agent, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
            return f"exit {code}" if code >= 0 else f"signal {-code}"
        if unused:
            return "killed"
        below = descendants(os.getpid())
        if memory_of(below) > megabytes << 20:
            return f"memory {megabytes}"
        stopped = state_of(worker) in ("T", "t")
        if stopped or frozen:
            signal_all(below, signal.SIGSTOP if stopped else signal.SIGCONT)
        frozen = stopped


if __name__ == "__main__":
    main()
