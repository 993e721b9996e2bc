"""The command line as a person meets it: real processes, exit codes, one sentence for a mistake."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cardlab import __version__
from cardlab.game import Game
from cardlab.testing import random_table

COMMAND = [sys.executable, "-m", "cardlab.cli"]


def cardlab(*args: str, text: str = "", **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *args],
        input=text,
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "100", **env},
        check=False,
    )


def succeed(*args: str, text: str = "") -> str:
    answer = cardlab(*args, text=text)
    assert answer.returncode == 0, answer.stderr
    return answer.stdout


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["match", "crazy8s", "random", "random"], "unknown game 'crazy8s'; did you mean"),
        (["match", "crazy_eights", "random", "rand"], "unknown agent 'rand'; did you mean"),
        (["match", "crazy_eights", "random", "random", "--games", "-5"], "--games -5"),
        (["match", "crazy_eights", "random", "random", "--workers", "-1"], "--workers -1"),
        (["match", "crazy_eights", "random", "random", "-o", "seats=9"], "seats=9"),
        (["match", "crazy_eights", "random", "random", "-o", "seats"], "has no value"),
        (["match", "crazy_eights", "random", "uct_open:0"], "at least 1"),
        (["tournament", "crazy_eights", "random"], "two or more agents"),
        (["agents", "go_fish"], "unknown game 'go_fish'"),
        (["check", "crazy_eights", "--games", "0"], "--games 0"),
        (["play", "crazy_eights", "--seat", "2"], "--seat 2"),
        (["play", "crazy_eights", "--deal", "7H 7H"], "card 2 of the deal: 7H"),
        (["play", "crazy_eights", "--adviser", "uct_open:5"], "sees all cards"),
        (["play", "crazy_eights", "--against", "a", "--against", "b"], "2 opponents for 1"),
        (["replay", "missing.jsonl"], "missing.jsonl cannot be read"),
    ],
)
def test_a_mistake_is_one_sentence(args: list[str], sentence: str) -> None:
    answer = cardlab(*args)
    assert answer.returncode == 2
    assert sentence in answer.stderr
    assert len(answer.stderr.splitlines()) == 1
    assert "Traceback" not in answer.stderr
    assert answer.stdout == ""


def test_games_and_agents() -> None:
    assert "Crazy Eights" in succeed("games")
    assert json.loads(succeed("games", "--json"))[0]["options"]["seats"] == 2
    listed = json.loads(succeed("agents", "crazy_eights", "--json"))
    assert {one["name"]: one["fair"] for one in listed}["uct_open"] is False
    assert all(one["strength"] for one in listed if one["name"] != "random")
    assert "all cards" in succeed("agents", "crazy_eights")
    assert succeed("--version").strip() == f"cardlab {__version__}"


def test_a_match_as_table_and_as_json(tmp_path: Path) -> None:
    args = ["match", "crazy_eights", "heuristic", "random", "--games", "40", "--seed", "7"]
    saved = tmp_path / "games.jsonl"
    shown = succeed(*args, "--save", str(saved))
    assert "40 games on 20 deals, seats swapped; seed 7" in shown
    result = json.loads(succeed(*args, "--json"))
    assert result["games"] == 40
    assert [one["agent"] for one in result["standings"]] == ["heuristic", "random"]
    assert "40 games replayed, every one as recorded" in succeed("replay", str(saved), "--brief")


def test_a_tournament_ends_with_a_table() -> None:
    agents = ["random", "heuristic", "uct_open:50"]
    shown = succeed("tournament", "crazy_eights", *agents, "--games", "20")
    assert "60 games, the same deals for every pair" in shown
    result = json.loads(succeed("tournament", "crazy_eights", *agents, "--games", "20", "--json"))
    assert sorted(result["ranking"]) == sorted(agents)


def test_replay_reports_file_and_line(crazy_eights: Game, tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    records = [random_table(crazy_eights, {}, seed).record(["a", "b"]) for seed in range(3)]
    lines = [record.to_line() for record in records]
    path.write_text("\n".join(lines))
    assert "3 games replayed" in succeed("replay", str(path))
    broken = json.loads(lines[1])
    broken["actions"][2][0] += 1
    for change, sentence in [
        (json.dumps(broken), "line 2: ply 2: action"),
        (json.dumps(json.loads(lines[1]) | {"rules": 7}), "line 2: the record follows rules"),
        (lines[1][:-20], "line 2: this is no JSON"),
    ]:
        path.write_text("\n".join([lines[0], change, lines[2]]))
        before = path.read_bytes()
        answer = cardlab("replay", str(path))
        assert answer.returncode == 2
        assert f"{path}, {sentence}" in answer.stderr
        assert len(answer.stderr.splitlines()) == 1
        assert path.read_bytes() == before
    path.write_text("")
    assert "holds no record" in cardlab("replay", str(path)).stderr


def test_check_plays_many_games() -> None:
    assert "5,000 random games" in succeed("check", "crazy_eights", "--games", "5000")


def test_play_saves_what_was_left(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    shown = succeed("play", "crazy_eights", "--seed", "3", "--record", str(path), text="1\n1\n")
    assert "saved in" in shown
    assert json.loads(path.read_text())["note"] == "left unfinished"
    assert "1 game replayed" in succeed("replay", str(path))


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX systems")
def test_ctrl_c_ends_a_match_with_what_was_played() -> None:
    process = subprocess.Popen(
        [*COMMAND, "match", "crazy_eights", "uct_open:1000", "random", "--games", "100000"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    time.sleep(8)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert "stopped early" in out
    assert "Traceback" not in err
    alive = subprocess.run(["ps", "-g", str(process.pid)], capture_output=True, check=False)
    assert b"cardlab" not in alive.stdout


def test_help_needs_no_compiler() -> None:
    code = "import sys, cardlab.cli; sys.exit(any(m in sys.modules for m in ('numba', 'scipy')))"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_public_names_are_all_there() -> None:
    import cardlab

    for name in cardlab.__all__:
        assert getattr(cardlab, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = cardlab.nothing
