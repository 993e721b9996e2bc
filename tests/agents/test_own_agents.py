"""Agents of people's own: whose file is taken, and one kind sentence for every mistake."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cardlab.agents.catalog import find_agent, find_agents
from cardlab.agents.outside import as_command
from cardlab.agents.play import play_game
from cardlab.arena.compliance import check_program
from cardlab.arena.leaderboard import leaderboards
from cardlab.arena.match import Match, play_match
from cardlab.arena.shard import usual_reason
from cardlab.arena.store import Store
from cardlab.arena.tournament import Plan, enter, play_tournament
from cardlab.engine.errors import CardlabError, IllegalAction, reason_of
from cardlab.engine.game import Game, Turn, require_agent
from cardlab.engine.importing import import_first_here
from cardlab.engine.play import (
    Table,
    agent_errors,
    ask_values,
    close_game,
    illegal_answer,
)
from cardlab.engine.registry import find_game
from cardlab.show.tournament import show_match, show_standings
from cardlab.testing import check_agent
from tests.support.paths import EXAMPLES, PROGRAMS

AGENTS = """\
class Hoarder:
    name = "hoarder"

    def act(self, turn, rng):
        return int(turn.legal[0])


class NoStream:
    name = "no_stream"

    def act(self, turn):
        return int(turn.legal[0])


class WrongField:
    name = "wrong_field"

    def act(self, turn, rng):
        return pick(turn)


def pick(turn):
    return turn.view.hand[0]


class Many(Hoarder):
    def act_many(self, turns, rngs):
        raise KeyError("many")


class Open:
    name = "mine_open"

    def act_open(self, state, rng):
        raise RuntimeError("open")


class Fussy(Hoarder):
    def __init__(self, patience):
        self.patience = 1 / patience


def make(patience):
    return Hoarder()


class Nameless:
    def act(self, turn, rng):
        return int(turn.legal[0])


class Idle:
    name = "idle"


class Neither:
    pass


class Silent:
    name = "silent"

    def act(self, turn, rng):
        turn.legal[0]
"""


def line_of(text: str) -> int:
    """Return the number of the only line of AGENTS that holds a text."""
    (number,) = [n for n, line in enumerate(AGENTS.splitlines(), start=1) if text in line]
    return number


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A working folder with a file of agents, of which Python has not heard yet."""
    (tmp_path / "my_agents.py").write_text(AGENTS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in [one for one in sys.modules if one.startswith("my_")]:
        monkeypatch.delitem(sys.modules, name)
    yield tmp_path
    for name in [one for one in sys.modules if one.startswith("my_")]:
        del sys.modules[name]


def sentence(spec: str) -> str:
    """Return what a match with an agent ends in."""
    with pytest.raises(CardlabError) as caught:
        play_match(Match.plan("crazy_eights", ["random", spec], 8))
    return str(caught.value)


# Whose file


def test_the_working_folder_comes_before_what_is_installed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = folder / "site"
    installed.mkdir()
    (installed / "my_agents.py").write_text("class Hoarder:\n    pass\n")
    example = (EXAMPLES / "kuhn_poker.py").read_text()
    (folder / "my_game.py").write_text(example.replace("kuhn_poker:GAME", "my_game:GAME"))
    (installed / "my_game.py").write_text("GAME = None\n")
    monkeypatch.syspath_prepend(str(installed))
    assert find_game("my_game:GAME").title == "Kuhn poker"
    monkeypatch.setattr("cardlab.arena.workers.WORTH_STARTING", 0.0)  # so that processes start
    match = Match.plan("crazy_eights", ["my_agents:Hoarder", "random"], 60)
    assert play_match(match, workers=2).games == 60
    assert sys.path.index(str(installed)) < sys.path.index(str(folder))  # for all other imports


def test_a_file_with_the_name_of_a_library_is_told_apart(folder: Path) -> None:
    (folder / "random.py").write_text(AGENTS)
    assert import_first_here("random") is random
    with pytest.raises(
        CardlabError,
        match=r"random has no 'GAME': the module is .*, not random.py in this folder; give",
    ):
        find_game("random:GAME")


# What breaks


@pytest.mark.parametrize(
    ("name", "place", "reason"),
    [
        ("NoStream", "def act(self, turn):", "TypeError: NoStream.act() takes 2 positional"),
        ("WrongField", "turn.view.hand[0]", "unknown field of crazy_eights 'hand'; did you mean"),
        ("Many", 'KeyError("many")', "KeyError: 'many'"),
        ("Open", 'RuntimeError("open")', "RuntimeError: open"),
    ],
)
def test_an_exception_in_an_agent_is_one_sentence(
    folder: Path, name: str, place: str, reason: str
) -> None:
    said = sentence(f"my_agents:{name}")
    assert f"agent 'my_agents:{name}' failed as " in said
    assert "seat 1 of crazy_eights, ply 1, game seed " in said or "seat 0 of crazy_eights" in said
    assert f"my_agents.py, line {line_of(place)}: " in said
    assert reason in said
    assert "CARDLAB_TRACEBACK=1" in said
    assert "\n" not in said


def test_the_place_is_told_where_games_are_played_one_by_one(
    folder: Path, crazy_eights: Game
) -> None:
    agents = find_agents(["random", "my_agents:WrongField"], crazy_eights)
    with pytest.raises(CardlabError, match=r"as seat 1 of crazy_eights, ply 1, seed 3; my_agents"):
        play_game(crazy_eights, agents, seed=3)
    agents[1] = find_agent("my_agents:Silent", crazy_eights)
    with pytest.raises(
        IllegalAction, match=r"'silent' answered None as .* return missing\? return"
    ):
        play_game(crazy_eights, agents, seed=3)


class Follower:
    """An agent that breaks where it is told to."""

    name = "follower"

    def __init__(self, breaks: str = "", values: object = None) -> None:
        self.breaks, self.worth = breaks, values

    def begin(self, *_: object) -> None:
        if self.breaks == "begin":
            raise KeyError("begin")

    def act(self, turn: Turn, rng: np.random.Generator) -> int:
        return int(turn.legal[0])

    def end(self, *_: object) -> None:
        if self.breaks == "end":
            raise KeyError("end")

    def values(self, turn: Turn, rng: np.random.Generator) -> Any:
        return [1 / 0] if self.worth is None else self.worth


@pytest.mark.parametrize("breaks", ["begin", "end"])
def test_what_breaks_around_a_game_is_one_sentence(crazy_eights: Game, breaks: str) -> None:
    agents = [Follower(), Follower(breaks)]
    told = rf"'follower' failed as seat 1 of .*test_own_agents.py, line \d+: KeyError: '{breaks}'"
    with pytest.raises(CardlabError, match=told):
        play_game(crazy_eights, agents, seed=3)
    table = Table(crazy_eights, seed=3)
    close_game(table, [None, Follower()])  # who does not follow is not asked


def test_values_that_break_or_do_not_fit_are_one_sentence(crazy_eights: Game) -> None:
    turn, rng = Table(crazy_eights, seed=3).turn(), np.random.default_rng(0)
    with pytest.raises(
        CardlabError, match=r"'follower' failed as adviser of seat 0 .*ZeroDivision"
    ):
        ask_values(Follower(), turn, rng)
    with pytest.raises(CardlabError, match=r"of shape \(1,\) as adviser .* one number for each of"):
        ask_values(Follower(values=[0.5]), turn, rng)
    with pytest.raises(CardlabError, match="failed as adviser"):
        ask_values(Follower(values="good"), turn, rng)
    right = ask_values(Follower(values=[0] * len(turn.legal)), turn, rng)
    assert right.dtype == np.float64


def test_on_the_command_line_it_is_a_sentence_with_a_traceback_on_demand(folder: Path) -> None:
    words = [sys.executable, "-P", "-m", "cardlab", "match", "crazy_eights"]
    words += ["my_agents:WrongField", "random", "--games", "2"]
    for more in ({}, {"CARDLAB_TRACEBACK": "1"}):
        done = subprocess.run(
            words, env={**os.environ, **more}, capture_output=True, text=True, check=False
        )
        assert done.returncode == 2
        assert "cardlab: agent 'my_agents:WrongField' failed as seat 0" in done.stderr
        assert ("in pick\n" in done.stderr) == bool(more)


def test_a_sentence_of_ours_is_passed_on() -> None:
    with pytest.raises(CardlabError, match=r"^ours$"), agent_errors(None, "x", lambda: "y"):
        raise CardlabError("ours")


def test_a_reason_without_code_of_theirs_has_no_place() -> None:
    assert reason_of(ValueError()) == "ValueError"
    assert reason_of(ValueError("two\n  lines")) == "ValueError: two lines"


@pytest.mark.parametrize(("answer", "asks"), [(None, True), (29.0, False), ("9D", False)])
def test_an_illegal_answer_is_told_the_way_out(answer: object, asks: bool) -> None:
    said = str(illegal_answer("mine", answer, "seat 0", np.array([1, 2])))
    assert said.startswith(f"agent 'mine' answered {answer!r} as seat 0; legal action ids: 1, 2; ")
    assert said.endswith("return one of turn.legal as an int")
    assert ("is there a return missing?" in said) == asks


# What is named wrongly


@pytest.mark.parametrize(
    ("spec", "answer"),
    [
        ("my_agnets:Hoarder", "no my_agnets.py in this folder .* did you mean my_agents:Hoarder?"),
        ("nowhere:Hoarder", "no nowhere.py in this folder and no installed module nowhere$"),
        ("x" * 5000, "unknown agent"),
        ("my_agents:Hoader", r"my_agents has no 'Hoader'; did you mean my_agents:Hoarder\?"),
        ("my_agents.Hoarder", "write my_agents:Hoarder$"),
        ("python program.py", "write 'cmd:python program.py'$"),
        ("./program.py", "write 'cmd:python program.py'$"),
        ("program.py", "write 'cmd:python program.py'$"),
        ("program", "write 'cmd:python program.py'; if it is a module, write 'program:NAME'$"),
        ("program.py:Crash", "names a file; write 'program:Crash'$"),
        ("./program.py:Crash:a=1", "names a file; write 'program:Crash:a=1'$"),
        ("guided,worlds=5", "write 'guided:worlds=5'$"),
        ("cmd:python3 missing.py", "there is no missing.py in this folder$"),
        ("cmd:sh -e parts/missing.sh", "there is no parts/missing.sh in this folder$"),
        ("cmd:./program.py -v", r"write 'cmd:python program.py -v' or chmod \+x ./program.py$"),
        ("cmd:my_script", r"write 'cmd:./my_script' and chmod \+x my_script$"),
        ("cmd:./my_script", r"cannot be executed like this; chmod \+x ./my_script$"),
        ("cmd:my_ready", "cannot be executed like this; write 'cmd:./my_ready'$"),
        ("my_agents:Fussy:patience=0", r"made \(my_agents.py, line \d+: ZeroDivisionError: div"),
        ("my_agents:make", r"made \(my_agents.py, line \d+: TypeError: make.. missing"),
        ("my_agents:Fussy", r"made \(my_agents.py, line \d+: TypeError: .*'patience'\)$"),
        ("my_agents:Nameless", r"of type Nameless, has no name \(write name"),
        ("my_agents:Idle", r"of type Idle, has no method act\(self, turn, rng\)"),
        ("my_agents:Neither", r"Neither, has no name .* and no method act"),
        ("my_broken:Agent", r"imported \(my_broken.py, line 2: ModuleNotFoundError: No module"),
    ],
)
def test_a_wrong_name_is_answered_with_the_right_one(
    folder: Path, crazy_eights: Game, spec: str, answer: str
) -> None:
    for name in ("program.py", "my_script", "my_ready"):
        (folder / name).write_text("#!/bin/sh\n")
    (folder / "my_ready").chmod(0o755)
    (folder / "my_broken.py").write_text("import sys\nimport no_such_library_anywhere\n")
    with pytest.raises(CardlabError, match=answer):
        find_agent(spec, crazy_eights)


def test_a_command_is_spelled_out(folder: Path) -> None:
    assert as_command("python my_agents.py") == "cmd:python my_agents.py"
    assert as_command("./my_agents.py --deep 3") == "cmd:python my_agents.py --deep 3"


# What the conformance suite says


def test_the_suite_refuses_what_a_match_refuses(folder: Path, crazy_eights: Game) -> None:
    module = import_first_here("my_agents")
    check_agent(module.Hoarder, crazy_eights)
    for kind in (module.Nameless, module.Idle):
        with pytest.raises(CardlabError, match="has no "):
            check_agent(kind, crazy_eights)
    with pytest.raises(CardlabError, match="agent 'five', of type int, has no name"):
        require_agent(5, "five")


class Global:
    """Draws from the generator that all share."""

    name = "global"

    def act(self, turn: Any, rng: Any) -> int:
        return int(random.choice(turn.legal))


class Own:
    """Draws from a generator that nobody seeds again."""

    name = "own"

    def __init__(self) -> None:
        self.rng = np.random.default_rng(0)

    def act(self, turn: Any, rng: Any) -> int:
        return int(self.rng.choice(turn.legal))


@pytest.mark.parametrize(
    ("kind", "answer"),
    [(Global, "draws from a global generator; use the rng"), (Own, "a generator of its own")],
)
def test_random_numbers_from_elsewhere_are_called_that(
    crazy_eights: Game, kind: Any, answer: str
) -> None:
    with pytest.raises(AssertionError, match=answer):
        check_agent(kind, crazy_eights)


# Programs that give games away


def failing(folder: Path) -> str:
    """Return an agent whose moves are all illegal."""
    path = PROGRAMS / "illegal_move.sh"
    return f"cmd:{path}"


def test_a_match_tells_of_forfeits(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = failing(folder)
    result = play_match(Match.plan("crazy_eights", ["random", spec], 4))
    assert [one.forfeits for one in result.standings] == [0, 4]
    assert result.standings[1].forfeit_reason == "illegal move: '9999' is not legal"
    show_match(result)
    said = capsys.readouterr().out
    assert f"{spec} forfeited 4 games; most frequent reason: illegal move: '9999'" in said
    assert f"cardlab check-agent {spec.removeprefix('cmd:')} --game crazy_eights" in said
    assert "random forfeited" not in said


def test_a_tournament_tells_why(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = failing(folder)
    plan = Plan.make("crazy_eights", ["random", spec], 4)
    with Store("games.db") as store:
        entered = enter(plan, store)
        played = play_tournament(plan, store, entered, workers=1).table()
        kept = play_tournament(plan, store, entered, workers=1).table()  # from the store alone
    assert played.lines[1].forfeits == 4
    assert [one.forfeit_reason for one in kept.lines] == [
        None,
        "illegal move: '9999' is not legal",
    ]
    show_standings(kept, "games.db", 0.0)
    assert f"{spec} forfeited 4 games; most frequent reason: " in capsys.readouterr().out


def test_the_usual_reason() -> None:
    assert usual_reason([]) is None
    reasons = ["crash: b", "time-out: 0.2 s", "time-out: 0.1 s"]
    assert usual_reason(reasons) == usual_reason(reasons[::-1]) == "time-out: 0.1 s"


def test_last_words_are_said_once(folder: Path) -> None:
    finding = check_program(f"{sys.executable} -m missing_module", "crazy_eights")[0]
    assert not finding.passed
    assert finding.fix.count("missing_module") == 1


# Stores that are not there


@pytest.mark.parametrize("address", ["none.db", "sqlite:///none.db"])
def test_reading_makes_no_store(folder: Path, address: str) -> None:
    with pytest.raises(CardlabError, match=r"store none.db does not exist; .*--store"):
        Store(address, read_only=True)
    assert not (folder / "none.db").exists()
    Store(address).close()
    with (
        Store(address, read_only=True) as store,  # now that it is there
        pytest.raises(CardlabError, match="holds no games"),
    ):
        leaderboards(store)
