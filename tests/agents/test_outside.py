"""Outside agents: the protocol, everything that they may do wrong, and what is left of them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from cardlab.agents import program as programs
from cardlab.agents.catalog import find_agent
from cardlab.agents.outside import (
    DEFAULT_LIMITS,
    PROTOCOL,
    AgentFailed,
    Limits,
    OutsideAgent,
    Program,
    dismiss_all,
)
from cardlab.agents.play import play_game
from cardlab.arena.compliance import Finding, check_program
from cardlab.arena.match import Match, play_match
from cardlab.arena.shard import Shard, play_deals
from cardlab.arena.store import Store
from cardlab.arena.tournament import Plan, enter, play_tournament
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Game
from cardlab.engine.play import Table
from cardlab.engine.records import Record
from cardlab.engine.replay import replay
from tests.support.paths import EXAMPLES, PROGRAMS
from tests.support.waiting import wait_until

if os.name != "posix":
    pytest.skip("outside agents need a POSIX system", allow_module_level=True)

SHELL = f"cmd:{EXAMPLES}/first_legal.sh"
PYTHON = f"cmd:{sys.executable} {EXAMPLES}/careful_agent.py"
ROOM = Limits(memory_mb=300)
QUICK = Limits(move_seconds=0.5, game_seconds=20, start_seconds=10, memory_mb=300)

# Every way to lose, and the word that the record gives as the reason.
LAST_LINE = "its last line of standard error"
MISBEHAVING = {
    "crash_at_start.sh": f"crash: it ended with code 3; {LAST_LINE}: no such model",
    "crash_in_mid_game.sh": f"crash: it ended with code 1; {LAST_LINE}: index out of range",
    "silence.sh": "time-out: no answer within 0.5 s",
    "garbage.sh": "garbage: b'I would like",
    "illegal_move.sh": "illegal move: '9999'",
    "flood.sh": "flood: it wrote more than one line",
    "slow.sh": "time-out: no answer within 0.5 s",
    "forks_a_child.sh": "crash: it ended with code 0",
    "hungry.py": "memory: it took more than 300 MB",
}


def below(pid: int) -> list[str]:
    """Return the commands of all processes that belong to this one, those in other sessions too."""
    rows = subprocess.run(
        ["ps", "-ww", "-e", "-o", "pid=", "-o", "ppid=", "-o", "args="],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    parents = {int(row.split()[0]): int(row.split()[1]) for row in rows}
    found = []
    for row in rows:
        one = int(row.split()[0])
        while one in parents and one != pid:
            one = parents[one]
        if one == pid and int(row.split()[0]) != pid and "ps -ww" not in row:
            found.append(row)
    return found


def soon_gone(mark: str) -> bool:
    """Return whether nothing runs under this name, now or soon: others may run the same tests."""
    return wait_until(lambda: not any(mark in row for row in below(1)), f"the end of {mark}")


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    yield
    dismiss_all()
    own_zombie = re.compile(rf"\s*\d+\s+{os.getpid()}\s.*defunct")
    left = [row for row in below(os.getpid()) if "supervisor.py" in row or own_zombie.match(row)]
    assert left == []
    assert soon_gone("cardlab-hidden-child")


@pytest.mark.slow
@pytest.mark.parametrize("spec", [SHELL, PYTHON])
def test_the_examples_play_whole_matches(spec: str) -> None:
    records: list[Record] = []
    result = play_match(
        Match.plan("crazy_eights", [spec, "random"], 8, seed=3), save=records.extend
    )
    assert result.games == 8
    for record in records:
        assert record.forfeit is None
        list(replay(record))


@pytest.mark.slow
def test_the_same_seed_gives_the_same_games() -> None:
    match = Match.plan("uno", [PYTHON, "random"], 4, seed=3)
    first, second = (play_deals(Shard(match, 0, 2, True)).games for _ in range(2))
    assert first == second


def test_two_seats_are_two_programs(crazy_eights: Game) -> None:
    agent = find_agent(SHELL, crazy_eights)
    record = play_game(crazy_eights, [agent, agent], seed=1)
    assert record.result
    assert len([row for row in below(os.getpid()) if "supervisor.py" in row]) == 2


@pytest.mark.slow
@pytest.mark.parametrize("name", MISBEHAVING)
def test_what_is_done_wrong_costs_the_game_and_no_more(name: str) -> None:
    spec = f"cmd:{PROGRAMS}/{name}"
    limits = QUICK if "time-out" in MISBEHAVING[name] else ROOM
    match = Match.plan("crazy_eights", [spec, "random"], 4, limits=limits, salt="a")
    records: list[Record] = []
    result = play_match(match, save=records.extend)
    assert result.standings[0].losses >= 3  # a game may be over before it has done its worst
    assert result.standings[0].wins == 0
    lost = [record for record in records if record.forfeit is not None]
    assert len(lost) >= 3
    for record in lost:
        seat = record.seats.index(spec)
        assert record.forfeit == seat
        assert record.note
        assert record.note.startswith(MISBEHAVING[name])
        assert record.result
        assert record.result.returns[seat] == -1
        assert record.result.returns[1 - seat] == 1
        list(replay(record))
        assert Record.from_line(record.to_line()) == record


@pytest.mark.slow
def test_a_tournament_of_misbehaving_agents_goes_on_to_its_end(tmp_path: Path) -> None:
    bad = [f"cmd:{PROGRAMS}/{name}" for name in MISBEHAVING]
    plan = Plan.make("crazy_eights", ["random", *bad], 2, format="gauntlet", limits=QUICK, salt="b")
    with Store(str(tmp_path / "a.db")) as store:
        results = play_tournament(plan, store, enter(plan, store), workers=1)
    table = results.table()
    assert table.games == table.planned == 2 * len(bad)
    for line in table.lines:
        if line.agent != "random":
            assert line.wins == 0
            assert line.forfeits >= 1


def test_a_forfeit_at_a_table_of_three_leaves_the_win_to_the_others() -> None:
    spec = f"cmd:{PROGRAMS}/garbage.sh"
    match = Match.plan(
        "crazy_eights", [spec, "random", "heuristic"], 3, limits=QUICK, options={"seats": 3}
    )
    result = play_deals(Shard(match, 0, 1, True))
    for one in result.games:
        assert one.forfeit == one.rotation
        assert one.returns[one.rotation] == -0.5
        assert sorted(one.returns) == [-0.5, 0.25, 0.25]


def test_an_agent_that_always_fails_is_not_asked_for_ever() -> None:
    spec = f"cmd:{PROGRAMS}/silence.sh"
    limits = Limits(move_seconds=0.1)
    match = Match.plan("crazy_eights", [spec, "random"], 40, limits=limits)
    result = play_deals(Shard(match, 0, 20, True))
    reasons = [one.reason or "" for one in result.games if one.forfeit is not None]
    assert sum(one.startswith("time-out") for one in reasons) == 5
    assert reasons[-1].startswith("not asked any more after 5 failures in a row (time-out")


def test_an_agent_that_does_not_start_is_not_asked_for_ever() -> None:
    match = Match.plan("crazy_eights", [f"cmd:{PROGRAMS}/crash_at_start.sh", "random"], 16)
    reasons = [one.reason or "" for one in play_deals(Shard(match, 0, 8, True)).games]
    assert sum(one.startswith("crash: it ended with code 3") for one in reasons) == 5
    assert reasons[-1].startswith("not asked any more")


def test_an_agent_that_plays_badly_is_asked_in_every_game() -> None:
    # Otherwise the games that its worker happens to have would decide about its table.
    match = Match.plan("crazy_eights", [f"cmd:{PROGRAMS}/illegal_move.sh", "random"], 16, salt="c")
    reasons = [one.reason for one in play_deals(Shard(match, 0, 8, True)).games if one.reason]
    assert len(reasons) > 10
    assert {one.partition(":")[0] for one in reasons} == {"illegal move"}


def test_last_words_of_any_bytes_are_kept(tmp_path: Path, store_address: str) -> None:
    program = tmp_path / "raw.sh"
    program.write_text("#!/bin/sh\nprintf 'bad\\000word \\033[31m\\377\\n' >&2\nexit 4\n")
    program.chmod(0o755)
    plan = Plan.make("crazy_eights", ["random", f"cmd:{program}"], 2)
    with Store(store_address) as store:
        entered = enter(plan, store)
        play_tournament(plan, store, entered)
        logs = {one.log for _, one in store.games(entered.id)}
    assert logs == {"bad\ufffdword \ufffd[31m\ufffd"}


def test_the_time_for_a_whole_game_is_limited() -> None:
    spec = f"cmd:{PROGRAMS}/slow.sh"
    limits = Limits(move_seconds=5, game_seconds=0.3)
    match = Match.plan("crazy_eights", [spec, "random"], 2, limits=limits)
    result = play_deals(Shard(match, 0, 1, True))
    assert all(
        (one.reason or "").startswith("time-out: no answer within 0.3") for one in result.games
    )


def test_standard_error_is_kept(tmp_path: Path) -> None:
    spec = f"cmd:{PROGRAMS}/crash_in_mid_game.sh"
    limits = Limits(log_folder=str(tmp_path / "logs"))
    match = Match.plan("crazy_eights", [spec, "random"], 2, limits=limits, salt="d")
    result = play_deals(Shard(match, 0, 1, True))
    assert {one.log for one in result.games if one.forfeit is not None} == {"index out of range"}
    logs = [path.read_text() for path in (tmp_path / "logs").iterdir()]
    assert "index out of range\n" in logs


def test_the_agents_see_nothing_but_their_seat(
    tmp_path: Path, crazy_eights: Game, monkeypatch: pytest.MonkeyPatch
) -> None:
    spy = tmp_path / "spy.sh"
    heard = tmp_path / "heard.jsonl"
    spy.write_text(
        (EXAMPLES / "first_legal.sh")
        .read_text()
        .replace("    case $line in", f"    printf '%s\\n' \"$line\" >>{heard}\n    case $line in")
    )
    spy.chmod(0o755)
    agents = [find_agent(spec, crazy_eights) for spec in (f"cmd:{spy}", "random")]
    play_game(crazy_eights, agents, seed=4)
    monkeypatch.setattr(programs, "GRACE", 60.0)  # what is said is tested, not when
    dismiss_all()
    messages = [json.loads(line) for line in heard.read_text().splitlines()]
    kinds = [one["type"] for one in messages]
    assert kinds[0] == "hello"
    assert kinds[-2:] == ["result", "bye"]
    assert set(kinds[1:-2]) == {"turn"}
    assert "deal" not in json.dumps(messages[0])
    for turn in messages[1:-2]:
        for zone in turn["view"]["zones"]:
            assert zone["seat"] != 1 or zone["cards"] == []
            assert zone["name"] != "stock" or zone["cards"] == []


@pytest.mark.parametrize(
    ("spec", "answer"),
    [
        ("cmd:", "names no program"),
        ("cmd:./no_such_program --flag", "program './no_such_program' does not exist"),
        ("cmd:'open", "is not a command"),
    ],
)
def test_commands_that_are_wrong(crazy_eights: Game, spec: str, answer: str) -> None:
    with pytest.raises(CardlabError, match=answer):
        find_agent(spec, crazy_eights)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["first_legal.sh", "careful_agent.py"])
def test_the_examples_comply(name: str) -> None:
    findings = check_program(f"{EXAMPLES}/{name}", "uno", options={"seats": 3}, games=1)
    assert [one.fix for one in findings if not one.passed] == []
    assert len(findings) == 8


def can_sandbox() -> bool:
    """Return whether this system lets a program make itself a sandbox."""
    if shutil.which("bwrap") is None:
        return False
    tried = subprocess.run(
        [f"{EXAMPLES}/sandboxed.sh", str(EXAMPLES), "true"], capture_output=True, check=False
    )
    return tried.returncode == 0


@pytest.mark.skipif(not can_sandbox(), reason="no bubblewrap here, or not allowed")
def test_a_sandboxed_program_plays_and_sees_nothing_else(tmp_path: Path) -> None:
    sandboxed = f"{EXAMPLES}/sandboxed.sh"
    found = check_program(f"{sandboxed} {EXAMPLES} sh first_legal.sh", "uno", games=1)
    assert [one.fix for one in found if not one.passed] == []
    (tmp_path / "mine").write_text("its own file")
    look = f"cat mine; ls {EXAMPLES} /etc /home; touch mine; echo $SECRET; cat /proc/net/route"
    told = subprocess.run(
        [sandboxed, str(tmp_path), "sh", "-c", look],
        env={**os.environ, "SECRET": "secret"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.stdout.split("\n", 1)[0].startswith("its own file")
    assert "secret" not in told.stdout
    assert len(told.stdout.split("Iface")[1].splitlines()) == 1, "no route leads anywhere"
    assert told.stderr.count("No such file or directory") == 3
    assert "Read-only file system" in told.stderr


@pytest.mark.parametrize(
    ("name", "failing", "fix"),
    [
        ("crash_at_start.sh", 0, "paste a hello line"),
        ("crash_in_mid_game.sh", 1, "it must answer every line"),
        ("silence.sh", 1, "flush standard output"),
        ("garbage.sh", 1, "one JSON object a line"),
        ("illegal_move.sh", 1, "one of the entries of legal"),
        ("flood.sh", 1, "exactly one line"),
        ("hungry.py", 1, "--limits memory=MB"),
    ],
)
def test_compliance_says_what_to_mend(name: str, failing: int, fix: str) -> None:
    limits = QUICK if name == "silence.sh" else ROOM
    findings = check_program(f"{PROGRAMS}/{name}", "crazy_eights", limits=limits)
    assert [one.passed for one in findings] == [True] * failing + [False]
    assert fix in findings[-1].fix


@pytest.mark.slow
def test_compliance_finds_what_is_random_and_what_stays(tmp_path: Path) -> None:
    program = tmp_path / "stays.py"
    text = (EXAMPLES / "careful_agent.py").read_text()
    careless = text.replace('rng.seed(message["seed"])', "rng.seed()")
    program.write_text(
        careless.replace(
            "return max(worth, key=worth.__getitem__)", "return rng.choice(list(worth))"
        )
    )
    program.chmod(0o755)
    findings = check_program(str(program), "koi_koi", limits=ROOM)
    assert "draw random numbers from the seed" in findings[-1].fix
    program.write_text(
        text.replace("            break", "            __import__('time').sleep(600)")
    )
    findings = check_program(str(program), "crazy_eights", limits=Limits(move_seconds=3))
    assert findings[-1].check == "ends by itself when it reads bye"
    assert not findings[-1].passed


def test_nothing_survives_the_death_of_its_worker(tmp_path: Path) -> None:
    program = tmp_path / "lonely_agent.sh"
    shutil.copy(PROGRAMS / "silence.sh", program)
    code = (
        "import sys, time\n"
        "from cardlab.agents.outside import Limits, Program\n"
        f"program = Program(['{program}'], Limits())\n"
        "program.exchange({'type': 'hello'}, 300)\n"
        "sys.stdout.write('up\\n'); sys.stdout.flush(); time.sleep(600)\n"
    )
    worker = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert worker.stdout
    assert worker.stdout.readline() == "up\n"
    assert any("lonely_agent.sh" in row for row in below(worker.pid))
    worker.kill()
    worker.wait()
    worker.stdout.close()
    assert soon_gone(str(program))


def test_a_program_that_does_not_read_is_a_time_out() -> None:
    program = Program([sys.executable, "-c", "import time; time.sleep(600)"], Limits())
    with pytest.raises(AgentFailed, match="did not read its input"):
        program.exchange({"type": "turn", "filler": "x" * 1_000_000}, 0.3)


def test_an_agent_goes_to_other_processes(crazy_eights: Game) -> None:
    import pickle

    agent = find_agent(SHELL, crazy_eights)
    copy = pickle.loads(pickle.dumps(agent))
    assert isinstance(copy, OutsideAgent)
    assert (copy.name, copy.limits) == (SHELL, Limits())


FIRST_LEGAL = str(EXAMPLES / "first_legal.sh")


posix_only = pytest.mark.skipif(sys.platform == "win32", reason="programs of POSIX systems")


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@posix_only
def test_a_program_from_hello_to_goodbye(crazy_eights: Game, tmp_path: Path) -> None:
    limits = Limits(log_folder=str(tmp_path / "logs"))
    assert limits.make_log_folder().is_dir()
    agent = OutsideAgent(f"cmd:{FIRST_LEGAL}", limits)
    hello = agent.hello(crazy_eights, crazy_eights.read_options({}), 0, 2, 5)
    assert hello["protocol"] == PROTOCOL == 1
    assert hello["move_seconds"] == DEFAULT_LIMITS.move_seconds
    for leave in (lambda one: one.dismiss(300.0), lambda one: one.hang_up(300.0)):
        program = Program(agent.command, limits)
        assert program.exchange(hello, 300)["type"] == "ready"
        program.notify({"type": "result", "returns": [0, 0], "points": [0, 0]})
        assert not program.has_more()
        assert leave(program), "it did not go by itself"
    turn = Table(crazy_eights, seed=1).turn()
    agent.begin(crazy_eights, crazy_eights.read_options({}), turn.seat, 2, rng())
    assert agent.act(turn, rng()) == turn.legal[0]
    agent.end(turn.seat, [0, 0], [0, 0])
    dismiss_all()


@posix_only
def test_findings_about_a_program() -> None:
    findings = check_program(FIRST_LEGAL, "crazy_eights", games=1)
    assert all(isinstance(one, Finding) and one.passed and not one.fix for one in findings)
    assert len({one.check for one in findings}) == len(findings) > 3
