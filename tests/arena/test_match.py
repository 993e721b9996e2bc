"""Matches and agents' names."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from cardlab.agents.catalog import find_agent
from cardlab.agents.searchers import UctOpen
from cardlab.arena.match import Match, MatchResult, Standing, play_match
from cardlab.arena.workers import Pool, default_workers, joined_cluster, stream_results
from cardlab.engine.errors import CardlabError, IllegalAction
from cardlab.engine.game import Game, Turn
from cardlab.engine.records import Record
from cardlab.engine.replay import replay


def without_time(match: Match, **settings: Any) -> dict[str, Any]:
    result = play_match(match, **settings).to_dict()
    result.pop("seconds")
    for one in result["standings"]:
        one.pop("milliseconds")
    return result


def test_the_result_depends_on_the_seed_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cardlab.arena.workers.WORTH_STARTING", 0.0)
    match = Match.plan("crazy_eights", ["monte_carlo:20", "random"], 60, seed=7)
    one = without_time(match, workers=1)
    monkeypatch.setattr("cardlab.arena.match.CHUNK_SECONDS", 0.001)
    assert without_time(match, workers=2) == one
    other = Match.plan("crazy_eights", ["monte_carlo:20", "random"], 60, seed=8)
    assert without_time(other) != one


def test_counts_add_up() -> None:
    result = play_match(Match.plan("crazy_eights", ["uct_open:20", "random"], 100, seed=1))
    first, second = result.standings
    assert result.games == 100
    assert first.wins + first.ties + first.losses == 100
    assert (first.wins, first.ties) == (second.losses, second.ties)
    assert first.score == pytest.approx((first.wins + first.ties / 2) / 100)
    assert first.score + second.score == pytest.approx(1)
    assert first.score_interval
    assert first.score_interval[0] < first.score < first.score_interval[1]


def test_three_seats_rotate() -> None:
    records: list[Record] = []
    match = Match.plan("crazy_eights", ["heuristic", "random"], 31, options={"seats": 3})
    result = play_match(match, save=records.extend)
    assert (result.deals, result.games, len(records)) == (11, 33, 33)
    seats = [record.seats.index("heuristic") for record in records]
    assert [seats.count(seat) for seat in range(3)] == [11, 11, 11]
    assert len({record.deals[0] for record in records}) == 11
    assert sum(one.wins for one in result.standings) == sum(
        bool(record.result and max(record.result.returns) > 0) for record in records
    )
    for record in records:
        list(replay(record))


def test_matches_are_planned_before_they_are_played() -> None:
    for agents, games, options, answer in [
        (["random", "heuristik"], 10, {}, "did you mean 'heuristic'"),
        (["random"], 10, {}, "crazy_eights needs 2 agents, got 1"),
        (["random"] * 3, 10, {}, "crazy_eights needs 2 agents, got 3"),
        (["random", "random"], 0, {}, "games must be at least 1, got 0"),
        (["random", "random"], -5, {}, "games must be at least 1, got -5"),
        (["random", "random"], 10, {"seats": 7}, "seats=7"),
    ]:
        with pytest.raises(CardlabError, match=answer):
            Match.plan("crazy_eights", agents, games, options=options)
    with pytest.raises(CardlabError, match="did you mean 'crazy_eights'"):
        Match.plan("crazy8s", ["random", "random"], 10)


@pytest.mark.parametrize(
    ("spec", "simulations", "c"),
    [
        ("uct_open", 1000, 1.4),
        ("uct_open:50", 50, 1.4),
        ("uct_open:c=0.5", 1000, 0.5),
        ("uct_open:50,c=0.5", 50, 0.5),
        ("uct_open:c=0.5,simulations=7", 7, 0.5),
    ],
)
def test_the_grammar_of_agents(crazy_eights: Game, spec: str, simulations: int, c: float) -> None:
    agent = find_agent(spec, crazy_eights)
    assert isinstance(agent, UctOpen)
    assert (agent.simulations, agent.c) == (simulations, c)


@pytest.mark.parametrize(
    ("spec", "answer"),
    [
        ("uct_opn", "did you mean 'uct_open'"),
        ("nobody", "known: alpha_beta_points_open, .*, random, tabular_q, uct_open"),
        ("uct_open:-5", "a whole number from 1"),
        ("uct_open:0", "from 1 to"),
        ("uct_open:many", "a whole number"),
        ("uct_open:c=nan", "a number from 0"),
        ("uct_open:5,6", "'6' in agent"),
        ("uct_open:5,simulations=6", "sets simulations twice"),
        ("uct_open:depth=6", "unknown parameter of uct_open 'depth'"),
        ("random:5", "takes no parameters"),
        ("no.such.module:THING", "cannot be imported"),
        ("agents_from_outside:Missing", "no installed module agents_from_outside"),
        ("random_agents", "did you mean 'random'"),
        ("single:Missing", "has no 'Missing'"),
        ("outside.agents:Missing", "has no 'Missing'"),
        ("outside.agents:Cheat", "must end in '_open'"),
        ("outside.agents:LowestCard:high=1", "cannot be made"),
        ("outside.agents:number", "of type int, has no name"),
        ("outside.broken:Thing", "ZeroDivisionError"),
        ("outside.agents:fail", r"cannot be made .outside/agents.py, line \d+: ValueError: never"),
        (".x:y", "does not name an object"),
        ("outside.agents", "does not name an object"),
    ],
)
def test_names_that_are_wrong(crazy_eights: Game, spec: str, answer: str, outside: None) -> None:
    with pytest.raises(CardlabError, match=answer):
        find_agent(spec, crazy_eights)


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package of agents in the working folder."""
    package = tmp_path / "outside"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "agents.py").write_text(
        "class LowestCard:\n"
        "    name = 'lowest'\n"
        "    def __init__(self, skip=0): self.skip = skip\n"
        "    def act(self, turn, rng): return int(turn.legal[self.skip % len(turn.legal)])\n"
        "class Cheat:\n"
        "    name = 'honest'\n"
        "    def act_open(self, state, rng): return int(state.legal()[0])\n"
        "ready = LowestCard()\n"
        "def fail(): raise ValueError('never')\n"
        "class Wrong(LowestCard):\n"
        "    answer = None\n"
        "    def __init__(self, kind=0): self.kind = kind\n"
        "    def act(self, turn, rng):\n"
        "        return [None, float(turn.legal[0]), 'draw', 65, -1][self.kind]\n"
        "number = 5\n"
    )
    (package / "broken.py").write_text("1 / 0\n")
    (tmp_path / "single.py").write_text("from outside.agents import *\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in [one for one in sys.modules if one.startswith(("outside", "single"))]:
        monkeypatch.delitem(sys.modules, name)


@pytest.mark.parametrize("module", ["outside.agents", "single"])
@pytest.mark.parametrize("name", ["LowestCard", "LowestCard:skip=1", "ready"])
def test_agents_from_outside(module: str, name: str, outside: None) -> None:
    result = play_match(Match.plan("crazy_eights", [f"{module}:{name}", "random"], 20))
    assert result.standings[0].agent == f"{module}:{name}"
    assert result.games == 20


@pytest.mark.parametrize("kind", range(5))
def test_an_agent_that_answers_nonsense_is_named(kind: int, outside: None) -> None:
    spec = f"outside.agents:Wrong:kind={kind}"
    with pytest.raises(IllegalAction, match=r"agent 'outside.agents:Wrong.* legal action ids"):
        play_match(Match.plan("crazy_eights", [spec, "random"], 4))


class Curious:
    """An agent that looks for other views behind its own."""

    name = "curious"
    most = 0

    def act(self, turn: Turn, rng: Any) -> int:
        base = turn.view.array.base
        Curious.most = max(Curious.most, 1 if base is None else len(base))
        return int(turn.legal[0])


def test_a_view_lies_alone_in_its_memory() -> None:
    options = {"optional_draw": True}
    play_match(Match.plan("crazy_eights", [f"{__name__}:Curious", "random"], 12, 0, options))
    assert Curious.most == 1


def die(number: int) -> int:
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


@pytest.mark.slow
def test_a_worker_that_dies_is_reported() -> None:
    with pytest.raises(CardlabError, match="a worker process ended unexpectedly"):
        list(stream_results(die, list(range(8)), workers=2))


def manners() -> tuple[Any, bool]:
    return (
        signal.getsignal(signal.SIGINT),
        signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []),
    )


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX systems")
def test_workers_leave_ctrl_c_alone_and_nobody_else_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NUMBA_NUM_THREADS", raising=False)
    here = manners()
    with Pool(1) as pool:
        assert pool.submit(manners).result() == (signal.SIG_IGN, False)
        assert pool.submit(os.getenv, "NUMBA_NUM_THREADS").result() == "1"
    assert manners() == here


SIGNALS = (signal.SIGINT, signal.SIGTERM)


@pytest.fixture
def stopped_by_both() -> Iterator[None]:
    """Ctrl-C and SIGTERM stop this process, as they do a command of ours."""

    def stop(number: int, _: Any) -> None:
        raise KeyboardInterrupt(number)

    before = {one: signal.signal(one, stop) for one in SIGNALS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX systems")
def test_ctrl_c_waits_until_a_worker_is_started(
    monkeypatch: pytest.MonkeyPatch, stopped_by_both: None
) -> None:
    begun: list[str] = []

    def start(*_: Any) -> None:
        for number in SIGNALS:
            os.kill(os.getpid(), number)
        begun.append("whole")

    monkeypatch.setattr(ProcessPoolExecutor, "submit", start)
    with Pool(1) as pool, pytest.raises(KeyboardInterrupt):
        pool.submit(abs, -1)
    assert begun == ["whole"]


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX systems")
@pytest.mark.parametrize("moment", range(1, 5))
@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_at_a_bad_moment_leaves_none_unheard(
    moment: int, number: signal.Signals, monkeypatch: pytest.MonkeyPatch, stopped_by_both: None
) -> None:
    calls, change = [0], signal.signal

    def disturbed(*args: Any) -> Any:
        told = change(*args)
        calls[0] += 1
        if calls[0] == moment:
            os.kill(os.getpid(), number)
        return told

    monkeypatch.setattr(ProcessPoolExecutor, "submit", lambda *_: None)
    with Pool(1) as pool:
        with monkeypatch.context() as patched:
            patched.setattr(signal, "signal", disturbed)
            with pytest.raises(KeyboardInterrupt):
                pool.submit(abs, -1)
        assert not manners()[1]
        for one in SIGNALS:
            with pytest.raises(KeyboardInterrupt, match=str(int(one))):
                os.kill(os.getpid(), one)


def test_results_stream_from_processes() -> None:
    assert sorted(stream_results(abs, list(range(-9, 0)), workers=2)) == list(range(1, 10))


def die_once(task: tuple[Path, int]) -> int:
    mark, number = task
    if number == 3 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number


@pytest.mark.slow
def test_what_a_killed_worker_had_is_done_again(tmp_path: Path) -> None:
    tasks = ((tmp_path / "mark", number) for number in range(12))
    assert sorted(stream_results(die_once, tasks, workers=2)) == list(range(12))
    assert (tmp_path / "mark").exists()


def test_tasks_are_shaped_by_the_answers_so_far() -> None:
    seen: list[int] = []

    def tasks() -> Iterator[int]:
        for number in range(20):
            yield number + 100 * len(seen)

    for answer in stream_results(abs, tasks(), workers=1):
        seen += [answer]
    assert seen == [number * 101 for number in range(20)]


def test_short_work_starts_no_process() -> None:
    here = list(stream_results(process_of, range(5), workers=2, alone=60.0))
    assert set(here) == {os.getpid()}
    away = list(stream_results(process_of, range(5), workers=2))
    assert os.getpid() not in away


def process_of(_: int) -> int:
    return os.getpid()


def test_places_rotations_and_seeds_of_a_match(crazy_eights: Game) -> None:
    match = Match.plan("crazy_eights", ["random", "heuristic"], 8, 7, {"seats": 4})
    assert match.lineup == (0, 1, 1, 1)  # the last one fills the seats
    assert match.rotations == (0, 1, 2, 3)
    paired = Match("crazy_eights", match.agents, 2, 7, match.options, places=(0, 1, 0, 1))
    assert paired.rotations == (0, 1)
    assert match.game_seed(0) != match.game_seed(1)
    result = play_match(match)
    assert isinstance(result, MatchResult)
    first = result.standings[0]
    assert isinstance(first, Standing)
    assert first.wins + first.losses + first.ties == result.games == 8


def test_work_at_home() -> None:
    assert default_workers() >= 1
    with joined_cluster(None):  # of none: Ray is not even imported
        pass
