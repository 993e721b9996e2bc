"""The process of an outside agent: started by its supervisor, asked line by line, always ended.

The caller waits with `select` until it can continue or the time is up: there is no thread, and a
program that writes too much or does not read is stopped by its own pipes. The wait is divided into
slices: between two slices the supervisor is checked, as somebody may have stopped or killed it, and
time for which this process itself was stopped, as by Ctrl-Z, is not counted.
"""

from __future__ import annotations

import json
import os
import select
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, NoReturn

from cardlab.agents.supervisor import descendants, kill_found, remove, working_in
from cardlab.engine.arguments import read_path, shorten
from cardlab.engine.errors import CardlabError
from cardlab.engine.folders import make_folder

__all__ = ["DEFAULT_LIMITS", "FLOOD", "AgentFailed", "Limits", "Program"]

LONGEST_LINE = 1 << 16  # bytes of one answer
LOG_KEPT = 2000  # bytes of standard error that go into a record
LOG_WRITTEN = 1 << 20  # bytes of standard error that go into a file
FLOOD = "flood: it wrote more than one line for one message"
GRACE = 1.0  # seconds that a program has to end after "bye"
SLICE = 0.25  # seconds of one wait, between checks of the supervisor
STOPPED = 1.0  # if a wait took so many seconds more, this process was stopped, and the program too
ENDING = 5.0  # seconds that a supervisor has to kill all processes of the program
SUPERVISOR = Path(__file__).with_name("supervisor.py")
MOST = 1_000_000_000  # seconds or megabytes, more than any limit needs
DISTURBED = "interference: something stopped or killed its supervisor"


@dataclass(frozen=True)
class Limits:
    """The limits of an outside agent: seconds by the clock, and memory of all its processes."""

    move_seconds: float = 10.0  # for one answer
    game_seconds: float = 300.0  # for all answers of a game
    start_seconds: float = 30.0  # to start and to answer hello
    memory_mb: int = 2048  # MB, of the program and what it starts
    log_folder: str | PathLike[str] | None = None  # for standard error, a file for each process
    fresh_process: bool = False  # start a process for every game, not one for each seating

    def check(self) -> Limits:
        """Return these limits after checking each of them."""
        for field in ("move_seconds", "game_seconds", "start_seconds", "memory_mb"):
            name, value = field.partition("_")[0], getattr(self, field)
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if not number or not 0 < value < MOST:
                raise CardlabError(
                    f"--limits {name} must be greater than 0 and less than {MOST:,}, got "
                    f"{shorten(value)}"
                )
        if self.log_folder is not None:
            self.make_log_folder()
        return self

    def make_log_folder(self) -> Path:
        """Make the folder for logs if needed, and return it after checking that it is writable."""
        assert self.log_folder is not None
        folder = read_path(self.log_folder, "log_folder")
        make_folder(folder)
        if not os.access(folder, os.W_OK | os.X_OK):
            raise CardlabError(
                f"logs cannot be written to {folder}: it is read-only; name another folder"
            )
        return folder


DEFAULT_LIMITS = Limits()


class AgentFailed(CardlabError):
    """An outside agent that has lost its game by a failure; the text says which."""

    def __init__(self, reason: str, seat: int = 0, log: str = "") -> None:
        super().__init__(reason)
        self.seat = seat
        self.log = log
        self.hopeless = reason.startswith("time-out")  # another attempt might take as long


def _environment(command: Sequence[str], folder: str) -> dict[str, str]:
    """Return the environment of a program that works in a temporary folder."""
    environment = {**os.environ, "TMPDIR": folder, "PWD": folder}
    if "-m" in command:  # Python looks for the module where the person is
        known = os.environ.get("PYTHONPATH")
        environment["PYTHONPATH"] = os.pathsep.join([os.getcwd(), *([known] if known else [])])
    return environment


class Program:
    """A running process of an outside agent, in a temporary folder, under its supervisor."""

    def __init__(self, command: Sequence[str], limits: Limits) -> None:
        """Start the program; a program that cannot run fails at the first message."""
        self.command, self.limits = tuple(command), limits
        self.deals: set[int] = set()  # that it has seen
        self._line = b""
        self._log = b""
        self._logged = 0
        self._log_file = self._open_log()
        self._left = 0.0  # seconds left for the current message
        # removed by the supervisor
        self._folder = folder = tempfile.mkdtemp(prefix="cardlab-program-")
        self._lifeline, theirs = socket.socketpair()
        os.set_inheritable(theirs.fileno(), True)
        numbers = [str(theirs.fileno()), str(limits.memory_mb)]
        self._supervisor = subprocess.Popen(
            [sys.executable, "-I", "-S", str(SUPERVISOR), *numbers, folder, *command],
            cwd=folder,
            env=_environment(self.command, folder),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=[theirs.fileno()],
            start_new_session=True,  # Ctrl-C at the terminal is for the person's own program
            bufsize=0,
        )
        theirs.close()
        assert self._supervisor.stdin
        assert self._supervisor.stdout
        assert self._supervisor.stderr
        self._in, self._out = self._supervisor.stdin.fileno(), self._supervisor.stdout.fileno()
        self._err: int | None = self._supervisor.stderr.fileno()
        for stream in (self._in, self._out, self._err):
            os.set_blocking(stream, False)

    @property
    def log(self) -> str:
        """The end of what the program wrote to its standard error."""
        text = self._log.decode(errors="replace").replace("\r\n", "\n").strip()
        # PostgreSQL keeps no NUL, and a terminal would obey the rest.
        return "".join(char if char.isprintable() or char in "\n\t" else "\ufffd" for char in text)

    def exchange(self, message: dict[str, Any], seconds: float) -> dict[str, Any]:
        """Send a message and return the answer, which is one line, or raise AgentFailed."""
        if self.has_more(seconds=0.0):
            self._fail(FLOOD)
        self._send(message, seconds)
        while b"\n" not in self._line:
            if len(self._line) > LONGEST_LINE:
                self._fail(f"flood: a line of more than {LONGEST_LINE:,} bytes")
            if self._left <= 0:
                self._fail(f"time-out: no answer within {seconds:g} s")
            self._wait()
        self.seconds_used = seconds - self._left
        if self._disturbed():
            self._fail(DISTURBED)
        answer, _, self._line = self._line.partition(b"\n")
        if len(answer) > LONGEST_LINE:
            self._fail(f"flood: a line of more than {LONGEST_LINE:,} bytes")
        try:
            data = json.loads(answer)
        except (ValueError, RecursionError):
            self._fail(f"garbage: {answer[:60]!r} is not JSON")
        if not isinstance(data, dict) or not isinstance(data.get("type"), str):
            self._fail(f"garbage: {answer[:60]!r} is not an object with a type")
        return data

    def has_more(self, seconds: float = 0.05) -> bool:
        """Return whether the program has written, or soon writes, more than it was asked for."""
        return bool(self._line or (select.select([self._out], [], [], seconds)[0] and self._read()))

    def notify(self, message: dict[str, Any]) -> None:
        """Send a message that needs no answer."""
        self._send(message, self.limits.move_seconds)

    def dismiss(self, grace: float | None = None) -> bool:
        """Send bye, wait a moment, end everything; return whether the program ended by itself."""
        grace = GRACE if grace is None else grace
        try:
            self._send({"type": "bye"}, grace)
        except AgentFailed:
            return False
        went = bool(select.select([self._lifeline], [], [], grace)[0])
        self.kill()
        return went

    def hang_up(self, grace: float) -> bool:
        """Close the program's input without a message; return whether it ended by itself."""
        assert self._supervisor.stdin
        self._supervisor.stdin.close()
        went = bool(select.select([self._lifeline], [], [], grace)[0])
        self.kill()
        return went

    def kill(self) -> str:
        """End the program and all its processes; return the supervisor's report of its end."""
        if self._lifeline.fileno() < 0:
            return ""  # it has ended already
        self._drain_log()
        self._lifeline.shutdown(socket.SHUT_WR)
        ending = self._last_word()
        if self._supervisor.returncode is None:  # stopped: the processes to end are its descendants
            kill_found(lambda: descendants(self._supervisor.pid))
            self._supervisor.kill()
            self._supervisor.wait()
        if self._supervisor.returncode != 0:
            kill_found(lambda: working_in(self._folder))
            remove(self._folder)
        self._lifeline.close()
        for stream in (self._supervisor.stdin, self._supervisor.stdout, self._supervisor.stderr):
            if stream and not stream.closed:
                try:
                    stream.close()
                except OSError:
                    continue
        if self._log_file:
            self._log_file.close()
        return ending

    def _last_word(self) -> str:
        """Wait for the supervisor to end; return its report of the program's end, or ''."""
        deadline = time.monotonic() + ENDING
        while not self._disturbed() and time.monotonic() < deadline:
            if select.select([self._lifeline], [], [], SLICE)[0]:
                try:
                    ending = self._lifeline.recv(200).decode(errors="replace").strip()
                    self._supervisor.wait(ENDING)
                except (OSError, subprocess.TimeoutExpired):
                    return ""
                return ending
        return ""

    def _disturbed(self) -> bool:
        """Return whether the supervisor is or was stopped, or has ended by a signal."""
        if hasattr(os, "waitid"):
            looks = os.WSTOPPED | os.WCONTINUED | os.WNOHANG | os.WNOWAIT
            try:
                found = os.waitid(os.P_PID, self._supervisor.pid, looks)
            except ChildProcessError:
                found = None
            if found is not None:
                return True
        return (self._supervisor.poll() or 0) < 0

    def _open_log(self) -> Any:
        if self.limits.log_folder is None:
            return None
        folder = self.limits.make_log_folder()
        name = "".join(char if char.isalnum() else "_" for char in Path(self.command[0]).name)
        try:
            return (folder / f"{name}-{os.getpid()}-{time.time_ns()}.log").open("xb", buffering=0)
        except OSError as error:
            raise CardlabError(
                f"logs cannot be written to {folder}: {error.strerror}; name another folder"
            ) from None

    def _send(self, message: dict[str, Any], seconds: float) -> None:
        """Write a message; the seconds for it and for the answer are counted from now on."""
        self._left = seconds
        rest = memoryview(json.dumps(message, separators=(",", ":")).encode() + b"\n")
        while rest:
            try:
                rest = rest[os.write(self._in, rest) :]
            except BlockingIOError:
                if self._left <= 0:
                    self._fail(f"time-out: it did not read its input for {seconds:g} s")
                self._wait(writing=True)
            except (BrokenPipeError, ValueError):
                self._ended()

    def _wait(self, *, writing: bool = False) -> None:
        """Wait for a slice of time or until the program reads or writes; read what it wrote."""
        reads = [self._out] + ([self._err] if self._err is not None else [])
        began, seconds = time.monotonic(), min(self._left, SLICE)
        ready, _, _ = select.select(reads, [self._in] if writing else [], [], seconds)
        took = time.monotonic() - began
        self._left -= took if took < seconds + STOPPED else seconds
        if self._disturbed():
            self._fail(DISTURBED)
        if self._err in ready:
            self._drain_log()
        if self._out in ready and not (writing and len(self._line) > LONGEST_LINE):
            self._read()

    def _read(self) -> int:
        try:
            piece = os.read(self._out, LONGEST_LINE)
        except BlockingIOError:
            return 0
        if not piece:
            self._ended()
        self._line += piece
        return len(piece)

    def _drain_log(self) -> None:
        """Read a bounded amount from standard error."""
        for _ in range(64):
            try:
                piece = os.read(self._err, LONGEST_LINE) if self._err is not None else b""
            except (BlockingIOError, OSError):
                return
            if not piece:
                self._err = None
                return
            self._log = (self._log + piece)[-LOG_KEPT:]
            if self._log_file and self._logged < LOG_WRITTEN:
                self._log_file.write(piece[: LOG_WRITTEN - self._logged])
                self._logged += len(piece)

    def _ended(self) -> NoReturn:
        """Raise AgentFailed with the supervisor's report: the pipe is closed."""
        select.select([self._lifeline], [], [], 1.0)
        ending, _, number = self.kill().partition(" ")
        last = self.log.splitlines()[-1:] or [""]
        words = f"; its last line of standard error: {last[0][:200]}" if last[0] else ""
        raise AgentFailed(
            {
                "exit": f"crash: it ended with code {number}{words}",
                "signal": f"crash: signal {number} ended it{words}",
                "memory": f"memory: it took more than {number} MB",
            }.get(ending, f"crash: it closed its output{words}"),
            log=self.log,
        )

    def _fail(self, reason: str) -> NoReturn:
        self.kill()
        raise AgentFailed(reason, log=self.log)
