"""What the documentation tells newcomers to type, typed: in an empty folder, word by word."""

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

from tests.support.paths import ROOT

pytestmark = pytest.mark.slow

BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
ANSWERS = {"cardlab play": "bet\nbet\n"}  # what a person types at the table


def blocks(page: str) -> list[tuple[str, str, str]]:
    """Return the language, title and text of every block of a page."""
    return BLOCK.findall((ROOT / "docs" / page).read_text())


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
    env = {
        **os.environ,
        "PATH": f"{folder / 'commands'}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join([str(folder / "site"), str(ROOT / "src")]),
        "XDG_DATA_HOME": str(folder / "data"),  # a newcomer has no games yet
        "COLUMNS": "120",
    }
    said = []
    where = {"cwd": folder / "work", "env": env}
    for name, text in titled(page).items():
        (folder / "work" / name).write_text(text)
    for language, _, text in blocks(page):
        for command in text.strip().splitlines() if language == "sh" else ():
            if command.startswith("cardlab serve"):
                said.append(f"$ {command}\n{look_at(command, where)}")
                continue
            answer = next((v for k, v in ANSWERS.items() if command.startswith(k)), "")
            done = subprocess.run(
                ["sh", "-c", command],
                **where,
                input=answer,
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, f"{page}: {command}\n{done.stdout}\n{done.stderr}"
            said.append(f"$ {command}\n{done.stdout}")
    return "\n".join(said)


def test_the_parts_of_the_page_are_the_example() -> None:
    written = titled("write_a_game.md")["kuhn_poker.py"]
    example = (ROOT / "examples" / "kuhn_poker.py").read_text()
    assert [line for line in written.splitlines() if line] == [
        line for line in example.splitlines() if line
    ]


def test_write_a_game(folder: Path) -> None:
    said = follow("write_a_game.md", folder)
    assert "no fault in 10,000 random games" in said
    assert "views stay the same when hidden cards are exchanged" in " ".join(said.split())
    assert "1 passed" in said
    assert "wins after" in said  # a whole game was played at the table
    served = re.findall(r"^\$ (cardlab serve.*)\n.*Cribbage Kuhn poker$", said, re.MULTILINE)
    assert len(served) == 2  # by its reference, and later by its name
    value = re.search(r"value for seat 0: (-0\.\d+)", said)
    assert value
    assert abs(float(value[1]) + 1 / 36) < 0.002
    assert re.search(r"^ ?kuhn_poker +Kuhn poker", said, re.MULTILINE)  # `cardlab games`, by name


def test_write_an_agent(folder: Path) -> None:
    said = follow("write_an_agent.md", folder)
    assert "1 passed" in said
    table = said.rpartition("$ cardlab leaderboard")[2]
    assert re.search(r"my_agents:Hoarder .*-?\d+ \[-?\d+, -?\d+\]", table)  # a rating, an interval
    assert re.search(r"cmd:python first_card.py .*\[", table)
    assert "H1 accepted: my_agents:Sharper is stronger than my_agents:Hoarder" in said
    assert "hoarder" in said.rpartition("$ cardlab match")[2]


def test_every_command_of_the_pages_is_in_a_block_that_runs() -> None:
    for page in ("write_a_game.md", "write_an_agent.md"):
        languages = {language for language, _, _ in blocks(page)}
        assert languages <= {"sh", "python", "toml"}
        assert all(title for language, title, _ in blocks(page) if language != "sh")
