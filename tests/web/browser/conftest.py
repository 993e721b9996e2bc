"""What the browser tests share: a real server with a store of its own, and Debian's chromium."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from tests.support.paths import EXAMPLES

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Response

    from tests.support.person import Person

START = "from cardlab.cli import main; main()"
COMPILE = """
import threading
from cardlab.engine.play import Table
from cardlab.web import agent_pool, lobby
from cardlab.web.menu import Menu
games = Menu.of(["kuhn_poker:GAME"]).games.values()
lobby.warm_up(games, threading.Event())
for game in games:
    lobby.warm_worker(game)
    agent_pool.advise("monte_carlo:4", Table(game, seed=0).turn(), (0, 0, 0))
"""
NAMES = ("chromium", "chromium-browser", "google-chrome")
TOLD_BELOW = ("Failed to load resource", "WebSocket connection")  # by status, and by the page
PATIENCE = 60_000  # milliseconds that a page may take on a busy machine


def _lacking(what: str) -> NoReturn:
    """Skip where nobody asked for a browser, fail where somebody relies on these tests."""
    if os.environ.get("CI") == "1" or os.environ.get("CARDLAB_NEED_BROWSER"):
        pytest.fail(f"the browser tests need {what}", pytrace=False)
    pytest.skip(f"no browser tests without {what}")


class Server:
    """`cardlab serve` as a process of its own, which can be ended and started again."""

    def __init__(
        self, folder: Path, *more: str, place: Mapping[str, Any] = MappingProxyType({})
    ) -> None:
        self.more = more
        self.place = {"cwd": EXAMPLES, **place}  # and the environment, if not this one
        self.store, self.log = f"sqlite:///{folder}/store.db", folder / "server.log"
        self.process: subprocess.Popen[str] | None = None
        self.port = 0
        self.start()

    @property
    def address(self) -> str:
        """Where the pages are."""
        return f"http://127.0.0.1:{self.port}"

    @contextmanager
    def store_held(self) -> Iterator[None]:
        """Hold the store as another program does that writes for a long time."""
        at = sqlite3.connect(self.store.removeprefix("sqlite:///"), isolation_level=None)
        at.execute(f"PRAGMA busy_timeout = {PATIENCE}")
        at.execute("BEGIN IMMEDIATE")
        try:
            yield
        finally:
            at.execute("ROLLBACK")
            at.close()

    def start(self) -> None:
        """Start it on a free port, later on the same one."""
        command = [sys.executable, "-c", START, "serve", "--store", self.store, "--workers", "1"]
        with self.log.open("a") as log:
            self.process = subprocess.Popen(
                [*command, "--port", str(self.port), *self.more],
                **self.place,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line.startswith("cardlab is at "), f"{line}{self.log.read_text()}"
        self.port = int(line.split()[3].rstrip("/").rsplit(":", 1)[-1])

    def kill(self) -> None:
        """End it at once, as a crash does."""
        assert self.process is not None
        self.process.kill()
        self.stop()

    def stop(self) -> None:
        """End it as Ctrl-C's sibling does."""
        assert self.process is not None
        self.process.terminate()
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if self.process.stdout:
            self.process.stdout.close()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A real browser."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _lacking("playwright (pip install 'cardlab[dev]')")
    path = os.environ.get("CARDLAB_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        _lacking("chromium (apt-get install chromium)")
    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield made
        made.close()


@pytest.fixture(scope="session")
def compiled() -> None:
    """With an empty cache, compiling would take longer than a page waits for a hint."""
    subprocess.run([sys.executable, "-c", COMPILE], check=True, cwd=EXAMPLES)


@pytest.fixture(scope="session")
def server(
    browser: Browser, compiled: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """A server that all tests of a worker share, with a game from outside."""
    made = Server(tmp_path_factory.mktemp("web"), "--game", "kuhn_poker:GAME")
    yield made
    made.stop()


@pytest.fixture(scope="session")
def axe() -> str:
    """The source of axe-core."""
    found = find_spec("axe_playwright_python")
    if found is None or found.origin is None:
        _lacking("axe-core (pip install 'cardlab[dev]')")
    return (Path(found.origin).parent / "axe.min.js").read_text()


@pytest.fixture
def own_server(browser: Browser, compiled: None, tmp_path: Path) -> Iterator[Server]:
    """A server for one test alone."""
    made = Server(tmp_path)
    yield made
    made.stop()


MakePerson = Callable[..., "Person"]


@pytest.fixture
def somebody(browser: Browser, request: pytest.FixtureRequest) -> Iterator[MakePerson]:
    """Make people with browsers of their own; a page's error, unless expected, fails the test."""
    from tests.support.person import Person

    contexts, errors = [], []

    def make(
        server: Server,
        *,
        name: str = "Ann",
        pace: str = "instant",
        width: int = 1280,
        height: int = 800,
        expected: Collection[int] = (),
        **more: Any,
    ) -> Person:
        context = browser.new_context(
            viewport={"width": width, "height": height}, **{"reduced_motion": "reduce", **more}
        )
        context.set_default_timeout(PATIENCE)
        context.add_init_script(
            f"localStorage.setItem('cardlab.pace', '\"{pace}\"');"
            f"localStorage.setItem('cardlab.name', '\"{name}\"');"
        )
        page = context.new_page()

        def hear(said: ConsoleMessage) -> None:
            if said.type == "error" and not any(word in said.text for word in TOLD_BELOW):
                errors.append(said.text)

        def check(answer: Response) -> None:
            refusal = 400 <= answer.status < 500 and "/api/" in answer.url
            if answer.status >= 400 and not refusal and answer.status not in expected:
                errors.append(f"{answer.status} {answer.url}")

        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", hear)
        page.on("response", check)
        contexts.append(context)
        return Person(page, server.address)

    yield make
    for context in contexts:
        context.close()
    assert errors == []
