"""The play solved against plain minimax, guesses against what is possible, the expert at work."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cardlab.agents.catalog import find_agent
from cardlab.engine.cards import cards_in
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Game, State, Turn
from cardlab.engine.kernel import JIT
from cardlab.engine.play import Table
from cardlab.engine.registry import find_game
from cardlab.games.cribbage import PACKAGE
from cardlab.games.cribbage.agents.expert import CribbageExpert, laying_of
from cardlab.games.cribbage.learning import discards as cribbage_tosses
from cardlab.games.cribbage.learning import pegging_statistics as cribbage_pegging
from cardlab.games.cribbage.learning import win_probability as cribbage_winning
from cardlab.games.cribbage.rules import LAY_AWAY, PLAY
from cardlab.games.cribbage.solvers.advice import advise
from cardlab.games.cribbage.solvers.knowledge import SHAPES, load_knowledge, shipped_knowledge
from cardlab.games.cribbage.solvers.pegging import (
    FIRST,
    GUESSES,
    PeggingScratch,
    solve,
    weigh_guesses,
)
from cardlab.testing import random_table, retrace
from tests.support.reference_cribbage import play_points

compiled = pytest.mark.skipif(not JIT, reason="too much to interpret")


@pytest.fixture(scope="module")
def cribbage() -> Game:
    return find_game("cribbage")


def quiet(*_: Any) -> None:
    pass


def tally_of(pile: Sequence[int]) -> int:
    return sum(min(rank + 1, 10) for rank in pile)


def plain_value(hands: tuple[tuple[int, ...], ...], pile: tuple[int, ...], seat: int) -> int:
    """Return the points of seat 0 less those of seat 1 if both play their best, by minimax."""
    found = plain_values(hands, pile, seat)
    return max(found.values()) if seat == 0 else min(found.values())


@functools.cache
def plain_values(
    hands: tuple[tuple[int, ...], ...], pile: tuple[int, ...], seat: int
) -> dict[int, int]:
    """Return what every rank that `seat` can play comes to."""
    sign = 1 if seat == 0 else -1
    found = {}
    for rank in set(hands[seat]):
        after = (*pile, rank)
        if tally_of(after) > 31:
            continue
        left = list(hands[seat])
        left.remove(rank)
        rest = (tuple(left), hands[1]) if seat == 0 else (hands[0], tuple(left))
        points = play_points([4 * one for one in after])
        turn = 1 - seat
        able = [any(tally_of((*after, one)) <= 31 for one in hand) for hand in rest]
        if tally_of(after) == 31 or not any(able):
            points += tally_of(after) != 31
            after = ()
            able = [bool(hand) for hand in rest]
        if not able[turn]:
            turn = seat
        found[rank] = sign * points + (plain_value(rest, after, turn) if any(rest) else 0)
    return found


@pytest.mark.parametrize("seed", range(60 if JIT else 3))
def test_the_play_is_solved_as_by_plain_minimax(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = [(3, 3), (2, 3), (4, 3), (3, 2), (1, 4), (4, 4)][seed % 6] if JIT else (2, 2)
    cards = rng.choice(52, sum(sizes) + 3, replace=False)
    ranks = [int(card) // 4 for card in cards]
    own, other = tuple(ranks[: sizes[0]]), tuple(ranks[sizes[0] : sum(sizes)])
    pile = tuple(ranks[sum(sizes) :][: seed % 4])
    while not any(tally_of((*pile, rank)) <= 31 for rank in own):
        pile = pile[:-1]
    series = 0
    for rank in pile:
        series = series << 4 | rank + 1
    assert solve(own, other, series=series, tally=tally_of(pile)) == plain_values(
        (own, other), pile, 0
    )


def plays_of(game: Game, seeds: range) -> list[State]:
    return [
        table.state.copy()
        for seed in seeds
        for table in retrace(random_table(game, {}, seed))
        if table.mover >= 0 and table.state.array[0].phase == PLAY
    ]


def test_guesses_are_hands_that_are_possible(cribbage: Game) -> None:
    known, work = shipped_knowledge(), PeggingScratch.new()
    for state in plays_of(cribbage, range(2 if JIT else 1))[:: 1 if JIT else 20]:
        view, seat = state.view(state.mover), state.mover
        s, other = view.array[0], 1 - state.mover
        size = int(s.sizes[other])
        if size == 0:
            continue
        total = weigh_guesses(s, seat, known.keeps[int(s.dealer == other)], work)
        weights = work.weights[: FIRST[size + 1] - FIRST[size]]
        assert weights.sum() == pytest.approx(total)
        guesses = GUESSES[FIRST[size] : FIRST[size + 1], :size].tolist()
        truth = sorted(card // 4 for card in range(52) if int(state.hands[other]) >> card & 1)
        assert weights[guesses.index(truth)] > 0, "the true hand was ruled out"
        seen = int(s.hands[seat] | s.laid[seat] | s.played[0] | s.played[1]) | 1 << int(s.starter)
        left = [4 - (seen >> 4 * rank & 15).bit_count() for rank in range(13)]
        for guess, weight in zip(guesses, weights, strict=True):
            possible = all(guess.count(rank) <= left[rank] for rank in guess)
            possible &= all(min(rank + 1, 10) > s.floors[other] for rank in guess)
            assert (weight > 0) == possible


@compiled
def test_a_pair_passed_over_makes_a_guess_less_likely(cribbage: Game) -> None:
    for state in plays_of(cribbage, range(40)):
        s = state.array[0]
        if s.play_count == 2 and s.tally:
            first, second = (int(card) & 63 for card in s.plays[:2])
            if first // 4 != second // 4 and s.tally != 15:
                break
    seat, work = state.mover, PeggingScratch.new()
    view = state.view(seat).array
    keeps = np.ones(1820)
    weigh_guesses(view[0], seat, keeps, work)
    guesses = GUESSES[FIRST[3] : FIRST[4], :3].tolist()
    with_pair = [i for i, guess in enumerate(guesses) if first // 4 in guess]
    before = work.weights[with_pair].sum() / work.weights[: len(guesses)].sum()
    view[0].play_count = 0  # as if nothing had been seen of the play
    weigh_guesses(view[0], seat, keeps, work)
    after = work.weights[with_pair].sum() / work.weights[: len(guesses)].sum()
    assert before < 0.6 * after


def turn_of(state: State) -> Turn:
    view = state.view(state.mover)
    return Turn(state.game, state.mover, view, state.legal())


@compiled
def test_values_are_returns_and_agree_with_choices(cribbage: Game) -> None:
    agent = CribbageExpert(samples=2000)
    for seed in range(3):
        for table in list(retrace(random_table(cribbage, {}, seed)))[::9]:
            if table.mover < 0:
                continue
            turn = turn_of(table.state)
            values = agent.values(turn, np.random.default_rng(0))
            assert values.shape == turn.legal.shape
            assert (np.abs(values) <= 1).all()
            choice = turn.legal.tolist().index(agent.act(turn, np.random.default_rng(0)))
            assert values[choice] == pytest.approx(values.max())


@compiled
@pytest.mark.parametrize("target", [121, 61])
def test_a_hint_gives_the_chances_that_analyse_gives(cribbage: Game, target: int) -> None:
    """The choice of most points has its chance to win; no other has more than by `advise`."""
    agent, alike, asked = CribbageExpert(samples=2), 0, 0
    for seed in range(40):
        state = Table(cribbage, seed=seed, options={"target": target}).state
        s, seat = state.array[0], state.mover
        s.scores[:] = seed % 20, 2 * seed % 30  # the score before this deal
        turn = turn_of(state)
        shown = (1 + agent.values(turn, np.random.default_rng(0))) / 2
        short = 121 - target
        own, other = int(s.scores[seat]) + short, int(s.scores[1 - seat]) + short
        advice = advise(
            tuple(cards_in(int(s.hands[seat]))), dealer=s.dealer == seat, score=(own, other)
        )
        chance = {laying_of(*one.laid): one.win for one in advice.choices}
        points = {laying_of(*one.laid): one.points for one in advice.choices}
        best = int(turn.legal[shown.argmax()])
        assert (
            best == agent.act(turn, np.random.default_rng(0)) == laying_of(*advice.choices[0].laid)
        )
        assert shown.max() == pytest.approx(chance[best], abs=1e-12)
        for value, action in zip(shown, turn.legal.tolist(), strict=True):
            assert value <= chance[action] + 1e-12
            assert value > chance[action] - 0.02
            alike += value == pytest.approx(chance[action], abs=1e-9)
            asked += 1
        if not advice.by_wins:  # the order is that of the points
            order = [
                points[action] for action in turn.legal[np.argsort(-shown, kind="stable")].tolist()
            ]
            assert order == sorted(order, reverse=True)
    assert alike > 0.8 * asked


@compiled
def test_the_terminal_and_analyse_name_one_number(tmp_path: Path) -> None:
    def run(*args: str, typed: str = "") -> str:
        command = [sys.executable, "-m", "cardlab", *args]
        env = os.environ | {"XDG_DATA_HOME": str(tmp_path)}
        done = subprocess.run(
            command, input=typed, capture_output=True, text=True, env=env, check=True
        )
        return done.stdout

    hint = run("play", "cribbage", "--seed", "7", typed="h\nq\n")
    analysis = json.loads(run("analyse", "cribbage", "2D 9D 7S 6H 7H QH", "--json"))
    best = analysis["choices"][0]
    assert best["laid"] == ["9D", "QH"]
    line = next(line for line in hint.splitlines() if "lay 9♦ Q♥  " in line and "%" in line)
    assert f" {100 * best['win']:.0f}% " in line


@compiled
def test_a_card_that_wins_is_played(cribbage: Game) -> None:
    """With two points to go every expert that can peg two does so, whatever it gives away."""
    met = 0
    for state in plays_of(cribbage, range(60)):
        s, seat = state.array[0], state.mover
        s.scores[seat], s.scores[1 - seat] = 119, 60
        s.before[:] = s.scores[:]
        agent = CribbageExpert(samples=10)
        winning = []
        for action in state.legal():
            after = state.copy()
            cribbage.bindings.apply(after.array, 0, int(action))
            if after.array[0].winner == seat and after.array[0].shown == 0:
                winning.append(int(action))
        if winning:
            met += 1
            assert agent.act(turn_of(state), np.random.default_rng(0)) in winning
    assert met > 20


@compiled
def test_the_short_game_is_the_end_of_a_long_one(cribbage: Game) -> None:
    table = Table(cribbage, seed=1)
    for _ in range(6):
        table.act(int(table.state.legal()[0]))
    state = table.state.copy()
    s = state.array[0]
    assert s.phase in (PLAY, LAY_AWAY)
    s.target, s.scores[0], s.scores[1] = 61, 48, 55
    short = CribbageExpert().values(turn_of(state), np.random.default_rng(4))
    s.target, s.scores[0], s.scores[1] = 121, 108, 115
    long = CribbageExpert().values(turn_of(state), np.random.default_rng(4))
    assert short == pytest.approx(long)


@pytest.mark.slow
@compiled
def test_interpreted_as_compiled(cribbage: Game) -> None:
    """The same choices without compilation, where an index out of bounds raises."""
    code = (
        "import json, sys, numpy as np; from cardlab.agents.catalog import find_agent;"
        "from cardlab.games import find_game; from cardlab.engine.play import Table, ask;"
        "game = find_game('cribbage'); agent = find_agent('cribbage_expert:2', game);"
        "table = Table(game, seed=3); found = [];\n"
        "for ply in range(10):\n"
        "    found.append(int(ask(agent, table.state, np.random.default_rng(ply))))\n"
        "    table.act(found[-1])\n"
        "print(json.dumps(found))"
    )
    answers = [
        subprocess.run(
            [sys.executable, "-W", "error", "-c", code],
            env={**os.environ, "NUMBA_DISABLE_JIT": disable},
            capture_output=True,
            text=True,
            check=False,
        )
        for disable in ("0", "1")
    ]
    assert answers[0].stdout, answers[0].stderr
    assert answers[1].stdout == answers[0].stdout, answers[1].stderr


# The tables


def test_shipped_tables_make_sense() -> None:
    known = shipped_knowledge()
    assert (known.keeps > 0).all(), "no hand may be ruled out"
    assert (known.tosses >= 0).all()
    assert known.pegs.sum() == pytest.approx(1, abs=1e-4)
    assert known.shows.sum(axis=1) == pytest.approx([1, 1], abs=1e-4)
    for role in range(2):
        assert (np.diff(known.win[:, :, role], axis=0) >= -0.002).all(), "more points, less hope"
        assert (np.diff(known.win[:, :, role], axis=1) <= 0.002).all()
    assert known.win[:, :, 1] + known.win[:, :, 0].T == pytest.approx(1, abs=1e-5)
    assert 0.55 < known.win[0, 0, 1] < 0.57
    fives = known.tosses[:, 0, 4 + 10]
    assert fives[1] > 5 * fives[0], "fives go into one's own crib"


def test_every_table_says_where_it_comes_from() -> None:
    for name in SHAPES:
        told = json.loads(PACKAGE.shipped(f"{name}.json").read_text())
        assert told["command"].startswith("cardlab train cribbage/")
        assert told["rules"] == find_game("cribbage").rules_version
        assert told["config"]
        assert PACKAGE.shipped(f"{name}.npz").stat().st_size < 150_000


def test_tables_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(CardlabError, match="holds no table of Cribbage"):
        load_knowledge(tmp_path)


@pytest.mark.slow
@compiled
def test_trainings_go_on_where_they_were(tmp_path: Path) -> None:
    class Stop(Exception):
        pass

    def stop(_: str, done: int, total: int) -> None:
        if 0 < done < total:
            raise Stop

    cases = [
        (cribbage_tosses, cribbage_tosses.Config(rounds=2, every=4000)),
        (cribbage_pegging, cribbage_pegging.Config(least=1, deals=100, samples=1)),
        (cribbage_winning, cribbage_winning.Config(deals=2500, samples=1)),
    ]
    for module, config in cases:
        name = module.__name__
        whole = module.train(config, tmp_path / name / "whole", quiet)
        with pytest.raises(Stop):
            module.train(config, tmp_path / name / "parts", stop)
        assert module.train(config, tmp_path / name / "parts", quiet) == whole
    tables = tmp_path / "tables"
    tables.mkdir()
    for path in tmp_path.glob("*/whole/*.npz"):
        (tables / path.name).write_bytes(path.read_bytes())
    assert load_knowledge(tables).win[120, 0, 1] > 0.95


def test_names_and_budgets(cribbage: Game) -> None:
    agent = find_agent("cribbage_expert:12", cribbage)
    assert (agent.name, agent.samples) == ("cribbage_expert:12", 12)  # type: ignore[union-attr]
    with pytest.raises(CardlabError, match="does not play"):
        find_agent("cribbage_expert", find_game("uno"))
