"""Supervisors of outside agents: programs that attack them, shared memory, stopped workers."""

from __future__ import annotations

import contextlib
import ctypes
import json
import mmap
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cardlab.agents import program as programs
from cardlab.agents import supervisor
from cardlab.agents.program import AgentFailed, Limits, Program
from tests.support.waiting import PATIENCE, wait_until

if sys.platform != "linux":
    pytest.skip("these means are Linux's", allow_module_level=True)

AGENT = """
import json, os, signal, subprocess, sys, time

parent = os.getppid()

def worker():
    with open(f"/proc/{parent}/stat") as file:
        return int(file.read().rpartition(")")[2].split()[1])

def hide():
    "Leave a child in a session of its own."
    return subprocess.Popen(["sleep", "7654"], start_new_session=True).pid

def tell(**what):
    print(json.dumps({"type": "told", **what}), flush=True)

def attempt(what, *given):
    try:
        what(*given)
    except OSError as error:
        return type(error).__name__
    return "done"

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "bye":
        break
    exec(message["run"])
"""
UNCONFINED = """
import importlib.util
spec = importlib.util.spec_from_file_location("supervisor", {path!r})
supervisor = importlib.util.module_from_spec(spec)
spec.loader.exec_module(supervisor)
supervisor.LANDLOCK_CREATE_RULESET = 100_000  # as on a kernel that has no such call
supervisor.main()
"""
HELLO = "children = [hide()]; tell(parent=parent, me=os.getpid(), children=children)"


def scopes_signals() -> bool:
    """Return whether this Linux can keep a process from signalling others."""
    version = 1
    libc = ctypes.CDLL(None)
    return int(libc.syscall(supervisor.LANDLOCK_CREATE_RULESET, None, 0, version)) >= 6


needs_scopes = pytest.mark.skipif(not scopes_signals(), reason="Linux 6.12 with Landlock needed")


def gone(process: int) -> bool:
    return supervisor.state_of(process) in ("", "Z", "X")


def ask(program: Program, code: str, seconds: float = PATIENCE) -> dict[str, Any]:
    return program.exchange({"type": "run", "run": code}, seconds)


@pytest.fixture
def start() -> Iterator[Callable[..., Program]]:
    """Start programs that run what they are told; they are ended after the test."""
    started: list[Program] = []

    def begin(limits: Limits | None = None) -> Program:
        started.append(Program([sys.executable, "-c", AGENT], limits or Limits()))
        return started[-1]

    yield begin
    for program in started:
        program.kill()


@pytest.fixture
def unconfined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Supervisors on a kernel that cannot keep a program from signalling others."""
    path = tmp_path / "unconfined.py"
    path.write_text(UNCONFINED.format(path=str(programs.SUPERVISOR)))
    monkeypatch.setattr(programs, "SUPERVISOR", path)


@needs_scopes
def test_a_program_can_signal_its_own_processes_alone(start: Callable[..., Program]) -> None:
    program = start()
    told = ask(
        program,
        "child = hide(); other = worker(); tell("
        "outside=[attempt(os.kill, one, number) for one in (parent, other)"
        " for number in (signal.SIGSTOP, signal.SIGCONT, signal.SIGKILL)],"
        "worker=other, group=attempt(os.killpg, parent, signal.SIGSTOP),"
        "own=attempt(os.kill, child, signal.SIGKILL))",
    )
    assert told["worker"] == os.getpid()
    assert told["outside"] == ["PermissionError"] * 6
    assert told["group"] == "PermissionError"
    assert told["own"] == "done"
    assert ask(program, "tell()")["type"] == "told", "its supervisor is as before"
    other = start()
    victim = ask(other, HELLO)["me"]
    assert ask(program, f"tell(it=attempt(os.kill, {victim}, 9))")["it"] == "PermissionError"


@needs_scopes
def test_a_program_cannot_read_the_memory_of_its_worker(start: Callable[..., Program]) -> None:
    code = "tell(it=[attempt(open, f'/proc/{one}/mem') for one in (worker(), parent)])"
    assert ask(start(), code)["it"] == ["PermissionError"] * 2


@pytest.mark.usefixtures("unconfined")
@pytest.mark.parametrize("number", [signal.SIGSTOP, signal.SIGKILL])
def test_a_program_that_disturbs_its_supervisor_loses_and_leaves_nothing(
    start: Callable[..., Program], number: int
) -> None:
    program = start()
    told = ask(program, HELLO)
    with pytest.raises(AgentFailed, match="interference: something stopped or killed its superv"):
        ask(program, f"os.kill(parent, {number}); time.sleep(600)")
    for process in (told["parent"], told["me"], *told["children"]):
        wait_until(lambda process=process: gone(process), f"the end of {process}")
    assert not Path(program._folder).exists()


@pytest.mark.usefixtures("unconfined")
@pytest.mark.parametrize("number", [signal.SIGSTOP, signal.SIGKILL])
def test_who_disturbs_the_supervisor_in_its_last_game_leaves_nothing(
    start: Callable[..., Program], number: int
) -> None:
    program = start()
    told = ask(program, HELLO)
    program.notify({"type": "run", "run": f"os.kill(parent, {number}); time.sleep(600)"})
    wait_until(lambda: supervisor.state_of(told["parent"]) in ("T", "Z"), "the attack")
    program.kill()
    for process in (told["parent"], told["me"], *told["children"]):
        wait_until(lambda process=process: gone(process), f"the end of {process}")


@pytest.mark.usefixtures("unconfined")
def test_a_supervisor_that_was_stopped_for_a_while_is_noticed(
    start: Callable[..., Program],
) -> None:
    program = start()
    parent = ask(program, HELLO)["parent"]
    os.kill(parent, signal.SIGSTOP)
    wait_until(lambda: supervisor.state_of(parent) == "T", "the stop")
    os.kill(parent, signal.SIGCONT)
    with pytest.raises(AgentFailed, match="interference"):
        ask(program, "tell()")


WORKER = """
import json, sys
from pathlib import Path
from cardlab.agents import program as programs
from cardlab.agents.program import Limits, Program

programs.SUPERVISOR = Path({supervisor!r})
program = Program([sys.executable, "-c", {agent!r}], Limits())
told = program.exchange({{"type": "run", "run": {hello!r}}}, 300)
print(json.dumps(told), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    answer = program.exchange({{"type": "run", "run": asked["run"]}}, asked["seconds"])
    print(json.dumps([answer, program.seconds_used]), flush=True)
"""


@contextlib.contextmanager
def worker() -> Iterator[subprocess.Popen[str]]:
    """A process that has a program of its own and passes on what it is told."""
    code = WORKER.format(supervisor=str(programs.SUPERVISOR), agent=AGENT, hello=HELLO)
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        with process:
            yield process
            process.kill()
    finally:
        process.kill()


def read(process: subprocess.Popen[str]) -> Any:
    assert process.stdout
    return json.loads(process.stdout.readline())


def write(process: subprocess.Popen[str], code: str, seconds: float) -> None:
    assert process.stdin
    process.stdin.write(json.dumps({"run": code, "seconds": seconds}) + "\n")
    process.stdin.flush()


@pytest.mark.usefixtures("unconfined")
def test_no_program_survives_a_worker_that_dies_while_the_supervisor_is_stopped() -> None:
    with worker() as process:
        told = read(process)
        os.kill(told["parent"], signal.SIGSTOP)
        wait_until(lambda: supervisor.state_of(told["parent"]) == "T", "the stop")
    for one in (told["parent"], told["me"], *told["children"]):
        wait_until(lambda one=one: gone(one), f"the end of {one}")


@pytest.mark.slow
def test_ctrl_z_costs_no_game_and_gives_no_time_to_think(tmp_path: Path) -> None:
    go, seconds = tmp_path / "go", 10.0
    with worker() as process:
        told = read(process)
        waits = f"while not os.path.exists({str(go)!r}): time.sleep(0.05)\ntell()"
        write(process, "open('began', 'w').close()\n" + waits, seconds)
        place = Path(os.readlink(f"/proc/{told['me']}/cwd"))
        wait_until(lambda: (place / "began").exists(), "the question")
        process.send_signal(signal.SIGSTOP)
        for one in (told["me"], *told["children"]):
            wait_until(lambda one=one: supervisor.state_of(one) == "T", "the program's stop")
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(seconds + 2)  # longer than it had for its answer
        go.touch()
        process.send_signal(signal.SIGCONT)
        answer, used = read(process)
        assert answer["type"] == "told"
        assert used < seconds
        assert not gone(told["children"][0])


MEGABYTE = 1 << 20
TAKEN = 64 * MEGABYTE


def fill(file: int) -> None:
    for _ in range(TAKEN // MEGABYTE):
        os.write(file, bytes(MEGABYTE))


@contextlib.contextmanager
def written() -> Iterator[None]:
    file = os.memfd_create("written")
    fill(file)
    yield
    os.close(file)


@contextlib.contextmanager
def written_and_mapped() -> Iterator[None]:
    file = os.memfd_create("both")
    fill(file)
    with mmap.mmap(file, TAKEN) as mapped:
        for place in range(0, TAKEN, 4096):
            mapped[place] = 1
        yield
    os.close(file)


@contextlib.contextmanager
def mapped_alone() -> Iterator[None]:
    file = os.open("/dev/shm", os.O_TMPFILE | os.O_RDWR)
    fill(file)
    with mmap.mmap(file, TAKEN) as mapped:
        os.close(file)
        for place in range(0, TAKEN, 4096):
            mapped[place] = 1
        yield


@contextlib.contextmanager
def without_a_name() -> Iterator[None]:
    with mmap.mmap(-1, TAKEN) as mapped:
        for place in range(0, TAKEN, 4096):
            mapped[place] = 1
        yield


@contextlib.contextmanager
def in_dev_shm() -> Iterator[None]:
    path = Path(f"/dev/shm/cardlab-test-{os.getpid()}")
    file = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR)
    try:
        fill(file)
        yield
    finally:
        os.close(file)
        path.unlink()


@pytest.mark.parametrize(
    "take", [written, written_and_mapped, mapped_alone, without_a_name, in_dev_shm]
)
def test_shared_memory_counts_once(take: Callable[[], Any]) -> None:
    before = supervisor.memory_of([os.getpid()])
    with take():
        during = supervisor.memory_of([os.getpid()])
    assert 0.9 * TAKEN < during - before < 1.5 * TAKEN


def test_a_program_whose_child_is_a_zombie_plays_on(start: Callable[..., Program]) -> None:
    program = start()
    child = ask(program, "it = subprocess.Popen(['true']).pid; tell(it=it)")["it"]
    wait_until(lambda: supervisor.state_of(child) == "Z", "the zombie")
    before = supervisor.memory_of([child, os.getpid()])
    assert before >= supervisor.memory_of([os.getpid()]) / 2
    for _ in range(3):
        assert ask(program, f"time.sleep({2 * supervisor.CHECK_SECONDS}); tell()")["type"] == "told"


def test_a_program_that_hides_memory_in_a_file_is_found(start: Callable[..., Program]) -> None:
    program = start(Limits(memory_mb=200))
    with pytest.raises(AgentFailed, match="memory: it took more than 200 MB"):
        ask(
            program,
            "file = os.memfd_create('hidden')\n"
            "while os.fstat(file).st_size < 1 << 29: os.write(file, bytes(1 << 20))\n"
            "time.sleep(600)",
        )


@needs_scopes
def test_a_program_that_becomes_another_user_is_not_confined(tmp_path: Path) -> None:
    plain, other = tmp_path / "plain", tmp_path / "other"
    for path in (plain, other):
        shutil.copy(shutil.which("cat") or "cat", path)
    other.chmod(0o4755)
    for path, confined in ((plain, "1"), (other, "0")):
        program = Program([str(path)], Limits())
        assert program.exchange({"type": "echo"}, PATIENCE) == {"type": "echo"}
        (child,) = supervisor.children_of(program._supervisor.pid)
        status = Path(f"/proc/{child}/status").read_text()
        assert f"NoNewPrivs:\t{confined}" in status
        program.kill()
