"""Search: right where a plain computation can tell."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cardlab.agents.catalog import find_agent
from cardlab.agents.play import play_game
from cardlab.engine.game import Game, HasValues, State, Turn
from cardlab.engine.kernel import JIT, kernel
from cardlab.engine.play import Table
from cardlab.engine.playouts import Playouts, Scratch, choose_any, make_playouts
from cardlab.engine.registry import find_game
from cardlab.games.crazy_eights.heuristic import plausibility, worth
from cardlab.search import alpha_beta, determinised, information_set, monte_carlo, uct
from cardlab.testing import random_table, retrace

pytestmark = pytest.mark.skipif(not JIT, reason="too much searching to interpret")


def some_states(game: Game, count: int) -> list[State]:
    states = [
        table.state.copy()
        for seed in range(count)
        for table in retrace(random_table(game, {}, seed))
        if len(table.state.legal()) > 1
    ]
    return states[:: max(1, len(states) // count)]


def plain_minimax(state: State, seat: int, depth: int, utility: Any) -> float:
    """Value a state by trying everything: what alpha-beta must agree with."""
    if state.mover < 0 or depth == 0:
        return float(utility(state.array[0], seat))
    values = []
    for action in state.legal():
        after = state.copy()
        state.game.bindings.apply(after.array, 0, int(action))
        values.append(plain_minimax(after, seat, depth - 1, utility))
    return max(values) if state.mover == seat else min(values)


@pytest.mark.parametrize("utility", [None, worth], ids=["wins", "points"])
@pytest.mark.parametrize("depth", [1, 2, 3, 5])
def test_alpha_beta_agrees_with_plain_minimax(crazy_eights: Game, utility: Any, depth: int) -> None:
    for state in some_states(crazy_eights, 12):
        ours = alpha_beta.evaluate(state, depth, utility=utility, table_bits=6)
        for action, value in zip(state.legal(), ours, strict=True):
            after = state.copy()
            crazy_eights.bindings.apply(after.array, 0, int(action))
            plain = plain_minimax(after, state.mover, depth - 1, utility or crazy_eights.returns)
            assert value == pytest.approx(plain)


def test_alpha_beta_without_a_key_searches_every_line(high_card: Game) -> None:
    state = Table(high_card, seed=1).state
    for depth in (1, 3, 5):
        ours = alpha_beta.evaluate(state, depth)
        for action, value in zip(state.legal(), ours, strict=True):
            after = state.copy()
            high_card.bindings.apply(after.array, 0, int(action))
            plain = plain_minimax(after, state.mover, depth - 1, high_card.returns)
            assert value == pytest.approx(plain)


def test_threads_change_nothing_but_the_time(crazy_eights: Game) -> None:
    turn = random_table(crazy_eights, {}, 2, plies=0).turn()
    state = Table(crazy_eights, seed=2).state
    for name in ("monte_carlo:3000", "guided:700", "information_set:400,trees=4", "determinised:6"):
        agents = [find_agent(f"{name},threads={threads}", crazy_eights) for threads in (1, 2, 5)]
        values = [one.values(turn, np.random.default_rng(7)) for one in agents]  # type: ignore[union-attr]
        assert values[0].tolist() == values[1].tolist() == values[2].tolist(), name
    trees = [
        uct.search(state, 400, np.random.default_rng(7), trees=4, threads=threads)
        for threads in (1, 4)
    ]
    assert trees[0][0].tolist() == trees[1][0].tolist()
    assert trees[0][0].sum() == 400


def test_halving_spends_the_same_and_keeps_the_best(crazy_eights: Game) -> None:
    for state in some_states(crazy_eights, 20):
        turn = Turn.of(crazy_eights, state.mover, state.view(state.mover).array, state.legal())
        tried, means = monte_carlo.evaluate(turn, 400, np.random.default_rng(1), halving=True)
        assert tried.sum() <= 400 * len(turn.legal)
        assert tried.sum() >= 350 * len(turn.legal)
        _, full = monte_carlo.evaluate(turn, 4000, np.random.default_rng(2))
        kept = np.flatnonzero(tried == tried.max())
        assert full[kept[np.argmax(means[kept])]] > full.max() - 0.15


def test_uct_finds_a_win_that_alpha_beta_proves(crazy_eights: Game) -> None:
    found = 0
    for state in some_states(crazy_eights, 60):
        exact = alpha_beta.evaluate(state, 6)
        if exact.max() == 1 and exact.min() < 1:
            visits, values = uct.search(state, 4000, np.random.default_rng(0))
            assert exact[np.argmax(visits)] == 1
            assert values.max() > 0.5
            found += 1
    assert found > 3


def test_values_of_fair_searches_agree_with_enumeration(high_card: Game) -> None:
    # On the last trick but one the other seat's two cards are among nine: all worlds can be tried.
    table = random_table(high_card, {}, 5, plies=2)
    turn = table.turn()
    exact = np.zeros(len(turn.legal))
    rng = np.random.default_rng(0)
    for _ in range(4000):
        world = turn.view.imagine(rng)
        for i, action in enumerate(turn.legal):
            after = world.copy()
            high_card.bindings.apply(after.array, 0, int(action))
            while after.mover >= 0:
                high_card.bindings.apply(after.array, 0, int(rng.choice(after.legal())))
            exact[i] += after.returns()[turn.seat] / 4000
    _, ours = monte_carlo.evaluate(turn, 20_000, np.random.default_rng(1))
    assert ours == pytest.approx(exact, abs=0.06)
    visits, _ = information_set.search(turn, 2000, np.random.default_rng(1))
    assert visits.sum() == 2000


def test_plausible_worlds_hold_the_real_hand_more_often(crazy_eights: Game) -> None:
    heuristic = find_agent("heuristic", crazy_eights)
    real = imagined = 0.0
    for seed in range(150):
        record = play_game(crazy_eights, [heuristic, heuristic], seed=seed)
        table = Table(crazy_eights, seed=seed)
        for action, _ in record.actions[: len(record.actions) // 2]:
            table.act(action)
        world = table.state.view(table.mover).imagine(np.random.default_rng(seed))
        real += plausibility(table.state.array[0], table.mover)
        imagined += plausibility(world.array[0], table.mover)
    assert real > 1.3 * imagined


@pytest.mark.parametrize(
    "name", ["monte_carlo:50", "guided:50", "information_set:50", "determinised:3"]
)
def test_searches_value_every_action(crazy_eights: Game, name: str) -> None:
    agent = find_agent(name, crazy_eights)
    assert isinstance(agent, HasValues)
    turn = random_table(crazy_eights, {}, 2, plies=0).turn()
    values = agent.values(turn, np.random.default_rng(0))
    assert values.shape == turn.legal.shape
    assert (abs(values) <= 1).all()


def test_uct_solves_birds_of_a_feather() -> None:
    from cardlab.games.birds_of_a_feather.rules import GAME

    agent = find_agent("uct_open:5000", GAME)
    solved = [play_game(GAME, [agent], seed=seed).result for seed in range(6)]
    assert sum(result.returns == [1.0] for result in solved if result) >= 2


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def last_card(game: Game) -> Table:
    """Return a table where some action ends the game at once."""
    for seed in range(50):
        table = Table(game, seed=seed)
        while not table.over:
            for action in table.turn().legal.tolist():
                after = State(game, table.state.array.copy())
                game.bindings.apply(after.array, 0, action)
                if after.mover < 0 and len(table.turn().legal) > 1:
                    return table
            table.act(int(table.turn().legal[0]))
    raise AssertionError("no game ends by choice")


def test_play_outs_follow_any_action_unless_told_otherwise(crazy_eights: Game) -> None:
    plain, named = make_playouts(crazy_eights), make_playouts(crazy_eights, choose_any)
    assert isinstance(plain, Playouts)
    lengths = []
    for kernels in (plain, named):
        scratch, stream = Scratch.of(crazy_eights), np.zeros(1, dtype=np.int64)
        scratch.work[:] = crazy_eights.fresh(**crazy_eights.read_options({}))
        lengths.append(kernels.play_one(scratch.work[0], 5, scratch.order, scratch.buffer, stream))
    assert lengths[0] == lengths[1] > 0


def test_halving_spends_the_same_and_drops_the_worse() -> None:
    worth = np.array([0.0, 3.0, 1.0, 2.0])
    asked = []

    def play_block(chosen: Any, count: int, start: int) -> Any:
        asked.append(len(chosen) * count)
        return worth[chosen] * count

    found = monte_carlo.spend(4, 100, rng(), play_block, halving=True)
    assert found is not None
    tried, sums = found
    assert tried.tolist() == [50, 150, 50, 150]
    assert sum(asked) == tried.sum() == 400
    assert np.array_equal(sums / tried, worth)
    assert monte_carlo.spend(4, 9, rng(), lambda *_: None, halving=False) is None
    error = monte_carlo.no_world(find_game("uno"), 1)
    assert str(error) == "uno: no world agrees with what seat 1 knows"


@pytest.mark.skipif(not JIT, reason="too much searching to interpret")
def test_searches_see_a_win_at_hand(crazy_eights: Game) -> None:
    table = last_card(crazy_eights)
    turn, seat = table.turn(), table.mover
    wins = []
    for action in turn.legal.tolist():
        after = State(crazy_eights, table.state.array.copy())
        crazy_eights.bindings.apply(after.array, 0, action)
        wins.append(after.mover < 0 and crazy_eights.returns(after.array[0], seat) == 1)
    assert any(wins)
    open_values = monte_carlo.evaluate_open(table.state, 50, rng())
    assert (open_values[wins] == 1).all()

    utility: alpha_beta.Utility = crazy_eights.returns
    memory = alpha_beta.Scratch.of(crazy_eights, 1)
    memory[0][0] = table.state.array[0]
    best = alpha_beta.make_solver(crazy_eights, utility)(seat, 1, -9.0, 9.0, memory)
    assert best == 1

    judge: determinised.Judge = lambda world: alpha_beta.evaluate(world, 1)  # noqa: E731
    assert (determinised.evaluate(turn, 3, rng(), judge)[wins] == 1).all()

    never: monte_carlo.Plausibility = kernel(lambda s, seat: 0.0)
    tried, values = monte_carlo.evaluate(turn, 5, rng(), plausibility=never)  # doubts end
    assert (values[wins] == 1).all()
    assert (tried == 5).all()
