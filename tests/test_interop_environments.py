"""PettingZoo, Gymnasium and Stable-Baselines3: their own checks, and that the games are ours."""

from __future__ import annotations

import importlib.util
import re
import sys
import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test, seed_test
from stable_baselines3.common.env_checker import check_env as check_env_of_sb3

from cardlab.agents.catalog import find_agent
from cardlab.errors import CardlabError, IllegalAction
from cardlab.game import Turn
from cardlab.games import find_game
from cardlab.interop import pettingzoo
from cardlab.interop.gymnasium import IDS, CardEnv
from cardlab.interop.stable_baselines3 import CardVecEnv, PolicyAgent
from cardlab.interop.vector import CardVectorEnv
from cardlab.play import Table, play_game
from cardlab.seeding import generator

ROOT = Path(__file__).parent.parent
SEATED = [
    ("crazy_eights", {"seats": 3, "hand_size": 4, "reshuffle": True, "optional_draw": True}),
    ("crazy_eights", {}),
    ("uno", {"seats": 4, "stacking": True, "keep_drawn": False, "voluntary_draw": True}),
    ("uno", {"rules": "rlcard"}),
    ("koi_koi", {"rules": "nintendo", "rounds": 2}),
    ("koi_koi", {}),
    ("cribbage", {"target": 61}),
    ("cribbage", {}),
]
UNAVOIDABLE = {  # what PettingZoo tells every dictionary that is not on its own list of names
    "Observation is not a NumPy array",
    "Observation space for each agent probably should be gymnasium.spaces.box or "
    "gymnasium.spaces.discrete",
}


# PettingZoo


@pytest.mark.parametrize(("name", "options"), SEATED, ids=str)
def test_pettingzoo_checks(name: str, options: dict[str, Any], capsys: Any) -> None:
    api_test(pettingzoo.env(name, mask="info", **options), num_cycles=150)
    seed_test(lambda: pettingzoo.env(name, mask="info", **options), num_cycles=60)
    seed_test(lambda: pettingzoo.env(name, **options), num_cycles=60)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        api_test(pettingzoo.env(name, **options), num_cycles=150)
    assert {str(one.message) for one in told} == UNAVOIDABLE
    assert capsys.readouterr().out.count("Passed API test") == 2


def test_pettingzoo_plays_the_game_of_its_seed() -> None:
    env, rng = pettingzoo.crazy_eights(seats=3), generator(5, "test")
    table = Table(find_game("crazy_eights"), seed=5, options={"seats": 3})
    env.reset(seed=5)
    for agent in env.agent_iter():
        observation, reward, over, truncated, _ = env.last()
        assert not truncated
        if over:
            assert table.over
            assert reward == table.state.returns()[int(agent[-1])]
            assert observation["action_mask"].all()
            env.step(None)
            continue
        assert agent == f"seat_{table.mover}"
        legal = np.flatnonzero(observation["action_mask"])
        assert legal.tolist() == table.state.legal().tolist()
        others = [one for one in env.agents if one != agent]
        assert not any(env.observe(one)["action_mask"].any() for one in others)
        action = int(rng.choice(legal))
        env.step(action)
        table.act(action)
    assert not env.agents


def test_pettingzoo_goes_on_to_other_deals_and_says_what_is_wrong() -> None:
    env = pettingzoo.koi_koi(rounds=1, render_mode="ansi")
    deals = []
    for _ in range(2):
        env.reset(seed=3)
        for _ in range(3):
            deals.append(env.observe("seat_0")["observation"].tobytes())
            env.reset()
    assert deals[:3] == deals[3:]
    assert len(set(deals)) == 3
    assert "round 1" in str(env.render())
    with pytest.raises(IllegalAction, match="legal:"):
        env.step(97)
    with pytest.raises(CardlabError, match="None is no action"):
        env.step(None)
    with pytest.raises(CardlabError, match="did you mean 'seats'"):
        pettingzoo.uno(seat=3)
    with pytest.raises(CardlabError, match="played alone"):
        pettingzoo.env("birds_of_a_feather")


def test_pettingzoo_takes_deals_by_hand() -> None:
    game = find_game("cribbage")
    whole = Table(game, seed=9)
    env = pettingzoo.cribbage()
    env.reset(seed=1, options={"deals": whole.deals})
    seat = whole.mover
    assert env.agent_selection == f"seat_{seat}"
    assert env.table.state.array.tobytes() == whole.state.array.tobytes()


# Gymnasium


@pytest.mark.parametrize("name", IDS)
def test_gymnasium_checks(name: str) -> None:
    check_env(gymnasium.make(IDS[name]).unwrapped)
    env = gymnasium.make(IDS[name], render_mode="ansi")
    check_env(env.unwrapped)
    check_env_of_sb3(env.unwrapped, skip_render_check=False)


@pytest.mark.parametrize("seat", [0, 1, 2])
def test_gymnasium_plays_what_play_game_plays(seat: int) -> None:
    """With an agent in the learner's seat, the game is the one that `play_game` plays."""
    game = find_game("uno")
    agents = [find_agent(name, game) for name in ("heuristic", "random", "heuristic")]
    record = play_game(game, agents, seed=11, options={"seats": 3})
    env = CardEnv(game, opponents=[agents[(seat + 1 + i) % 3] for i in (0, 1)], seat=seat, seats=3)
    _, info = env.reset(seed=11)
    assert info == {"seat": seat, "seed": 11}
    rng, over, reward = generator(11, "seat", seat), False, 0.0
    while not over:
        state = env.table.state
        turn = Turn(game, seat, state.view(seat), state.legal())
        assert (np.flatnonzero(env.action_masks()) == turn.legal).all()
        _, reward, over, _, info = env.step(agents[seat].act(turn, rng))  # type: ignore[union-attr]
    assert env.table.actions == [action for action, _ in record.actions]
    assert record.result
    assert reward == record.result.returns[seat]
    assert info["points"].tolist() == record.result.points


def test_gymnasium_birds_are_the_published_deals() -> None:
    env = gymnasium.make(IDS["birds_of_a_feather"])
    env.reset(seed=123)
    table = Table(find_game("birds_of_a_feather"), seed=123)
    assert env.unwrapped.table.state.array.tobytes() == table.state.array.tobytes()  # type: ignore[attr-defined]


def test_gymnasium_illegal_actions() -> None:
    env = CardEnv("crazy_eights", opponents="heuristic")
    env.reset(seed=0)
    wrong = int(np.flatnonzero(~env.action_masks())[0])
    _, reward, over, truncated, info = env.step(wrong)
    assert (reward, over, truncated) == (-1.0, True, False)
    assert "cannot take action" in info["illegal_action"]
    with pytest.raises(CardlabError, match="call reset"):
        env.step(0)
    strict = CardEnv("crazy_eights", illegal="raise")
    strict.reset(seed=0)
    with pytest.raises(IllegalAction):
        strict.step(int(np.flatnonzero(~strict.action_masks())[0]))
    with pytest.raises(CardlabError, match="3 opponents for 1 other"):
        CardEnv("cribbage", opponents=["random"] * 3)
    with pytest.raises(CardlabError, match="no seat 2"):
        CardEnv("cribbage", seat=2)


def test_a_seat_is_drawn_for_every_game() -> None:
    env = CardEnv("crazy_eights", seats=4)
    seats = [env.reset(seed=seed)[1]["seat"] for seed in range(400)]
    assert all(70 < seats.count(seat) < 130 for seat in range(4))


# Many at once


@pytest.mark.parametrize(
    ("name", "opponents", "options"),
    [
        ("crazy_eights", "heuristic", {"seats": 3, "hand_size": 1}),
        ("uno", ["random", "heuristic"], {"seats": 3}),
        ("koi_koi", "uct_open:3", {"rounds": 1}),
        ("cribbage", "random", {"target": 61}),
        ("birds_of_a_feather", "random", {}),
    ],
    ids=str,
)
def test_vector_rows_are_single_games(name: str, opponents: Any, options: dict[str, Any]) -> None:
    rows, rng = 6, np.random.default_rng(2)
    many = gymnasium.make_vec(
        IDS[name],
        num_envs=rows,
        vectorization_mode="vector_entry_point",
        opponents=opponents,
        **options,
    ).unwrapped
    single = [CardEnv(name, opponents=opponents, **options) for _ in range(rows)]
    seen, _ = many.reset(seed=40)
    for row, env in enumerate(single):
        assert (env.reset(seed=40 + row)[0] == seen[row]).all()
    ended = np.zeros(rows, dtype=int)
    for _ in range(400):
        masks = many.action_masks()  # type: ignore[attr-defined]
        for row, env in enumerate(single):
            assert (env.action_masks() == masks[row]).all()
        actions = (rng.random(masks.shape) * masks).argmax(axis=1)
        seen, rewards, over, _, info = many.step(actions)
        for row, env in enumerate(single):
            one, reward, done, _, told = env.step(actions[row])
            assert (reward, done) == (rewards[row], over[row])
            if done:
                ended[row] += 1
                assert (info["final_obs"][row] == one).all()
                assert np.allclose(info["final_info"]["points"][row], told["points"])
                one, _ = env.reset(seed=int(many.batch.seeds[row]))  # type: ignore[attr-defined]
            assert (one == seen[row]).all()
        if (ended > 1).all():
            break
    assert (ended > 0).all()


def test_vector_refuses_what_it_cannot_do() -> None:
    many = CardVectorEnv("crazy_eights", 3)
    with pytest.raises(CardlabError, match="call reset"):
        many.step(np.zeros(3, int))
    many.reset(seed=0)
    before = many.batch.states.tobytes()
    wrong = (~many.action_masks()).argmax(axis=1)
    with pytest.raises(IllegalAction):
        many.step(wrong)
    assert many.batch.states.tobytes() == before
    with pytest.raises(CardlabError, match="one game at a time"):
        CardVectorEnv("crazy_eights", 3, opponents="cmd:true")


def test_stable_baselines3_sees_the_same_games() -> None:
    env = CardVecEnv("crazy_eights", 4, opponents="heuristic")
    plain = CardVectorEnv("crazy_eights", 4, opponents="heuristic")
    lengths = np.zeros(4, dtype=int)
    env.seed(7)
    assert (env.reset() == plain.reset(seed=7)[0]).all()
    for _ in range(30):
        masks = np.stack(env.env_method("action_masks"))
        actions = masks.argmax(axis=1)
        seen, rewards, over, told = env.step(actions)
        expected = plain.step(actions)
        assert (seen == expected[0]).all()
        assert (rewards == expected[1]).all()
        assert [("terminal_observation" in one) for one in told] == over.tolist()
        lengths += 1
        assert all(told[row]["episode"]["l"] == lengths[row] for row in np.flatnonzero(over))
        lengths[over] = 0


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    spec = importlib.util.spec_from_file_location(
        "maskable_ppo", ROOT / "examples" / "maskable_ppo.py"
    )
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "maskable_ppo", module)
    spec.loader.exec_module(module)
    return module


def test_the_worked_example_tiny(example: Any, tmp_path: Path, capsys: Any) -> None:
    settings = ["--imitate=4096", "--steps=512", "--rows=8", "--games=20", "--out"]
    scores = []
    for place in ("a.zip", "b.zip"):
        example.main([*settings, str(tmp_path / place)])
        scores.append(re.findall(r"score .*", capsys.readouterr().out))
    assert scores[0] == scores[1]  # one command, one seed, one figure
    agent, game = example.learned(str(tmp_path / "a.zip")), find_game("crazy_eights")
    assert isinstance(agent, PolicyAgent)
    from cardlab.testing import AGENT_CHECKS

    for check in AGENT_CHECKS:
        if "pickle" not in check.__name__:
            check(lambda: agent, game, {})


@pytest.mark.parametrize(
    "code",
    re.findall(r"^```python\n(.*?)^```$", (ROOT / "docs/interop.md").read_text(), re.S | re.M),
    ids=lambda code: code.splitlines()[0],
)
def test_the_blocks_of_the_page_run(code: str, capsys: Any) -> None:
    exec(compile(code, "docs/interop.md", "exec"), {})
