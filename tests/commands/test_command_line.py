"""The command line as a person meets it: real processes, exit codes, one sentence for a mistake."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from cardlab import __version__
from cardlab.agents.catalog import Strength, agents_for, strength_of
from cardlab.engine.game import Game
from cardlab.engine.kernel import JIT
from cardlab.testing import random_table
from tests.support.paths import EXAMPLES, PROGRAMS
from tests.support.waiting import PATIENCE, commands_in, wait_until

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
        (
            ["match", "crazy_eights", "random", "random", "--games", "-5"],
            "games must be at least 1, got -5",
        ),
        (
            ["match", "crazy_eights", "random", "random", "--workers", "-1"],
            "--workers must be at least 0, got -1",
        ),
        (["match", "crazy_eights", "random", "random", "-o", "seats=9"], "seats=9"),
        (["match", "crazy_eights", "random", "random", "-o", "seats"], "has no value"),
        (["match", "crazy_eights", "random", "uct_open:0"], "from 1 to"),
        (["tournament", "crazy_eights", "random"], "needs 2 or more agents, got 1"),
        (["agents", "go_fish"], "unknown game 'go_fish'"),
        (["check", "crazy_eights", "--games", "0"], "--games must be at least 1, got 0"),
        (["check", "crazy_eights", "--first", "-1"], "--first must be from 0 to"),
        (["play", "crazy_eights", "--seat", "2"], "--seat must be 0 to 1 in crazy_eights, got 2"),
        (["play", "crazy_eights", "--deal", "7H 7H"], "card 2 of the deal: 7H"),
        (["play", "crazy_eights", "--adviser", "uct_open:5"], "sees all cards"),
        (
            ["play", "crazy_eights", "--against", "a", "--against", "b"],
            "crazy_eights takes 1 opponent, got 2",
        ),
        (["replay", "missing.jsonl"], "missing.jsonl cannot be read"),
        (["match", "crazy_eights", "random", "random", "--save", "/proc/x.jsonl"], "/proc/x.jsonl"),
        (["match", "crazy_eights", "random", "random", "--save", "."], "cannot be written"),
        (["match", "crazy_eights", "random", "uct_open:1000000000000"], "to 10,000,000"),
        (["agents", "..x:y"], "does not name an object"),
        (["match", "crazy_eights", "__main__:nobody", "random"], "has no 'nobody'"),
        (["tournament", "uno", "random", "heuristic", "--format", "swiss"], "unknown format"),
        (["tournament", "uno", "random", "cmd:./none"], "program './none' does not exist"),
        (
            ["tournament", "uno", "random", "heuristic", "--move-seconds", "0"],
            "--limits move must be greater than 0",
        ),
        (
            ["tournament", "uno", "random", "heuristic", "--store", "mysql://h/d"],
            "stores of mysql are not supported",
        ),
        (["tournament", "uno", "random", "heuristic", "--resume"], "to resume"),
        (["tournament", "birds_of_a_feather", "solver", "--ladder"], "leave --ladder out"),
        (["sprt", "uno", "random"], "needs a game and two agents"),
        (["sprt", "--counts", "1,2,3"], "five whole numbers"),
        (
            ["sprt", "uno", "random", "heuristic", "--elo0", "5", "--elo1", "5"],
            "--elo0 must be less than --elo1",
        ),
        (["tournament", "uno", "random", "heuristic", "--store", "/proc/x/y.db"], "cannot be made"),
        (["leaderboard", "--store", "none.db"], "store none.db does not exist"),
        (["leaderboard", "go_fish"], "unknown game 'go_fish'"),
        (["leaderboard"], "arena.db does not exist; name another with --store"),
        (["export", "games.csv", "--store", "none.db"], "store none.db does not exist"),
        (["check-agent", "./none", "--game", "uno"], "program './none' does not exist"),
    ],
)
def test_a_mistake_is_one_sentence(args: list[str], sentence: str, tmp_path: Path) -> None:
    answer = cardlab(*args, XDG_DATA_HOME=str(tmp_path))
    assert answer.returncode == 2
    assert sentence in answer.stderr
    assert len(answer.stderr.splitlines()) == 1
    assert answer.stdout == ""


def test_games_and_agents() -> None:
    assert "Crazy Eights" in succeed("games")
    shown = succeed("agents", "crazy_eights")
    assert "all cards" in shown
    assert re.search(r"^ *heuristic .* 50\.0 .* 0 *$", shown, re.MULTILINE)
    assert succeed("--version").strip() == f"cardlab {__version__}"


def test_json_tells_what_the_tables_tell(crazy_eights: Game) -> None:
    options = json.loads(succeed("games", "--json"))[0]["options"]
    assert options[0] == {
        "name": "seats",
        "default": 2,
        "help": "how many play",
        "kind": "range",
        "allowed": {"from": 2, "to": 4},
    }
    for one, said in zip(crazy_eights.options, options, strict=True):
        assert (said["name"], said["default"], said["help"]) == (one.name, one.default, one.help)
    kinds = {said["name"]: (said["kind"], said["allowed"]) for said in options}
    assert kinds["reshuffle"] == ("bool", [False, True])
    listed = json.loads(succeed("agents", "crazy_eights", "--json"))
    agents = {one["name"]: one for one in listed}
    assert agents["uct_open"]["fair"] is False
    assert agents["uct_open"]["parameters"][0]["name"] == "simulations"
    assert agents["heuristic"]["strength"]["score"] == 50
    assert agents["heuristic"]["strength"]["rating"] == 0
    for one in agents_for(crazy_eights):
        strength = strength_of(one, crazy_eights)
        assert Strength(**agents[one.name]["strength"]) == strength
        assert strength
        assert f"{strength.score_text}" in succeed("agents", "crazy_eights")


def test_a_match_as_table_and_as_json(tmp_path: Path) -> None:
    args = ["match", "crazy_eights", "heuristic", "random", "--games", "40", "--seed", "7"]
    saved = tmp_path / "games.jsonl"
    shown = succeed(*args, "--save", str(saved))
    assert "40 games on 20 deals, seats swapped; seed 7" in shown
    result = json.loads(succeed(*args, "--json"))
    assert result["games"] == 40
    assert [one["agent"] for one in result["standings"]] == ["heuristic", "random"]
    assert "40 games replayed, every one as recorded" in succeed("replay", str(saved), "--brief")


def test_a_match_says_when_it_plays_more_games() -> None:
    rounded = "8 games are played: every deal in all 2 seatings"
    for games in (7, 8):
        answer = cardlab("match", "crazy_eights", "random", "random", "--games", str(games))
        assert answer.returncode == 0
        assert "8 games on 4 deals" in answer.stdout
        assert (rounded in answer.stderr) == (games == 7)


@pytest.mark.slow
def test_a_tournament_from_the_first_game_to_the_export(tmp_path: Path) -> None:
    agents = ["random", "heuristic", "uct_open:50"]
    where = ["--store", str(tmp_path / "arena.db")]
    args = ["tournament", "crazy_eights", *agents, "--games", "20", *where]
    shown = succeed(*args)
    assert "60 games on 10 deals, the same for all, every seating" in shown
    assert "as tournament 'crazy_eights-1'" in shown
    result = json.loads(succeed(*args, "--json", "--ladder"))
    assert result["tournament"] == "crazy_eights-2"
    assert sorted(row[0] for row in result["ladder"]) == sorted(agents)
    again = json.loads(succeed(*args, "--json", "--ladder", "--resume"))
    assert all(sigma < 6 for _, _, sigma in again["ladder"])  # earlier games move it, too
    assert sorted(result["ranking"]) == sorted(agents)
    again = json.loads(succeed(*args, "--json", "--resume", "--name", "crazy_eights-1"))
    assert again["lines"][0]["rating"] == result["lines"][0]["rating"]
    shown = succeed("leaderboard", *where)
    assert "120 games of 2 tournaments on 10 deals" in shown
    assert "Elo: 0 is the mean of these agents" in " ".join(shown.split())
    board = json.loads(succeed("leaderboard", "crazy_eights", "--json", "--ladder", *where))
    assert board[0]["ratings"][0]["agent"] == result["ranking"][0]
    out = tmp_path / "games.jsonl"
    shown = succeed("export", str(out), *where, "--name", "crazy_eights-1")
    assert shown.startswith("60 games of 1 tournament in sqlite:///")
    assert f" written to {out}" in shown
    assert "60 games replayed, every one as recorded" in succeed("replay", str(out), "--brief")


@pytest.mark.slow
def test_the_sequential_test_as_command_and_calculator(tmp_path: Path) -> None:
    counts = ["--counts", "379,10170,21828,10640,343", "--elo1", "2"]
    shown = succeed("sprt", *counts)
    assert "LLR 2.946 [-2.94, 2.94], nElo 3.05 ± 2.31" in shown
    verdict, details = shown.split("\n", 1)
    assert verdict == "the first is stronger than the second: score 50.23 ± 0.17 % in 86,720 games"
    assert details.startswith("details: H1 accepted, LLR 2.946")
    weaker = succeed("sprt", "--counts", "343,10640,21828,10170,379", "--elo1", "2")
    assert weaker.startswith("the first is not stronger than the second by 2 nElo: score 49.77")
    assert succeed("sprt", "--counts", "1,2,3,2,1").startswith("not decided whether the first is ")
    args = ["sprt", "crazy_eights", "heuristic", "random", "--elo1", "40", "--json"]
    result = json.loads(succeed(*args, "--store", str(tmp_path / "a.db")))
    assert result["accepted"] == "H1"
    assert result["games"] == 2 * sum(result["counts"])


@pytest.mark.skipif(sys.platform == "win32", reason="programs of POSIX systems")
def test_check_agent_explains_each_fault() -> None:
    good = succeed("check-agent", f"{EXAMPLES}/first_legal.sh")
    assert "7 checks passed" in good
    odd = f"{EXAMPLES}/first_legal.sh [/x]"
    assert f"7 checks passed: {odd!r}" in " ".join(succeed("check-agent", odd).split())
    answer = cardlab("check-agent", f"{PROGRAMS}/garbage.sh", "--game", "uno")
    assert answer.returncode == 1
    assert "FAIL plays 2 games in a row on seat 0" in answer.stdout
    assert "one JSON object a line" in answer.stdout


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
        (lines[1][:-20], "line 2 is cut off"),
    ]:
        path.write_text("\n".join([lines[0], change, lines[2]]))
        before = path.read_bytes()
        answer = cardlab("replay", str(path))
        assert answer.returncode == 2
        assert f"{path}, {sentence}" in answer.stderr
        assert len(answer.stderr.splitlines()) == 1
        assert "2 games replayed; 1 skipped" in answer.stdout  # all that is whole
        assert path.read_bytes() == before
    path.write_text("\n".join([lines[0], lines[1][:-20], "", "{}", lines[2], "\x00"]))
    answer = cardlab("replay", str(path), "--json")
    assert answer.returncode == 2
    assert [row["line"] for row in json.loads(answer.stdout)] == [1, 5]
    assert f"{path}, line 2 is cut off" in answer.stderr
    assert answer.stderr.endswith("; 2 more skipped: lines 4, 6\n")
    path.write_text("{}\n{}\n")
    answer = cardlab("replay", str(path))
    assert answer.returncode == 2
    assert f"{path}, line 1: not a game record" in answer.stderr
    path.write_text("")
    assert "holds no record" in cardlab("replay", str(path)).stderr


@pytest.mark.slow
def test_score_explains_every_point() -> None:
    shown = succeed("score", "cribbage", "5H 5C 5S JD", "--cut", "5D")
    assert "hand of 29" in shown
    result = json.loads(succeed("score", "cribbage", "2H 4H 6H 8H", "--cut", "KS", "--json"))
    assert result["total"] == 4
    result = json.loads(
        succeed("score", "cribbage", "2H 4H 6H 8H", "--cut", "KS", "--crib", "--json")
    )
    assert result["total"] == 0
    for hand, cut, sentence in [
        ("5H 5C 5S", "5D", "3"),
        ("5H 5C 5S 5H", "5D", "5H"),
        ("5H 5C 5S 1D", "5D", "unknown card '1D'"),
    ]:
        answer = cardlab("score", "cribbage", hand, "--cut", cut)
        assert answer.returncode == 2
        assert sentence in answer.stderr
        assert len(answer.stderr.splitlines()) == 1


@pytest.mark.slow
def test_check_plays_many_games() -> None:
    args = ["check", "crazy_eights", "--games", "5000"]
    assert "5,000 random games" in succeed(*args)
    result = json.loads(succeed(*args, "--first", "100", "--json"))
    assert (result["first"], result["games"], result["faults"]) == (100, 5000, 0)


def test_play_saves_what_was_left(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    shown = succeed("play", "crazy_eights", "--seed", "3", "--save", str(path), text="1\n1\n")
    assert "saved in" in shown
    assert json.loads(path.read_text())["note"] == "left unfinished"
    assert "1 game replayed" in succeed("replay", str(path))


def start(*args: str, **env: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, *args],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, **env},
    )


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX systems")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 0), (signal.SIGTERM, 143)])
def test_a_match_that_is_stopped_counts_what_was_played(
    number: signal.Signals, code: int, tmp_path: Path
) -> None:
    saved = tmp_path / "games.jsonl"
    agents = ["uct_open:1000", "random", "--games", "100000", "--save", str(saved)]
    process = start("match", "crazy_eights", *agents)
    wait_until(lambda: saved.exists() and saved.stat().st_size, "a saved game", process)
    os.killpg(process.pid, number)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == code, err
    assert err.endswith("cardlab: stopped\n") == (code != 0)
    assert "stopped early" in out
    assert "Traceback" not in err
    wait_until(lambda: not commands_in(process.pid), "the end of all workers")


SLOW_TO_START = """
import pathlib, sys, time
if "--multiprocessing-fork" in sys.orig_argv:
    pathlib.Path(__file__).with_name("starting").touch()
    time.sleep(2)  # so long it has no handler of its own
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX systems")
def test_a_worker_that_still_starts_says_nothing_of_ctrl_c(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(SLOW_TO_START)
    agents = ["uct_open:1000", "random", "--games", "100000", "--workers", "2"]
    process = start("match", "crazy_eights", *agents, PYTHONPATH=str(tmp_path))
    wait_until((tmp_path / "starting").exists, "a worker that starts", process)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    assert "stopped early" in out
    assert "Traceback" not in err
    assert "KeyboardInterrupt" not in err


def test_help_needs_no_compiler() -> None:
    code = "import sys, cardlab.cli; sys.exit(any(m in sys.modules for m in ('numba', 'scipy')))"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_public_names_are_all_there() -> None:
    import cardlab

    for name in cardlab.__all__:
        assert getattr(cardlab, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = cardlab.nothing


def test_numbers_survive_a_terminal_without_symbols() -> None:
    args = ["match", "crazy_eights", "heuristic", "random", "--games", "40"]
    answer = cardlab(*args, PYTHONIOENCODING="ascii")
    assert answer.returncode == 0, answer.stderr
    assert "40 games on 20 deals" in answer.stdout


@pytest.mark.slow
def test_few_deals_make_no_claim() -> None:
    args = ["match", "crazy_eights", "heuristic", "random", "--games", "2"]
    assert "too few deals for an interval" in succeed(*args)
    result = json.loads(succeed(*args, "--json"))
    assert result["standings"][0]["score_interval"] is None


def games_in(store: Path) -> int:
    """Return how many games a store holds, also one that is still being made."""
    try:
        with contextlib.closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as base:
            return int(base.execute("SELECT COUNT(*) FROM games").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


@pytest.mark.slow
def test_a_stopped_tournament_says_how_to_resume(tmp_path: Path) -> None:
    agents = ["uct_open:3000", "random", "heuristic"]
    words = ["tournament", "crazy_eights", *agents, "--games", "100000"]
    process = start(*words, XDG_DATA_HOME=str(tmp_path))
    store = tmp_path / "cardlab" / "arena.db"
    wait_until(lambda: games_in(store), "a game in the store", process)
    os.killpg(process.pid, signal.SIGTERM)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 143, err
    assert out == ""
    assert "stopped" in err
    assert "rerun with --resume to resume" in err
    assert "Traceback" not in err


WAYS_ON = {
    "check crazy_eights --first 40000 --games 5000000": "--first 40000 --games 5000000",
    "solve birds_of_a_feather --seeds 0:9000000": "nothing is kept; with --out FILE the same",
    "solve birds_of_a_feather --seeds 0:9000000 --out a.csv": "from the rows in a.csv",
}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX systems")
@pytest.mark.skipif(not JIT, reason="nothing is compiled")
@pytest.mark.parametrize("line", WAYS_ON)
def test_long_work_says_how_to_go_on(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    process = start(*line.split(), CARDLAB_CACHE_DIR=str(tmp_path))
    try:
        assert process.stderr is not None
        assert "compiling these rules" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    finally:  # nothing goes on beside other tests
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert process.returncode == 130, err
    assert WAYS_ON[line] in err
    assert len(err.splitlines()) == 2
    assert err.endswith("cardlab: stopped\n")
    assert out == ""


INTERRUPTED_CALLBACK = """
import signal, sys
from cardlab.cli import main

def interrupt(frame, event, argument):
    if event == "call" and frame.f_code.co_name == "_raw_object_cache_notify":
        sys.setprofile(None)
        print("interrupted")
        signal.raise_signal(signal.SIGINT)

sys.argv = ["cardlab", "solve", "birds_of_a_feather", "--seeds", "0:50000", "--workers", "1"]
sys.setprofile(interrupt)
main()
"""


@pytest.mark.skipif(not JIT, reason="nothing is compiled")
def test_ctrl_c_in_a_callback_of_the_compiler(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_CALLBACK],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "CARDLAB_CACHE_DIR": str(tmp_path)},
    )
    assert ended.stdout == "interrupted\n"
    assert ended.returncode == 130, ended.stderr
    assert "Traceback" not in ended.stderr
    assert ended.stderr.endswith("cardlab: stopped\n")


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of POSIX systems")
@pytest.mark.parametrize("line", ["games", "games --json", "--help", "match --help"])
def test_a_reader_that_leaves_is_no_fault(line: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)  # as `head` does, but before the first word
    try:
        ended = subprocess.run(
            [*COMMAND, *line.split()], stdout=writer, stderr=subprocess.PIPE, check=False
        )
    finally:
        os.close(writer)
    assert (ended.returncode, ended.stderr) == (141, b"")


@pytest.mark.slow
def test_foreign_records(crazy_eights: Game, tmp_path: Path) -> None:
    good = random_table(crazy_eights, {}, 1).record(["a", "b"])
    path = tmp_path / "games.jsonl"
    for text, answer in [
        ("[" * 100_000, "nested too deeply"),
        ('{"rules": ' + "9" * 5000 + "}", "not a game record"),
        (good.model_copy(update={"game": "this:s"}).to_line(), "--trust"),
    ]:
        path.write_text(text + "\n")
        found = cardlab("replay", str(path))
        assert found.returncode == 2
        assert answer in found.stderr
        assert len(found.stderr.splitlines()) == 1
        assert "Zen" not in found.stdout
    odd = good.model_copy(update={"seats": ["[/foo]", "[red]x"]})
    path.write_text(odd.to_line())
    assert "[/foo] - [red]x" in succeed("replay", str(path))


def test_a_game_from_outside_from_match_to_replay(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    args = [
        "match",
        "tests.support.high_card:GAME",
        "random",
        "random",
        "--games",
        "4",
        "--save",
        str(path),
    ]
    assert cardlab(*args).returncode == 0
    assert cardlab("replay", str(path)).returncode == 2
    answer = cardlab("replay", str(path), "--trust")
    assert "4 games replayed" in answer.stdout
