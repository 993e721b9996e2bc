"""OpenSpiel: its own simulations and algorithms on our games, and its Kuhn poker beside ours."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms import (
    cfr,
    exploitability,
    ismcts,
    mcts,
    outcome_sampling_mccfr,
)
from open_spiel.python.algorithms.expected_game_score import policy_value
from open_spiel.python.observation import INFO_STATE_OBS_TYPE, make_observation

from cardlab.engine.errors import CardlabError, IllegalAction
from cardlab.engine.game import Game
from cardlab.engine.play import Table
from cardlab.engine.registry import find_game
from cardlab.games.birds_of_a_feather.agents.solver import Solver
from cardlab.games.birds_of_a_feather.rules import GAME as BIRDS
from cardlab.interop import openspiel
from tests.support.paths import ROOT


@pytest.fixture
def kuhn(monkeypatch: pytest.MonkeyPatch) -> Game:
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    return find_game("kuhn_poker:GAME")


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("crazy_eights", {"seats": 3, "reshuffle": True}),
        ("uno", {"seats": 4}),
        ("koi_koi", {"rounds": 2}),
        ("cribbage", {"target": 61}),
        ("birds_of_a_feather", {}),
        ("tests.support.high_card:GAME", {}),
    ],
)
def test_simulations_of_open_spiel(name: str, options: dict[str, Any]) -> None:
    pyspiel.random_sim_test(openspiel.load(name, options=options), 2, False, False)


def test_histories_replay_and_information_states_tell_what_was_witnessed() -> None:
    game, rng = openspiel.load("crazy_eights", seed=4), np.random.default_rng(0)
    for _ in range(3):
        state = game.new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node():
                state.apply_action(state.chance_outcomes()[0][0])
                continue
            seat = state.current_player()
            other = state.resample_from_infostate(seat, rng.random)
            assert other.information_state_string(seat) == state.information_state_string(seat)
            assert other.observation_tensor(seat) == state.observation_tensor(seat)
            assert other.legal_actions() == state.legal_actions()
            state.apply_action(int(rng.choice(state.legal_actions())))
        again = game.new_initial_state()
        for action in state.history():
            again.apply_action(action)
        assert str(again) == str(state)
        assert again.information_state_string(1) == state.information_state_string(1)
        assert sum(state.returns()) == 0


def test_a_resampled_state_tells_nothing_of_the_true_one(kuhn: Game) -> None:
    """Two deals that seat 0 cannot tell apart give it the very same imagined states."""
    game = openspiel.load(kuhn)
    deals = [kuhn.order_text(order) for order in game.orders]
    imagined = []
    for deal in ("Q J", "Q K"):
        state, rng = game.new_initial_state(), np.random.default_rng(5)
        for action in (deals.index(deal), kuhn.parse_action("pass")):
            state.apply_action(action)
        worlds = [state.resample_from_infostate(0, rng.random) for _ in range(30)]
        for world in worlds:
            assert world.information_state_string(0) == state.information_state_string(0)
            assert world.information_state_tensor(0) == state.information_state_tensor(0)
        imagined.append(
            [
                (
                    str(world),
                    world.history(),
                    world.information_state_string(1),
                    tuple(world.information_state_tensor(1)),
                )
                for world in worlds
            ]
        )
    assert imagined[0] == imagined[1]
    for what in (0, 2, 3):  # the other seat's card, string and tensor vary together
        assert len({told[what] for told in imagined[0]}) == 2


def test_illegal_actions_are_refused(kuhn: Game) -> None:
    state = openspiel.load("crazy_eights").new_initial_state()
    with pytest.raises(IllegalAction, match="no deal 1048576; its deals are 0 to 1048575"):
        state.apply_action(1 << 20)
    state.apply_action(5)
    before = str(state)
    with pytest.raises(IllegalAction, match=r"action 0 is not legal .*; legal: 4H \(14\)"):
        state.apply_action(0)
    assert str(state) == before
    with pytest.raises(IllegalAction, match="no deal 6; its deals are 0 to 5"):
        openspiel.load(kuhn).new_initial_state().apply_action(6)


def test_states_travel(kuhn: Game) -> None:
    for game in (openspiel.load("crazy_eights"), openspiel.load(kuhn)):
        state = game.new_initial_state()
        state.apply_action(3)
        state.apply_action(state.legal_actions()[0])
        for one in (state, state.resample_from_infostate(0)):
            again = pickle.loads(pickle.dumps(one))
            assert str(again) == str(one)
            assert again.history() == one.history()
            assert again.information_state_string(1) == one.information_state_string(1)
            again.apply_action(again.legal_actions()[0])  # and it plays on


def test_sampled_chance_draws_anew_for_every_copy() -> None:
    state = openspiel.load("koi_koi").new_initial_state()
    first = state.chance_outcomes()
    assert state.chance_outcomes() == first  # a state keeps its own
    assert len({state.clone().chance_outcomes()[0][0] for _ in range(20)}) > 10


def test_kuhn_poker_is_that_of_open_spiel(kuhn: Game) -> None:
    """The same solver takes the same path: values and exploitability agree at every iteration."""
    ours, theirs = openspiel.load(kuhn), pyspiel.load_game("kuhn_poker")
    solvers = [cfr.CFRSolver(game) for game in (ours, theirs)]
    for _ in range(4):
        for _ in range(5):
            for solver in solvers:
                solver.evaluate_and_update_policy()
        policies = [solver.average_policy() for solver in solvers]
        states = [game.new_initial_state() for game in (ours, theirs)]
        values = [
            policy_value(state, [policy] * 2)
            for state, policy in zip(states, policies, strict=True)
        ]
        assert 2 * values[0] == pytest.approx(values[1], abs=1e-12)  # we count a chip as half
        worst = [
            exploitability.exploitability(game, policy)
            for game, policy in zip((ours, theirs), policies, strict=True)
        ]
        assert 2 * worst[0] == pytest.approx(worst[1], abs=1e-12)
    assert worst[1] < 0.05


def test_outcome_sampling_learns(kuhn: Game) -> None:
    game = openspiel.load(kuhn)
    np.random.seed(1)  # noqa: NPY002 - the solver draws from NumPy's global generator
    solver = outcome_sampling_mccfr.OutcomeSamplingSolver(game)
    solver.iteration()
    before = exploitability.nash_conv(game, solver.average_policy())
    for _ in range(700):
        solver.iteration()
    assert exploitability.nash_conv(game, solver.average_policy()) < 0.5 * before


def test_tensors_with_and_without_memory(kuhn: Game) -> None:
    game = openspiel.load(kuhn)
    assert game.get_type().chance_mode == pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC
    past, now = make_observation(game, INFO_STATE_OBS_TYPE), make_observation(game)
    told: dict[str, bytes] = {}
    for state in pyspiel_states(game)[1:]:  # before the deal nobody knows anything
        for seat in range(2):
            past.set_from(state, seat)
            now.set_from(state, seat)
            text = past.string_from(state, seat)
            assert told.setdefault(text, past.tensor.tobytes()) == past.tensor.tobytes()
            plies = len(state.history())
            assert (past.dict["observation"][plies - 1] == now.tensor).all()
            assert not past.dict["observation"][plies:].any()
    assert len(set(told.values())) == len(told)  # different knowledge, different numbers


def pyspiel_states(game: Any) -> list[Any]:
    """Return every state of a small game."""
    found, waiting = [], [game.new_initial_state()]
    while waiting:
        state = waiting.pop()
        found.append(state)
        waiting += [] if state.is_terminal() else [state.child(a) for a in state.legal_actions()]
    assert len(found) == 1 + 6 + 6 * 8  # the start, the deals, and what was said after each
    return found


def test_searches_of_open_spiel(kuhn: Game) -> None:
    """MCTS finds the end of a solitaire; IS-MCTS knows when to call without seeing."""
    birds, table = openspiel.load("birds_of_a_feather"), Table(BIRDS, seed=1)
    solution, _ = Solver().plan(table.turn(), np.random.default_rng(0))
    evaluator = mcts.RandomRolloutEvaluator(4, np.random.RandomState(1))
    bot = mcts.MCTSBot(birds, 1.4, 60, evaluator, random_state=np.random.RandomState(2))
    state = birds.new_initial_state()
    for action in (1, *solution[:9]):
        state.apply_action(int(action))
    while not state.is_terminal():
        state.apply_action(bot.step(state))
    assert state.returns() == [1.0]
    poker = openspiel.load(kuhn)
    for own, answer in (("K", "bet"), ("J", "pass")):  # the best and the worst card leave no doubt
        evaluator = mcts.RandomRolloutEvaluator(1, np.random.RandomState(3))
        search = ismcts.ISMCTSBot(poker, evaluator, 1.4, 300, random_state=np.random.RandomState(4))
        for other in "JQK".replace(own, ""):
            state = poker.new_initial_state()
            deals = [kuhn.order_text(order) for order in poker.orders]
            state.apply_action(deals.index(f"{other} {own}"))
            state.apply_action(kuhn.parse_action("bet"))
            assert state.action_to_string(search.step(state)) == answer


def test_games_travel_and_mistakes_are_told(kuhn: Game) -> None:
    game = pickle.loads(pickle.dumps(openspiel.load("crazy_eights", options={"seats": 3})))
    assert game.num_players() == 3
    with pytest.raises(CardlabError, match="crazy_eights has too many deck orders to list"):
        openspiel.load("crazy_eights", chance="explicit")
    with pytest.raises(CardlabError, match="must be 'explicit' or 'sampled', got"):
        openspiel.load(kuhn, chance="loaded dice")
    assert openspiel.load(kuhn, chance="sampled").new_initial_state().is_chance_node()


def test_openspiel_sees_games_and_states() -> None:
    pytest.importorskip("pyspiel")
    from cardlab.interop.openspiel import CardGame, CardState, load

    game, again = load("crazy_eights", seed=4), load("crazy_eights", seed=4)
    assert isinstance(game, CardGame)
    assert game.draw_seed() == again.draw_seed()
    assert isinstance(game.new_initial_state(), CardState)
    with pytest.raises(CardlabError, match="take no parameters"):
        game.make_py_observer(params={"x": 1})
