"""Bad command lines of every command: one sentence, exit code 2, never a traceback."""

from __future__ import annotations

import shlex
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from cardlab import cli

# words after `cardlab` -> what the sentence must say; {folder} is an empty folder
BAD_LINES = {
    # the line itself
    "nope": "unknown command 'nope'; known: agents, analyse, ",
    "mach uno random random": "unknown command 'mach'; did you mean 'match'? see `cardlab --help`",
    "--gams": "unknown option --gams; see `cardlab --help`",
    "games now": "too many arguments, got also now; see `cardlab games --help`",
    "games -q": "unknown option -q; see `cardlab games --help`",
    "games --json=yes": "--json takes no value; see `cardlab games --help`",
    # agents
    "agents": "argument GAME is missing; see `cardlab agents --help`",
    "agents nope": "unknown game 'nope'; known: birds_of_a_feather, crazy_eights, ",
    "agents unno": "unknown game 'unno'; did you mean 'uno'?",
    "agents uno cribbage": "too many arguments, got also cribbage",
    "agents no_such_module:GAME": "no_such_module",
    # play
    "play": "play needs a game, such as `cardlab play GAME`",
    "play uno heuristic": "got also heuristic; did you mean --against heuristic? see `cardlab play",
    "play uno cribbage": "too many arguments, got also cribbage; see `cardlab play --help`",
    "play birds_of_a_feather --against heuristic": "is played alone; leave --against out",
    "play uno --seat x": "--seat must be a whole number, got x; see `cardlab play --help`",
    "play uno --seat 5": "--seat",
    "play uno --seed 1e3": "--seed must be a whole number, got 1e3",
    "play uno --against nobody": "unknown agent 'nobody'",
    "play uno --adviser uct_open:5": "sees all cards",
    "play uno -o seats=99": "seats=99",
    "play uno -o seats": "option 'seats' has no value; write it as name=value",
    "play uno -o colour=red": "unknown option of uno 'colour'; known: keep_drawn, ",
    "play uno --deal R5": "deal",
    "play uno --option": "--option needs a value; see `cardlab play --help`",
    "play uno --save {folder}/no/x.jsonl": "folder {folder}/no does not exist; make it with",
    # serve
    "serve --port abc": "--port must be a whole number, got abc",
    "serve --port 99999": "--port must be at most 65,535, got 99999",
    "serve --port=-1": "--port must be at least 0, got -1",
    "serve --workers=-1": "--workers must be at least 0, got -1",
    # replay
    "replay": "argument FILE is missing",
    "replay {folder}/none.jsonl": "none.jsonl cannot be read: No such file or directory",
    "replay {folder}": "{folder} cannot be read: Is a directory",
    "replay {folder}/bad.jsonl": "{folder}/bad.jsonl, line 1: invalid JSON at character 1",
    # match
    "match": "argument GAME is missing",
    "match uno": "argument AGENT is missing",
    "match uno random": "uno needs 2 agents, got 1",
    "match uno random random --games abc": "--games must be a whole number, got abc",
    "match uno random random --games 1.5": "--games must be a whole number, got 1.5",
    "match uno random random --games": "--games needs a value; see `cardlab match --help`",
    "match uno random random --games 0": "games must be at least 1, got 0",
    "match uno random random --games ''": "--games must be a whole number, got nothing",
    "match uno random random --workers x": "--workers must be a whole number, got x",
    "match uno random random --workers=-1": "--workers must be at least 0, got -1",
    "match uno random random --gams 3": "unknown option --gams; did you mean --games?",
    "match uno random random --limits move=x": "--limits move must be a number, got x",
    "match uno random random --limits memory=x": "--limits memory must be a whole number, got x",
    "match uno random random --limits speed=1": "--limits must be NAME=VALUE with one of move, ",
    "match uno random random --save {folder}/no/x.jsonl": "make it with mkdir -p {folder}/no",
    "match uno random random --save {folder}/recodrs/x.jsonl": "did you mean {folder}/records?",
    "match birds_of_a_feather random": "has one seat, and a match needs two or more",
    "match uno random cmd:./none": "program './none' does not exist",
    "match uno random guided,worlds=5": "write 'guided:worlds=5'",
    "match uno random 'cmd:python3 missing.py'": "there is no missing.py in this folder",
    # tournament
    "tournament uno random": "needs 2 or more agents, got 1",
    "tournament uno random random": "a tournament needs each agent once, got 'random' twice",
    "tournament uno random heuristic --format swiss": "unknown format 'swiss'",
    "tournament uno random heuristic --games x": "--games must be a whole number, got x",
    "tournament uno random heuristic --store {folder}": "{folder} is a folder; name a file in it",
    "tournament uno random heuristic --store {folder}/no/a.db": "{folder}/no does not exist",
    "tournament uno random heuristic --store mysql://h/d": "stores of mysql are not supported",
    "tournament uno random heuristic --store {folder}/a.db --name ''": "--name must be 1 to 200",
    "tournament birds_of_a_feather solver --ladder": "--ladder needs a game of two or more seats",
    # sprt
    "sprt": "the sequential test needs a game and two agents, or --counts",
    "sprt uno random heuristic --elo0 x": "--elo0 must be a number, got x",
    "sprt uno random heuristic --elo0 5 --elo1 5": "--elo0 must be less than --elo1, got 5 and 5",
    "sprt uno random heuristic --alpha 2": "--alpha must be at least 1e-09 and less than 0.5",
    "sprt uno random heuristic --elo1 99999": "--elo1 must be from -10,000 to 10,000, got 99999",
    "sprt --counts 1,2,3": "--counts must be five whole numbers, got '1,2,3'",
    "sprt uno random heuristic -o seats=3 --store {folder}/a.db": "two seats, got 2 agents and 3",
    # leaderboard, export, check-agent
    "leaderboard --store {folder}/none.db": "store {folder}/none.db does not exist; name another",
    "leaderboard nope": "unknown game 'nope'",
    "export {folder}/x.txt --store {folder}/none.db": "store {folder}/none.db does not exist",
    "export": "argument FILE is missing",
    "check-agent": "argument COMMAND is missing",
    "check-agent ./none --game uno": "program './none' does not exist",
    "check-agent true --games x": "--games must be a whole number, got x",
    # commands of games
    "score uno R5": "`cardlab score` is about hands of cribbage, not of uno",
    "score cribbage '5H 5C 5S JD'": "option --cut is missing; see `cardlab score --help`",
    "score cribbage '5H 5C 5S' --cut 5D": "3",
    "score nope 5H": "unknown game 'nope'",
    "analyse uno R5": "`cardlab analyse` is about hands of cribbage, not of uno",
    "analyse cribbage '5H 5H'": "5H",
    "solve uno --seed 1": "`cardlab solve` solves deals of birds_of_a_feather, not of uno",
    "solve birds_of_a_feather": "give one of --seed, --deal and --seeds",
    "solve birds_of_a_feather --seed x": "--seed must be a whole number, got x",
    "solve birds_of_a_feather --seeds 0:9 --out {folder}/no/x.csv": "folder {folder}/no does not",
    # explain, train, reproduce
    "explain uno": "argument RECORD is missing",
    "explain uno {folder}/none.jsonl": "none.jsonl cannot be read",
    "explain uno {folder}/bad.jsonl": "{folder}/bad.jsonl, line 1: invalid JSON",
    "explain uno {folder}/bad.jsonl --ply x": "--ply must be a whole number, got x",
    "train --set games=1": "argument GAME/METHOD is missing",
    "train nope": "unknown training 'nope'",
    "train crazy_eights/tabular_q --set games=many": "games must be a whole number, got many",
    "train crazy_eights/tabular_q --set games": "setting games has no value; write games=VALUE",
    "train crazy_eights/tabular_q --set gamse=1": "unknown setting 'gamse'; did you mean 'games'?",
    "train crazy_eights/tabular_q --out {folder}/no/a/b": "make it with mkdir -p {folder}/no/a",
    "reproduce": "argument GAME is missing",
    "reproduce nope": "unknown game 'nope'",
    "reproduce uno --quick --out {folder}/no/a": "folder {folder}/no does not exist",
    "reproduce uno --quick --out {folder}/new --work {folder}/no/a": "folder {folder}/no does not",
    # check, warmup
    "check": "argument GAME is missing",
    "check uno --games 0": "--games must be at least 1, got 0",
    "check uno --games x": "--games must be a whole number, got x",
    "check uno --first=-1": "--first must be from 0 to 1,000,000,000,000, got -1",
    "warmup nope": "unknown game 'nope'",
}
BY_PROCESS = ("nope", "match uno random random --games abc", "score uno R5", "replay {folder}")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    path = tmp_path_factory.mktemp("bad")
    (path / "records").mkdir()
    (path / "bad.jsonl").write_text("hello\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(path)
        patch.setenv("XDG_DATA_HOME", str(path / "data"))
        yield path


def test_every_command_has_bad_lines() -> None:
    assert len(BAD_LINES) >= 60
    names = {command.__name__.replace("_", "-") for row in cli.COMMANDS.values() for command in row}
    assert names - {line.partition(" ")[0] for line in BAD_LINES} == set()


@pytest.mark.parametrize("line", BAD_LINES)
def test_a_bad_line_is_one_sentence(
    line: str, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = shlex.split(line.format(folder=folder))
    monkeypatch.setattr(sys, "argv", ["cardlab", *words])
    monkeypatch.setattr(cli, "listen", lambda: None)  # signals stay with the tests
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)  # put back at the end
    before = set(folder.rglob("*"))
    with pytest.raises(SystemExit) as ended:
        cli.main()
    shown = capsys.readouterr()
    assert ended.value.code == 2
    (sentence,) = shown.err.splitlines()
    assert sentence.startswith("cardlab: ")
    assert BAD_LINES[line].format(folder=folder) in sentence
    assert "Traceback" not in shown.err
    assert "nput should be" not in shown.err  # a library's words
    made = {path for path in folder.rglob("*") if path.is_dir()} - before
    assert [path for path in made if folder / "data" not in (path, *path.parents)] == []


@pytest.mark.parametrize("line", BY_PROCESS)
def test_a_bad_line_in_a_process_of_its_own(line: str, folder: Path) -> None:
    words = shlex.split(line.format(folder=folder))
    ended = subprocess.run(
        [sys.executable, "-m", "cardlab", *words], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 2
    assert ended.stdout == ""
    (sentence,) = ended.stderr.splitlines()
    assert sentence.startswith("cardlab: ")
    assert BAD_LINES[line].format(folder=folder) in sentence
