"""`cardlab serve` as a person starts it: a real server in a process of its own."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from cardlab.commands import serving
from cardlab.engine.kernel import JIT
from tests.support.paths import EXAMPLES
from tests.support.waiting import PATIENCE, wait_until
from tests.support.web_wire import AGENT, PERSON


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "games.db"


@contextmanager
def started(
    store: Path, *more: str, how: tuple[str, str] = ("-m", "cardlab.cli")
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run the real server, and yield it with its address."""
    command = [sys.executable, *how, "serve", "--port", "0", "--store", str(store)]
    with subprocess.Popen(
        [*command, *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=EXAMPLES
    ) as server:
        try:
            assert server.stdout is not None
            line = server.stdout.readline()
            assert line.startswith("cardlab is at http://127.0.0.1:")
            yield server, line.split()[3].rstrip("/")
        finally:
            server.kill()


def post(address: str, path: str, body: Any) -> Any:
    head = {"content-type": "application/json"}
    sent = urllib.request.Request(address + path, json.dumps(body).encode(), head)
    with urllib.request.urlopen(sent) as answer:
        return json.load(answer)


def health(address: str) -> Any:
    with urllib.request.urlopen(f"{address}/api/health") as answer:
        return json.load(answer)


def line_to(address: str, name: str) -> Any:
    return connect(f"ws{address.removeprefix('http')}/api/tables/{name}/socket")


def running() -> dict[int, int]:
    """Return every process that has not ended, with the one that started it."""
    found = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, parent, *_ = status.read_text().rpartition(")")[2].split()
            if state != "Z":
                found[int(status.parent.name)] = int(parent)
    return found


def children_of(process: int) -> list[int]:
    return [one for one, parent in running().items() if parent == process]


def is_worker(process: int) -> bool:
    """Return whether it is one, and not Python's own helper that counts what they share."""
    with suppress(OSError):
        return b"--multiprocessing-fork" in Path(f"/proc/{process}/cmdline").read_bytes()
    return False


@pytest.mark.slow
def test_a_server_answers_to_the_names_that_it_is_given(store: Path) -> None:
    def ask(address: str, host: str) -> tuple[int, str]:
        wanted = urllib.request.Request(f"{address}/api/health", headers={"Host": host})
        try:
            with urllib.request.urlopen(wanted) as answer:
                return answer.status, ""
        except urllib.error.HTTPError as refused:
            return refused.code, refused.read().decode()

    with started(store, "--host-name", "cards.example.org") as (_, address):
        assert ask(address, "cards.example.org")[0] == 200
        status, said = ask(address, "others.example.org")
        assert status == 421
        assert "--host-name others.example.org" in said


FEW_FILES = """
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (400, 400))
from cardlab.cli import main
main()
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs addresses 127.0.0.x")
def test_silent_connections_never_take_the_last_descriptor(store: Path) -> None:
    """Many more than there are descriptors, all at once: others are served, the log stays short."""
    with started(store, how=("-c", FEW_FILES)) as (server, address):
        port = int(address.rpartition(":")[2])
        silent = []
        for k in range(1300):
            line = socket.socket()
            line.setblocking(False)
            line.bind((f"127.0.0.{2 + k % 20}", 0))
            line.connect_ex(("127.0.0.1", port))
            silent.append(line)
        for _ in range(3):
            assert health(address)["ok"]
            made = post(address, "/api/tables", {"game": "uno", "seats": [PERSON, AGENT]})
            assert made["id"]
        assert health(address)["files"] < 400
        for line in silent:
            line.close()
        server.terminate()
        assert server.stderr is not None
        assert server.stderr.read() == ""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system tells no processes")
def test_a_killed_server_loses_no_move_and_leaves_no_worker(store: Path) -> None:
    wish = {"game": "koi_koi", "seats": [PERSON, AGENT], "seed": 4}
    with started(store) as (server, address):
        made = post(address, "/api/tables", wish)
        name = made["id"]
        join = json.dumps({"type": "join", "secret": made["seats"][0]["secret"]})
        with line_to(address, name) as line:
            line.send(join)
            told = json.loads(line.recv(PATIENCE))
            for _ in range(6):
                while not told.get("legal"):
                    told = json.loads(line.recv(PATIENCE))
                act = {"type": "act", "version": told["version"], "action": told["legal"][0]["id"]}
                line.send(json.dumps(act))
                told = json.loads(line.recv(PATIENCE))
            while not told.get("legal"):
                told = json.loads(line.recv(PATIENCE))
            wait_until(lambda: not health(address)["unsaved"], "all moves kept")
            workers = wait_until(  # the one that is made ready for hints; see `become_quiet`
                lambda: {one for one in children_of(server.pid) if is_worker(one)}, "a worker"
            )
            server.kill()
            server.wait()
            wait_until(lambda: not workers & running().keys(), "the end of the workers")
    with started(store) as (server, address):
        with line_to(address, name) as line:
            line.send(join)
            again = json.loads(line.recv(PATIENCE))
            assert again["description"] == told["description"]
            assert again["version"] == told["version"]
            server.send_signal(signal.SIGINT)
            with pytest.raises(ConnectionClosed):
                line.recv(PATIENCE)
        _, err = server.communicate(timeout=PATIENCE)
        assert (server.returncode, err) == (0, "")


STOPPED_EARLY = """
import threading
from cardlab.engine import kernel
from cardlab.web import lobby
from cardlab.web.menu import Menu

stop = threading.Event()
with kernel.on_compile(lambda name: stop.set()):  # Ctrl-C comes with the first kernel
    lobby.warm_up(Menu.of().games.values(), stop)
print(len(kernel.compiled), len(lobby.WARM))
"""


@pytest.mark.slow
@pytest.mark.skipif(not JIT, reason="nothing is compiled")
def test_a_first_start_can_be_stopped_between_kernels(tmp_path: Path) -> None:
    told = subprocess.run(
        [sys.executable, "-c", STOPPED_EARLY],
        env=os.environ | {"CARDLAB_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.split() == ["0", "0"]


@pytest.mark.slow
@pytest.mark.skipif(not JIT, reason="nothing is compiled")
def test_a_first_start_ends_well(store: Path, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("CARDLAB_CACHE_DIR", str(tmp_path / "empty"))
    with started(store) as (server, _):
        wait_until(lambda: list(tmp_path.glob("empty/*.kernel*")), "a kernel", server)
        server.send_signal(signal.SIGINT)
        _, err = server.communicate(timeout=PATIENCE)
        assert (server.returncode, err) == (0, "")


@pytest.mark.slow
def test_a_game_of_the_working_folder_is_served(store: Path) -> None:
    with started(store, "--game", "kuhn_poker:GAME", "--workers", "1") as (server, address):
        seats = [{"agent": "information_set:20"}, PERSON]
        made = post(address, "/api/tables", {"game": "kuhn_poker", "seats": seats, "seed": 3})
        with line_to(address, made["id"]) as line:
            line.send(json.dumps({"type": "join", "secret": made["seats"][1]["secret"]}))
            told = json.loads(line.recv(PATIENCE))
            while not told.get("over"):
                if told.get("legal"):
                    act = {"type": "act", "version": told["version"], "action": 1}
                    line.send(json.dumps(act))
                told = json.loads(line.recv(PATIENCE))
            assert told["over"]["words"]
        server.send_signal(signal.SIGINT)
        _, err = server.communicate(timeout=PATIENCE)
        assert (server.returncode, err) == (0, "")


@pytest.mark.slow
def test_a_port_in_use_is_one_sentence(store: Path) -> None:
    with started(store) as (server, address):
        port = address.rpartition(":")[2]
        command = [sys.executable, "-m", "cardlab.cli", "serve", "--port", port]
        second = subprocess.run(
            [*command, "--store", str(store)], capture_output=True, text=True, timeout=PATIENCE
        )
        assert second.returncode == 2
        assert f"127.0.0.1:{port}" in second.stderr
        assert second.stderr.count("\n") == 1
        server.terminate()
        _, err = server.communicate(timeout=PATIENCE)
        assert (server.returncode, err) == (0, "")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--host", "no..host"], "must be an address of this machine"),
        (["--host", "fe80::1%nowhere"], "must be an address of this machine"),
        (["--store", "/proc/nowhere/x.db"], "store"),
        (["--workers", "-1"], "--workers must be at least 0, got -1"),
        (["--game", "nowhere:GAME"], "game 'nowhere:GAME' cannot be imported"),
        (["--agent", "cmd:./agent"], "agent 'cmd:./agent' cannot be served"),
    ],
)
def test_what_cannot_start_is_one_sentence(arguments: list[str], words: str) -> None:
    command = [sys.executable, "-m", "cardlab.cli", "serve", "--port", "0", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_browser_is_opened_only_where_there_is_a_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    monkeypatch.setattr(sys, "platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    serving.show("http://127.0.0.1:1/")
    assert not opened
    monkeypatch.setenv("DISPLAY", ":0")
    serving.show("http://127.0.0.1:2/")
    assert opened == ["http://127.0.0.1:2/"]
