"""One voice on the command line: help, option names, JSON, completion, exit codes."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cardlab.agents.entries import agents_in
from cardlab.cli import app
from cardlab.commands import completion
from cardlab.commands.help_format import WIDTH
from cardlab.engine.kernel import JIT
from cardlab.engine.manifest import GamePackage
from cardlab.engine.registry import installed, our_packages
from tests.support import documented
from tests.support.waiting import PATIENCE, wait_until

COMMANDS: dict[str, Any] = documented.GROUP.commands
WITH_JSON = [
    name for name, one in COMMANDS.items() if any("--json" in each.opts for each in one.params)
]
SILENT = ("play", "export", "reproduce", "serve")  # a table to sit at, a file, a report, a server
ELSEWHERE = {"explain"}  # needs a record of a network's game: test_explain.py
LEAST = 15


def help_text(*words: str) -> str:
    answer = CliRunner().invoke(app, [*words, "--help"], env={"COLUMNS": "80"})
    assert answer.exit_code == 0
    return answer.stdout


def examples(name: str) -> list[list[str]]:
    below = help_text(name).partition("Example")[2].partition("\n\n")[0]
    found = re.findall(r"cardlab .*", below)
    return [documented.Shown("help", line).words for line in found]


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_help_fits_and_shows_examples(name: str) -> None:
    text = help_text(*([name] if name else []))
    assert max(len(line) for line in text.splitlines()) <= WIDTH
    assert f"cardlab {name}".rstrip() in text.partition("Example")[2]
    assert not re.search(r"<[a-z]", text), "a Python type shows; give a metavar"


def test_the_list_of_commands_is_whole() -> None:
    text = help_text()
    assert len(COMMANDS) >= LEAST
    for name, one in COMMANDS.items():
        first = one.help.partition("\n")[0]
        assert f"  {name} " in text
        assert first in text, f"the first sentence of {name} is cut: make it shorter"
        assert first.endswith(".")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_parameter_is_explained(name: str) -> None:
    for one in COMMANDS[name].params:
        assert one.help, f"{name}: {one.name} has no help"
        assert one.help[0].islower() or not one.help[0].isalpha(), f"{name}: {one.help}"
        assert one.help.endswith("...") or one.help[-1] != ".", f"{name}: {one.help}"
        if not getattr(one, "is_flag", False):
            assert one.metavar, f"{name}: {one.name} has no metavar"
            assert one.metavar == one.metavar.upper(), f"{name}: {one.metavar}"


def test_one_name_means_one_thing() -> None:
    told: dict[str, set[str | None]] = {}
    for one in COMMANDS.values():
        for each in one.params:
            for option in each.opts:
                told.setdefault(option, set()).add(each.metavar)
    differing = {option: kinds for option, kinds in told.items() if len(kinds) > 1}
    # `--out` is a file of one command, a folder of another; `play` resumes a game from a file.
    assert set(differing) <= {"--out", "--resume"}, differing
    for stranger in ("--output", "--record", "--jobs", "--threads", "--database", "--format-json"):
        assert stranger not in told, f"{stranger} has another name in all other commands"


def test_tables_come_as_json_too() -> None:
    assert set(COMMANDS) - set(WITH_JSON) <= set(SILENT)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patch:
        path = tmp_path_factory.mktemp("voice")
        patch.chdir(path)
        patch.setenv("XDG_DATA_HOME", str(path / "data"))
        documented.prepare(path)
        yield path


@pytest.mark.slow
@pytest.mark.skipif(not JIT, reason="too slow to interpret")
@pytest.mark.parametrize("name", sorted(set(WITH_JSON) - ELSEWHERE))
def test_json_is_json(name: str, folder: Path) -> None:
    words = documented.small(examples(name)[-1])
    result = documented.run([*words, *(["--json"] if "--json" not in words else [])])
    assert result.exit_code == 0, (words, result.output, result.exception)
    assert json.loads(result.stdout)


def cardlab(*words: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "cardlab", *words],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **env},
    )


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["match", "--gams", "3"],
            "unknown option --gams; did you mean --games? see `cardlab match --help`",
        ),
        (
            ["match", "uno", "random", "random", "--games", "x"],
            "--games must be a whole number, got x; see `cardlab match --help`",
        ),
        (["match"], "argument GAME is missing; see `cardlab match --help`"),
        (["mach"], "unknown command 'mach'; did you mean 'match'? see `cardlab --help`"),
        (
            ["score", "cribbage", "5H 5C 5S JD"],
            "option --cut is missing; see `cardlab score --help`",
        ),
    ],
)
def test_a_line_that_cannot_be_read_is_one_sentence(words: list[str], sentence: str) -> None:
    answer = cardlab(*words)
    assert answer.returncode == 2
    assert sentence in answer.stderr
    assert len(answer.stderr.splitlines()) == 1
    assert answer.stdout == ""


def test_nothing_asked_is_answered_with_help() -> None:
    answer = cardlab()
    assert answer.returncode == 0
    assert answer.stdout == cardlab("--help").stdout


@pytest.mark.parametrize("old", [["--move-seconds", "0"], ["--move-seconds=0"]])
def test_limits_are_read_in_their_old_form_too(old: list[str]) -> None:
    words = ["match", "crazy_eights", "random", "random", "--limits", "memory=100,game=9", *old]
    answer = cardlab(*words)
    assert (
        answer.stderr
        == "cardlab: --limits move must be greater than 0 and less than 1,000,000,000, got 0.0\n"
    )


def complete(line: str) -> list[str]:
    env = {
        "_CARDLAB_COMPLETE": "complete_fish",
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
        "_TYPER_COMPLETE_ARGS": line,
    }
    answer = cardlab(**env)
    assert answer.stderr == ""
    return [one.partition("\t")[0] for one in answer.stdout.splitlines()]


def test_completion_by_name() -> None:
    assert complete("cardlab tourn") == ["tournament"]
    assert complete("cardlab agents c") == ["crazy_eights", "cribbage"]
    assert complete("cardlab match cribbage cribbage_e") == [
        "cribbage_expert",
        "cribbage_expected_value",
    ]
    assert "uno_net" not in complete("cardlab match cribbage u")
    assert complete("cardlab play uno --against he") == ["heuristic"]
    assert complete("cardlab train crazy") == ["crazy_eights/tabular_q", "crazy_eights/transformer"]
    assert "uno" in complete("cardlab reproduce u")


@pytest.mark.parametrize(
    ("line", "kind", "game"),
    [
        ("cardlab match uno random -o ", "options", "uno"),
        ("cardlab match -o seats=3 uno -o ", "options", "uno"),
        ("cardlab check-agent ./mine --game koi_koi -o ", "options", "koi_koi"),
        ("cardlab check-agent ./mine -o ", "options", "crazy_eights"),  # its default
        ("cardlab match uno ", "agents", "uno"),
        ("cardlab play uno --against ", "agents", "uno"),
        ("cardlab play --seed 3 cribbage --adviser ", "agents", "cribbage"),
        ("cardlab explain koi_koi game.jsonl --agent ", "agents", "koi_koi"),
    ],
)
def test_completion_knows_the_game(line: str, kind: str, game: str) -> None:
    package = our_packages()[game]
    if kind == "options":
        known = [f"{option.name}=" for option in package.options]
    else:
        known = [entry.name for entry in agents_in(package)] + list(installed("cardlab.agents"))
    assert complete(line) == known


def test_completion_needs_no_compiler() -> None:
    code = (
        "import sys, cardlab.cli; from cardlab.commands import completion; "
        "found = completion.complete_game('crazy'); "
        "sys.exit(len(found) != 1 or any(m in sys.modules for m in ('numba', 'numpy', 'rich')))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_installed_games_are_completed(monkeypatch: pytest.MonkeyPatch) -> None:
    kuhn = GamePackage("kuhn_poker", "kuhn_poker:GAME")
    known = {**our_packages(), "kuhn_poker": kuhn}
    monkeypatch.setattr(completion, "known_packages", lambda: known)
    assert completion.complete_game("ku") == [("kuhn_poker", "Kuhn Poker")]


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX systems")
@pytest.mark.skipif(not JIT, reason="too slow to interpret")
def test_a_stopped_training_says_how_to_resume(tmp_path: Path) -> None:
    words = ["train", "crazy_eights/tabular_q", "--set", "games=1000000000", "--out", str(tmp_path)]
    process = subprocess.Popen(
        [sys.executable, "-m", "cardlab", *words], stderr=subprocess.PIPE, text=True
    )
    wait_until((tmp_path / "checkpoint.npz").exists, "a checkpoint", process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, err
    assert f"the same command resumes from the last checkpoint in {tmp_path}" in err
    assert err.endswith("cardlab: stopped\n")
