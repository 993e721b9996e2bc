"""`cardlab play`: what is printed at the end works as it is printed, in the folder of the game."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cardlab.engine.records import Record, read_records
from tests.support.paths import EXAMPLES, ROOT

COMMAND = [sys.executable, "-m", "cardlab.cli"]
AGENTS = """
class Better:
    name = "better"

    def act(self, turn, rng):
        return int(turn.legal[-1])
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a person's own game and agent."""
    shutil.copy(EXAMPLES / "kuhn_poker.py", tmp_path)
    (tmp_path / "mine.py").write_text(AGENTS)
    return tmp_path


def cardlab(folder: Path, *args: str, text: str = "") -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [*COMMAND, *args],
        cwd=folder,
        input=text,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path, "XDG_DATA_HOME": str(folder / "data")},
        check=False,
    )


def printed(shown: str, label: str) -> list[str]:
    """Return the words of a command that was printed after a game."""
    [line] = [line for line in shown.splitlines() if line.startswith(f" {label} ")]
    words = shlex.split(line.removeprefix(f" {label}"))
    assert words[0] == "cardlab"
    return words[1:]


def records(path: Path) -> list[Record]:
    return [record for _, record in read_records(path)]


def succeed(folder: Path, *args: str, text: str = "") -> str:
    answer = cardlab(folder, *args, text=text)
    assert answer.returncode == 0, answer.stderr
    return answer.stdout


def refused(folder: Path, *args: str) -> str:
    answer = cardlab(folder, *args)
    assert answer.returncode == 2
    [line] = [line for line in answer.stderr.splitlines() if line.startswith("cardlab: ")]
    assert "compiling" not in line
    return line


def test_an_own_game_against_an_own_agent_is_left_resumed_and_played_again(folder: Path) -> None:
    against = ["--against", "mine:Better", "--adviser", "monte_carlo:50"]
    words = ["kuhn_poker:GAME", *against, "--seed", "3", "--save", "my games.jsonl"]
    shown = succeed(folder, "play", *words, text="q\n")
    path = folder / "my games.jsonl"
    [left] = records(path)
    assert left.seats == ["you", "mine:Better"]
    resume = printed(shown, "resume it")
    assert resume == [
        *["play", "--resume", "my games.jsonl", "--adviser", "monte_carlo:50", "--trust"]
    ]
    assert "'kuhn_poker:GAME' is code from outside" in refused(folder, *resume[:-1])
    done = succeed(folder, *resume, text="h\nbet\nbet\n")
    assert "hint by monte_carlo:50: " in done
    [finished] = records(path)
    assert finished.result is not None
    assert finished.seats == left.seats
    assert "holds no unfinished game" in refused(folder, *resume)

    assert "1 game replayed" in succeed(folder, *printed(done, "see it"))
    again = printed(done, "same deal")
    moves = [text for _, text in finished.actions][::2]
    succeed(folder, *again, "--save", "again.jsonl", text="\n".join([*moves, ""]))
    [repeated] = records(folder / "again.jsonl")
    assert repeated == finished


def test_the_opponent_of_a_file_is_not_run_without_trust(folder: Path) -> None:
    words = ["crazy_eights", "--against", "mine:Better", "--seed", "3", "--save", "x.jsonl"]
    shown = succeed(folder, "play", *words, text="q\n")
    (folder / "mine.py").write_text("raise SystemExit('this ran')")
    assert printed(shown, "resume it")[-1] == "--trust"
    assert "x.jsonl, line 1: opponent 'mine:Better'" in refused(
        folder, "play", "--resume", "x.jsonl"
    )


def test_a_game_in_the_users_own_file_is_resumed(folder: Path) -> None:
    shown = succeed(folder, "play", "birds_of_a_feather", "--seed", "3", text="1\n1\nq\n")
    resume = printed(shown, "resume it")
    shown = succeed(folder, *resume, text="u\nq\n")
    [record] = records(Path(resume[2]))
    assert len(record.actions) == 1
    assert printed(shown, "same deal") == ["play", "birds_of_a_feather", "--seed", "3"]


def test_the_adviser_is_that_of_the_manifest(folder: Path) -> None:
    shown = succeed(folder, "play", "cribbage", "--seed", "3", text="?\nq\n")
    assert "a hint by cribbage_expert:30" in shown


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        ([], "play needs a game"),
        (["uno", "--resume", "nowhere.jsonl"], "nowhere.jsonl cannot be read"),
        (["--resume", "left.jsonl", "--seat", "0"], "leave out --seat"),
        (["--resume", "left.jsonl", "--against", "random"], "leave out --against"),
        (["--resume", "left.jsonl", "--seed", "3"], "leave out --seed"),
        (["--resume", "left.jsonl", "-o", "seats=2"], "leave out -o"),
        (["--resume", "left.jsonl", "--save", "x.jsonl"], "leave out --save"),
        (["uno", "--resume", "left.jsonl"], "holds no unfinished game of uno"),
        (["--resume", "old.jsonl"], "old.jsonl, line 1: the record follows rules version 99"),
        (["--resume", "gone.jsonl"], "gone.jsonl, line 1: unknown agent 'heuristi'"),
        (["--resume", "empty.jsonl"], "empty.jsonl holds no unfinished game"),
        (["crazy_eights", "--against", "random", "--against", "random"], "takes 1 opponent, got 2"),
        (["crazy_eights", "--seat", "2"], "--seat must be 0 to 1 in crazy_eights, got 2"),
    ],
)
def test_a_mistake_gets_one_sentence(folder: Path, args: list[str], sentence: str) -> None:
    line = LEFT.to_line()
    (folder / "left.jsonl").write_text(line)
    (folder / "old.jsonl").write_text(line.replace('"rules":1', '"rules":99'))
    (folder / "gone.jsonl").write_text(line.replace('"heuristic"', '"heuristi"'))
    (folder / "empty.jsonl").write_text("")
    assert sentence in refused(folder, "play", *args)


def _left() -> Record:
    from cardlab.engine.play import Table

    return Table("crazy_eights", seed=3).record(["you", "heuristic"], note="left unfinished")


LEFT = _left()
