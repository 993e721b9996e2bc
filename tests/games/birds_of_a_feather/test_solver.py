"""The solver of Birds of a Feather: against plain searches and the rules, and as a command."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from cardlab.agents.catalog import find_agent
from cardlab.agents.heuristic import Heuristic
from cardlab.agents.play import play_game
from cardlab.engine.cards import card_text
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import HasValues, PlansAhead, State, Turn
from cardlab.engine.kernel import JIT
from cardlab.engine.play import Table
from cardlab.engine.registry import find_game
from cardlab.engine.replay import replay
from cardlab.games.birds_of_a_feather import census as birds_census
from cardlab.games.birds_of_a_feather import rules
from cardlab.games.birds_of_a_feather.agents.solver import Solver
from cardlab.games.birds_of_a_feather.census import Census, Rows, parse_range, take_census
from cardlab.games.birds_of_a_feather.solvers.solver import (
    FALLS_APART,
    MOST_EMPTY,
    NODES,
    Scratch,
    key_of,
    move_cards,
    move_names,
    set_up,
    settle_at,
    solve,
    solve_seeds,
)
from cardlab.games.birds_of_a_feather.terminal import show_census
from cardlab.testing import random_table, retrace
from tests.support import plain_birds_search

GAME = rules.GAME
MANY = 300 if JIT else 5
EXHAUSTED = (1163, 6727)  # unsolvable, though the cards of the deal hang together
compiled_only = pytest.mark.skipif(not JIT, reason="too many nodes to interpret")


def at(position: str) -> State:
    """Return a game that stands as `position` says."""
    return State(GAME, rules.parse_position(position))


def solves(state: State, actions: tuple[int, ...] | None) -> bool:
    """Play actions with every one checked, and return whether one stack is left."""
    assert actions is not None
    state = state.copy()
    for action in actions:
        assert action in state.legal()
        GAME.bindings.apply(state.array, 0, action)
    return state.returns() == [1]


@cache
def can_be_solved(position: str) -> bool:
    """Return the truth about a small position, by trying everything."""
    state = at(position)
    if state.plies == rules.MOST_MOVES:
        return True
    for action in state.legal():
        after = state.copy()
        GAME.bindings.apply(after.array, 0, int(action))
        if can_be_solved(rules.position_text(after.array[0])):
            return True
    return False


def settle(state: State, memory: Scratch) -> bool:
    return bool(settle_at(state.array, 0, memory))


# Verdicts


@compiled_only
def test_the_first_ten_thousand_deals() -> None:
    # Facts: 24 of the seeds 0..9999 are unsolvable.
    solvable, nodes, disconnected = solve_seeds(0, 10_000)
    assert np.count_nonzero(~solvable) == 24
    assert set(np.flatnonzero(~solvable & ~disconnected)) == set(EXHAUSTED)
    assert not np.any(solvable & disconnected)
    assert nodes[solvable].min() == 16
    assert np.median(nodes) == 16


@compiled_only
def test_verdicts_are_those_of_a_plain_search() -> None:
    for seeds in (range(400), range(-200, 0), range(1150, 1170), range(6720, 6730)):
        plain, _ = plain_birds_search.decide(seeds, guided=True, bits=20)
        solvable, _, _ = solve_seeds(seeds.start, len(seeds))
        assert solvable.tolist() == (plain == plain_birds_search.SOLVED).tolist()


def test_solutions_obey_the_rules() -> None:
    solvable, nodes, disconnected = solve_seeds(0, MANY)
    for seed in range(MANY):
        table = Table(GAME, seed=seed)
        solution = solve(table.state)
        assert (solution.actions is not None) == solvable[seed]
        assert solution.nodes == nodes[seed]
        if solution.actions is None:
            assert solution.proof
            assert ("group" in solution.proof) == disconnected[seed]
            continue
        assert solution.proof is None
        for action in solution.actions:
            table.act(action)
        assert table.state.returns() == [1]
        assert len(table.actions) == 15


def test_positions_in_the_middle_of_a_game() -> None:
    verdicts = []
    for seed in range(MANY):
        for table in retrace(random_table(GAME, {}, seed)):
            state = table.state
            if state.plies < 9:
                continue
            solution = solve(state)
            truth = can_be_solved(rules.position_text(state.array[0]))
            verdicts.append(truth)
            assert (solution.actions is not None) == truth, rules.position_text(state.array[0])
            if truth:
                assert solves(state, solution.actions)
    assert {True, False} <= set(verdicts) or not JIT


def test_a_solution_goes_on_from_each_of_its_positions() -> None:
    table = Table(GAME, seed=104 if JIT else 0)
    for action in solve(table.state).actions or ():
        table.act(action)
        assert solves(table.state, solve(table.state).actions)
    assert table.over


def test_a_solved_position_needs_no_moves() -> None:
    solution = solve(at("--" * 5 + "7D" + "--" * 10))
    assert (solution.actions, solution.nodes, solution.proof) == ((), 1, None)


def test_nothing_is_dealt() -> None:
    with pytest.raises(CardlabError, match="nothing is dealt yet"):
        solve(GAME.start())


# Proofs


def test_separated_cards_are_named() -> None:
    # Facts: seed 10 is 5S5H6H6S5D4D2HJHKD2SQD2DAS9C3SJD, in which nothing fits the nine of clubs.
    solution = solve(Table(GAME, seed=10).state)
    assert (solution.actions, solution.nodes) == (None, 1)
    assert solution.proof is not None
    assert solution.proof.endswith("5D 4D 2H JH KD 2S QD 2D AS 3S JD | 9C")


@compiled_only
def test_the_groups_of_a_proof_are_real() -> None:
    _, _, disconnected = solve_seeds(0, 10_000)
    for seed in np.flatnonzero(disconnected).tolist():
        state = Table(GAME, seed=seed).state
        proof = solve(state).proof
        assert proof is not None
        groups = [text.split() for text in proof.partition(": ")[2].split(" | ")]
        assert len(groups) > 1
        dealt = [card_text(int(card)) for card in state.tops]
        assert sorted(card for group in groups for card in group) == sorted(dealt)
        for one, other in ((a, b) for a in groups for b in groups if a is not b):
            for card, another in ((c, d) for c in one for d in other):
                pair = GAME.parse_card(card), GAME.parse_card(another)
                assert not rules.birds_of_a_feather(*pair)


@compiled_only
def test_the_others_are_refuted_line_by_line() -> None:
    for seed in EXHAUSTED:
        proof = solve(Table(GAME, seed=seed).state).proof
        assert proof is not None
        assert proof.startswith("every line of play is refuted, in ")


@pytest.mark.parametrize(
    ("position", "proof"),
    [
        ("KHQC--------KC" + "--" * 9, "shares a row or column with a stack of another: A1 A2 | B3"),
        ("KS5D----" + "--KH4S--" + "--" * 8, "no stack can move"),
        ("KH2C--KC" + "--" * 11 + "2D", "every move leaves stacks that can never come together"),
    ],
)
def test_why_a_position_is_lost(position: str, proof: str) -> None:
    solution = solve(at(position))
    assert solution.actions is None
    assert not can_be_solved(position)
    assert solution.proof is not None
    assert proof in solution.proof


# Scratch


def test_keys_tell_all_positions_apart() -> None:
    levels = Scratch.new(4).levels
    by_key: dict[int, tuple[int, ...]] = {}
    keys: dict[tuple[int, ...], int] = {}
    rng = np.random.default_rng(0)
    for _ in range(MANY):
        table = Table(GAME, seed=0)
        set_up(levels[0], table.state.array["tops"][0])
        while not table.over:
            action = int(rng.choice(table.state.legal()))
            start, end = rules.MOVES[action]
            move_names(levels[0], levels[1], start, end)
            move_cards(levels[0], levels[1], start, end)
            levels[0] = levels[1]
            table.act(action)
            tops = tuple(int(top) for top in table.state.tops)
            key = int(key_of(levels[0]))
            assert (key != 0) == (2 <= len(table.actions) <= MOST_EMPTY)
            if key:
                assert by_key.setdefault(key, tops) == tops
                assert keys.setdefault(tops, key) == key
            fits = rules.FITS[list(tops)][:, None] >> np.array(tops) & 1
            assert levels[0].fits.tolist() == (fits << np.arange(16)).sum(axis=1).tolist()


@compiled_only
def test_a_table_that_is_too_small_costs_time_but_no_truth() -> None:
    small, large = Scratch.new(12), Scratch.new(20)
    for seed in (0, 104, 6727):
        state = Table(GAME, seed=seed).state
        assert settle(state, small) == settle(state, large) == (seed != 6727)
    assert small.report[NODES] > large.report[NODES]


def test_memory_carries_nothing_over() -> None:
    used = Scratch.new()
    for seed in range(MANY // 5):
        state = Table(GAME, seed=seed).state
        fresh = Scratch.new()
        assert settle(state, used) == settle(state, fresh)
        assert used.report.tolist() == fresh.report.tolist()
        assert (
            used.levels["move"][:15].tolist() == fresh.levels["move"][:15].tolist()
            or (fresh.report[FALLS_APART])
        )


# The agent


def test_the_agent_solves_what_can_be_solved() -> None:
    solvable, _, _ = solve_seeds(0, MANY // 5)
    for seed in range(MANY // 5):
        result = play_game(GAME, [Solver()], seed=seed).result
        assert result is not None
        assert result.returns == [1 if solvable[seed] else -1]


def test_hints_are_the_truth_about_every_move() -> None:
    agent = Solver()
    assert isinstance(agent, HasValues)
    rng = np.random.default_rng(0)
    seen = set()
    for seed in range(MANY // 10):
        for table in replay(play_game(GAME, [Solver()], seed=seed)):
            state = table.state
            if table.over or state.plies < 10:
                continue
            turn = Turn(GAME, 0, state.view(0), state.legal())
            values = agent.values(turn, rng)
            for action, value in zip(turn.legal, values, strict=True):
                after = state.copy()
                GAME.bindings.apply(after.array, 0, int(action))
                truth = can_be_solved(rules.position_text(after.array[0]))
                assert value == (1 if truth else -1)
                seen.add(truth)
            assert values[turn.legal.tolist().index(agent.act(turn, rng))] == values.max()
    assert seen == {True, False} or not JIT


def test_where_nothing_can_be_solved_the_rules_of_thumb_choose() -> None:
    state = Table(GAME, seed=10).state
    turn = Turn(GAME, 0, state.view(0), state.legal())
    rng = np.random.default_rng(0)
    assert set(Solver().values(turn, rng)) == {-1}
    assert Solver().act(turn, rng) == Heuristic().act(turn, rng)


# The census


def test_ranges() -> None:
    assert parse_range("0:10000") == range(10_000)
    assert parse_range("-5:3") == range(-5, 3)
    for text in ("", "5", "a:b", "1:2:3", "0:1.5", ":", "3:3", "5:1", f"0:{1 << 63}"):
        with pytest.raises(CardlabError):
            parse_range(text)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_census_can_be_stopped_and_extended(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(birds_census, "CHUNK", 3)
    whole, pieces = tmp_path / f"whole.{ending}", tmp_path / f"pieces.{ending}"
    expected = take_census(range(-2, 9), out=whole)
    assert expected.added == 11
    assert expected.rows.seed.tolist() == list(range(-2, 9))

    class Stop(Exception):
        pass

    def stop(done: int, total: int) -> None:
        if done == 6:
            raise Stop

    with pytest.raises(Stop):
        take_census(range(-2, 9), out=pieces, progress=stop)
    again = take_census(range(-2, 9), out=pieces)
    assert again.added == 5
    assert pieces.read_bytes() == whole.read_bytes()
    assert take_census(range(-2, 9), out=pieces).added == 0
    assert [len(one) for one in (expected.rows, again.rows)] == [11, 11]
    more = take_census(range(-2, 12), out=pieces)
    assert (more.added, len(more.rows)) == (3, 14)
    assert more.to_dict()["nodes"] == take_census(range(-2, 12)).to_dict()["nodes"]
    assert sorted(path.name for path in tmp_path.iterdir()) == [pieces.name, whole.name]
    for other in (range(5), range(-2, 5), range(-1, 20)):
        with pytest.raises(CardlabError, match="is no beginning of"):
            take_census(other, out=pieces)


def test_files_that_are_no_census(tmp_path: Path) -> None:
    for name, content in [
        ("a.csv", "seed,colour\n1,red\n"),
        ("b.csv", "a line that is not finished"),
        ("c.csv", "seed,solvable,nodes,disconnected\n0,yes,16,no\n"),
        ("d.parquet", "text"),
    ]:
        path = tmp_path / name
        path.write_text(content)
        with pytest.raises(CardlabError, match="is not a census"):
            take_census(range(3), out=path)
        assert path.read_text() == content
    with pytest.raises(CardlabError, match="neither"):
        take_census(range(3), out=tmp_path / "rows.txt")
    with pytest.raises(CardlabError, match="cannot be written"):
        take_census(range(3), out=tmp_path / "missing" / "rows.csv")


def test_without_pyarrow_a_sentence_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(CardlabError, match=r"pip install 'cardlab\[papers\]'"):
        take_census(range(3), out=tmp_path / "rows.parquet")


# The command, in real processes


SOLVE = [sys.executable, "-m", "cardlab.cli", "solve", "birds_of_a_feather"]


def command(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*SOLVE, *args],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "COLUMNS": "100", "PYTHONIOENCODING": "utf-8"},
        check=False,
    )


def succeed(*args: str) -> str:
    answer = command(*args)
    assert answer.returncode == 0, answer.stderr
    return answer.stdout


def test_a_solution_in_pictures() -> None:
    shown = succeed("--seed", "123")
    assert "Solved in 15 moves (16 nodes, " in shown
    assert "at the start" in shown
    assert " 1 3♣ from B4 onto 3♠ in B1" in shown
    assert "10♣ 8♣  5♦  4♣" in shown
    assert "15 " in shown


def test_a_solution_as_json_can_be_played() -> None:
    position = rules.position_text(Table(GAME, seed=-7).state.array[0])
    told = json.loads(succeed("--deal", position, "--json"))
    assert (told["solvable"], told["proof"], told["position"]) == (True, None, position)
    table = Table(GAME, seed=-7)
    for move in told["moves"]:
        start, end = rules.MOVES[move["action"]]
        cards = [card_text(int(table.state.tops[cell])) for cell in (start, end)]
        cells = [rules.cell_text(cell) for cell in (start, end)]
        assert move["words"] == f"{cards[0]} from {cells[0]} onto {cards[1]} in {cells[1]}"
        assert rules.parse_action(move["text"]) == move["action"]
        table.act(move["action"])
    assert table.state.returns() == [1]


def test_a_position_and_a_proof() -> None:
    assert "Solved in 2 moves (3 nodes" in succeed("--deal", "KH QC 5C --" + " --" * 12)
    shown = succeed("--seed=10")
    assert "There is no solution: no card of one group ever fits a card of another" in shown
    assert "| 9♣" in shown.replace("\n", " ")


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        ([], "give one of --seed, --deal and --seeds"),
        (["--seed", "1", "--seeds", "0:5"], "give one of --seed, --deal and --seeds"),
        (["--deal", "THTH"], "the deal has 2 cards"),
        (["--deal", "KH--"], "the position has 2 cells"),
        (["--seeds", "5:1"], "--seeds 5:1 holds no seed"),
        (["--seed", "1", "--out", "rows.csv"], "--out keeps the rows of a range"),
    ],
)
def test_a_mistake_is_one_sentence(args: list[str], sentence: str) -> None:
    answer = command(*args)
    assert answer.returncode == 2
    assert sentence in answer.stderr
    assert len(answer.stderr.splitlines()) == 1
    assert answer.stdout == ""


def test_a_summary_of_a_range() -> None:
    shown = " ".join(succeed("--seeds=-20:20").split())
    solvable, nodes, disconnected = solve_seeds(-20, 40)
    assert f"40 seeds, {np.count_nonzero(~solvable)} unsolvable, because no moves" in shown
    assert f"most {nodes.max():,}" in shown
    told = take_census(range(-20, 20)).to_dict()
    assert told["disconnected"] == np.count_nonzero(disconnected)
    assert told["hardest"][0]["nodes"] == nodes.max()
    assert len(told["hardest"]) == 10


@pytest.mark.parametrize(
    ("seeds", "unsolvable", "disconnected", "words"),
    [
        (1, 0, 0, "1 seed, solvable; nodes:"),
        (1, 1, 1, "1 seed, 1 unsolvable, because no moves connect all the cards; nodes:"),
        (5, 0, 0, "all 5 solvable; nodes:"),
        (5, 3, 0, "5 seeds, 3 unsolvable; nodes:"),
        (
            5,
            3,
            2,
            "5 seeds, 3 unsolvable, 2 of them because no moves connect all the cards; nodes:",
        ),
        (5, 3, 3, "5 seeds, 3 unsolvable, because no moves connect all the cards; nodes:"),
    ],
)
def test_a_summary_says_plainly_how_many_seeds_are_solvable(
    seeds: int, unsolvable: int, disconnected: int, words: str
) -> None:
    number = np.arange(seeds)
    rows = Rows(number, number >= unsolvable, number + 17, number < disconnected)
    shown = io.StringIO()
    show_census(Census(rows, 0, 0.0), Console(file=shown, width=200))
    assert words in shown.getvalue()


DIES = """
import os, signal, sys
from pathlib import Path
from cardlab.games.birds_of_a_feather.census import Census, Rows, parse_range, take_census

def progress(done, total):
    if done == 10_000:
        os.kill(os.getpid(), signal.SIGKILL)

take_census(parse_range(sys.argv[1]), out=Path(sys.argv[2]), progress=progress)
"""


@pytest.mark.slow
@compiled_only
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_killed_census_goes_on(ending: str, tmp_path: Path) -> None:
    seeds = "20000:45000"
    killed, whole = tmp_path / f"killed.{ending}", tmp_path / f"whole.{ending}"
    died = subprocess.run([sys.executable, "-c", DIES, seeds, str(killed)], check=False)
    assert died.returncode == -signal.SIGKILL
    parts = tmp_path / "killed.parquet.parts"
    if ending == "csv":
        with killed.open("a") as file:
            file.write("12")  # a line torn in the middle
    else:
        (parts / "unfinished").write_bytes(b"PAR1")
    take_census(parse_range(seeds), out=whole)
    told = json.loads(succeed("--seeds", seeds, "--out", str(killed), "--json"))
    assert (told["added"], told["seeds"]) == (15_000, 25_000)
    assert killed.read_bytes() == whole.read_bytes()
    assert not parts.exists()


def test_hints_at_the_table() -> None:
    args = [*SOLVE[:-2], "play", "birds_of_a_feather", "--seed", "0", "--adviser", "solver"]
    answer = subprocess.run(
        args, input="h\nq\n", capture_output=True, encoding="utf-8", check=False
    )
    assert answer.returncode == 0, answer.stderr
    assert "hint by solver: the expected score of each choice" in answer.stdout
    assert "100%" in answer.stdout


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_a_plan_to_the_end_is_as_good_as_move_by_move() -> None:
    game = find_game("birds_of_a_feather")
    solver = find_agent("solver", game)
    assert isinstance(solver, PlansAhead)
    table = Table(game, seed=123)
    actions, nodes = solver.plan(table.turn(), rng())
    assert nodes > 0
    for action in actions:
        table.act(action)
    assert table.over
    assert table.record(["solver"]).result == play_game(game, [solver], seed=123).result
