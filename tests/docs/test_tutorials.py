"""The README and the tutorials, followed word by word in an empty folder with an empty home."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.support.documented import FOLLOWED, PAGES
from tests.support.paths import ROOT

pytestmark = pytest.mark.slow

BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
SHELL = ("sh", "console")  # in a console only lines that begin with `$ ` are typed
INSTALL = "pip install .\n"  # the end of a block that is run from the clone
# What a person types at the table; a command may take fewer lines.
ANSWERS = {"cardlab play kuhn_poker": "bet\nbet\n", "cardlab play": "1\n" * 10}


def blocks(page: str) -> list[tuple[str, str, str]]:
    """Return the language, title and text of every block of a page."""
    return BLOCK.findall((ROOT / page).read_text(encoding="utf-8"))


def commands(language: str, text: str) -> list[str]:
    """Return the commands of a block."""
    if language not in SHELL or (text.endswith(INSTALL) and "venv" in text):
        return []
    lines = text.strip().splitlines()
    if language == "console":
        return [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
    return lines


def titled(page: str) -> dict[str, str]:
    """Return the files that a page writes, parts of one file joined."""
    files: dict[str, list[str]] = {}
    for _, title, text in blocks(page):
        if title:
            files.setdefault(title, []).append(text)
    return {name: "\n\n".join(parts) for name, parts in files.items()}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder with commands `cardlab`, `python` and `pip` of this very installation."""
    commands = tmp_path / "commands"
    commands.mkdir()
    run = f'exec "{sys.executable}"'
    for name, line in {
        "python": f'{run} "$@"',
        "cardlab": f'{run} -c "from cardlab.cli import main; main()" "$@"',
        # Offline, and beside the installation instead of into it.
        "pip": f'{run} -m pip --quiet --disable-pip-version-check "$@" '
        f'--no-build-isolation --no-deps --no-index --target "{tmp_path}/site"',
    }.items():
        (commands / name).write_text(f"#!/bin/sh\n{line}\n")
        (commands / name).chmod(0o755)
    (tmp_path / "work").mkdir()
    return tmp_path


def look_at(command: str, where: dict[str, Any]) -> str:
    """Start a server as a page says, on a free port, and return the games that it offers."""
    with subprocess.Popen(
        ["sh", "-c", f"exec {command} --port 0"], stdout=subprocess.PIPE, text=True, **where
    ) as server:
        try:
            assert server.stdout is not None
            address = server.stdout.readline().split()[3]
            with urllib.request.urlopen(f"{address}api/games") as answer:
                return " ".join(game["title"] for game in json.load(answer))
        finally:
            server.send_signal(signal.SIGINT)


def follow(page: str, folder: Path) -> str:
    """Do what a page says, in its order, and return all that was printed."""
    home = folder / "home"
    home.mkdir()
    work = folder / "work"
    env = {
        **{name: text for name, text in os.environ.items() if not name.startswith("XDG_")},
        "PATH": f"{folder / 'commands'}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join([str(folder / "site"), str(ROOT / "src")]),
        "HOME": str(home),
        "BROWSER": "true",  # the one that `serve --open` opens
        "COLUMNS": "120",
    }
    where = {"cwd": work, "env": env}
    printed = []

    def run(command: list[str], text: str, answer: str = "") -> None:
        done = subprocess.run(
            command, **where, input=answer, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{page}: {text}\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in done.stderr, f"{page}: {text}\n{done.stderr}"
        printed.append(f"$ {text}\n{done.stdout}")

    for name, text in titled(page).items():
        (work / name).write_text(text, encoding="utf-8")
    for language, title, text in blocks(page):
        if language == "python" and not title:
            run([sys.executable, "-c", text], text)
        for command in commands(language, text):
            if command.startswith("cardlab serve"):
                printed.append(f"$ {command}\n{look_at(command, where)}")
                continue
            answer = next((v for k, v in ANSWERS.items() if command.startswith(k)), "")
            run(["sh", "-c", command], command, answer)
    return "\n".join(printed)


def test_readme(folder: Path) -> None:
    printed = follow("README.md", folder)
    assert re.search(
        r"^highest: \d+\.\d% of 1,000 games, 95 % interval \d+\.\d% to \d", printed, re.MULTILINE
    )
    resumed = printed.partition("--games 40 --resume\n")[2]
    assert "guided:50" in resumed.partition("$ ")[0]
    assert "heuristic" in printed.partition("$ cardlab leaderboard crazy_eights\n")[2]
    assert "\nheuristic is stronger than random: score " in printed
    assert "2 games replayed" in printed


def test_first_game(folder: Path) -> None:
    page = "docs/tutorials/first_game.md"
    printed = follow(page, folder)
    # What the page shows is what a reader gets, but for times and the widths that they need.
    shown = next(text for _, _, text in blocks(page) if text.startswith("╭"))
    table = [line.strip("│ ") for line in shown.splitlines() if line.startswith("│")]
    assert len(table) > 10
    assert [line for line in table if line not in printed] == []
    assert "heuristic    505    216      279   61.3 ± 2.4" in printed
    assert "1 game replayed" in printed
    assert "Crazy Eights" in printed.partition("$ cardlab serve")[2]


def test_the_parts_of_the_page_are_the_example() -> None:
    written = titled("docs/tutorials/your_own_game.md")["kuhn_poker.py"]
    example = (ROOT / "examples" / "kuhn_poker.py").read_text()
    assert [line for line in written.splitlines() if line] == [
        line for line in example.splitlines() if line
    ]


def test_your_own_game(folder: Path) -> None:
    printed = follow("docs/tutorials/your_own_game.md", folder)
    assert "no fault in 10,000 random games" in printed
    assert "views stay the same when hidden cards are exchanged" in " ".join(printed.split())
    assert "1 passed" in printed
    assert "wins after" in printed  # a whole game was played at the table
    served = re.findall(r"^\$ (cardlab serve.*)\n.*Cribbage Kuhn poker$", printed, re.MULTILINE)
    assert len(served) == 2  # by its reference, and later by its name
    value = re.search(r"value for seat 0: (-0\.\d+)", printed)
    assert value
    assert abs(float(value[1]) + 1 / 36) < 0.002
    assert re.search(r"^ ?kuhn_poker\s+Kuhn poker", printed, re.MULTILINE)  # `cardlab games`


def test_first_agent(folder: Path) -> None:
    printed = follow("docs/tutorials/first_agent.md", folder)
    assert "1 passed" in printed
    table = printed.rpartition("$ cardlab leaderboard")[2]
    assert re.search(r"my_agents:Hoarder .*-?\d+ \[-?\d+, -?\d+\]", table)  # a rating, an interval
    assert re.search(r"cmd:python first_card.py .*\[", table)
    assert "\nmy_agents:Sharper is stronger than my_agents:Hoarder: score " in printed
    assert "hoarder" in printed.rpartition("$ cardlab match")[2]


def test_every_page_that_is_followed_is_followed_whole() -> None:
    """A block in another language would be neither run nor written to a file."""
    followed = [page for page in PAGES if FOLLOWED.get(page.name) == "docs/test_tutorials.py"]
    assert len(followed) == 4
    for page in followed:
        for language, title, _ in blocks(str(page.relative_to(ROOT))):
            assert title or language in (*SHELL, "python", "text"), page
