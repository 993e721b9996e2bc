"""The command line in a folder with a stranger's store, records and Python files."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from cardlab.arena.store import Store
from cardlab.arena.tournament import Plan, enter, play_tournament
from cardlab.engine.game import Game
from cardlab.engine.records import append_records
from cardlab.testing import random_table
from tests.support.waiting import PATIENCE

# Names of libraries that commands and their worker processes import, and of a game.
TRAPS = ("multiprocessing", "pickle", "onnxruntime", "pyarrow", "rich", "signal", "trap", "uno")
START = """
from cardlab.cli import main

if __name__ == "__main__":  # like the script that pip installs
    main()
"""
WORK = """
from cardlab.arena import workers
from cardlab.arena.match import Match, play_match

workers.WORTH_STARTING = 0.0  # so that processes start

if __name__ == "__main__":
    plan = Match.plan("crazy_eights", ["random", "heuristic"], 200)
    print(play_match(plan, workers=2).games)
"""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("stores") / "games.db"
    with Store(str(path)) as kept:
        plan = Plan.make("crazy_eights", ["random", "heuristic"], 4)
        play_tournament(plan, kept, enter(plan, kept, "mine"))
    with closing(sqlite3.connect(path)) as at:
        at.execute("UPDATE tournaments SET game = 'trap:GAME'")
        at.commit()
    return path


@pytest.fixture
def folder(tmp_path: Path, store: Path, crazy_eights: Game) -> Path:
    found = tmp_path / "downloads"
    found.mkdir()
    for name in TRAPS:
        text = f"open({str(found / 'ran')!r}, 'a').write({name!r} + ' ')\nGAME = 1\n"
        (found / f"{name}.py").write_text(text)
    record = random_table(crazy_eights, {}, 1).record(["a", "b"])
    append_records(found / "trap.jsonl", record.model_copy(update={"game": "trap:GAME"}))
    append_records(found / "good.jsonl", record)
    (found / "games.db").write_bytes(store.read_bytes())
    (tmp_path / "start.py").write_text(START)
    (tmp_path / "work.py").write_text(WORK)
    return found


def run(folder: Path, script: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(folder.parent / script), *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
        env={**os.environ, "XDG_DATA_HOME": str(folder.parent)},
    )


def ran(folder: Path) -> str:
    return (folder / "ran").read_text() if (folder / "ran").exists() else ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("games", "Uno"),
        ("leaderboard --store games.db", "trap:GAME"),
        ("leaderboard trap:GAME --store games.db --json", '"games": 4'),
        ("export games.csv --store games.db", "4 games of 1 tournament in "),
        ("export games.parquet --store games.db", "4 games of 1 tournament in "),
        ("replay good.jsonl", "1 game replayed"),
    ],
)
def test_a_command_reads_and_runs_nothing(folder: Path, line: str, answer: str) -> None:
    found = run(folder, "start.py", *line.split())
    assert found.returncode == 0, found.stderr
    assert answer in found.stdout
    assert ran(folder) == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    "line",
    [
        "export games.jsonl --store games.db",
        "replay trap.jsonl",
        "explain crazy_eights trap.jsonl --line 1",
    ],
)
def test_a_command_that_would_run_code_says_so(folder: Path, line: str) -> None:
    found = run(folder, "start.py", *line.split())
    assert found.returncode == 2
    assert len(found.stderr.splitlines()) == 1
    assert "--trust" in found.stderr or "is a game of trap:GAME" in found.stderr
    assert ran(folder) == ""
    assert run(folder, "start.py", *line.split(), "--trust").returncode == 2  # it is no game
    assert ran(folder) == ("" if "explain" in line else "trap ")


@pytest.mark.slow
def test_workers_run_nothing_either(folder: Path) -> None:
    found = run(folder, "work.py")
    assert (found.returncode, found.stdout.strip()) == (0, "200"), found.stderr
    assert ran(folder) == ""


@pytest.mark.slow
def test_programs_that_are_agents_find_what_lies_beside_them(tmp_path: Path) -> None:
    """Workers start without the working folder; the programs that they start have theirs."""
    (tmp_path / "beside.py").write_text("CHOICE = 0\n")
    (tmp_path / "agent.py").write_text(
        "import json, os, sys\n"
        "sys.path.insert(0, '')\n"
        "import beside\n"
        "assert 'PYTHONSAFEPATH' not in os.environ\n"
        "for line in sys.stdin:\n"
        "    message = json.loads(line)\n"
        "    if message['type'] == 'hello':\n"
        "        print(json.dumps({'type': 'ready'}), flush=True)\n"
        "    if message['type'] == 'turn':\n"
        "        chosen = message['legal'][beside.CHOICE]['id']\n"
        "        print(json.dumps({'type': 'action', 'action': chosen}), flush=True)\n"
    )
    (tmp_path / "work.py").write_text(
        WORK.replace('"heuristic"', f'"cmd:{sys.executable} agent.py"').replace("200", "8")
    )
    found = subprocess.run(
        [sys.executable, "work.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert found.stdout.strip() == "8", found.stderr
