"""PettingZoo, Gymnasium and Stable-Baselines3: their own checks, and that the games are ours."""

from __future__ import annotations

import importlib.util
import pickle
import re
import shlex
import shutil
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from pettingzoo.test import api_test, seed_test
from stable_baselines3.common.env_checker import check_env as check_env_of_sb3

from cardlab.agents.catalog import find_agent
from cardlab.agents.play import play_game
from cardlab.engine.errors import CardlabError, IllegalAction
from cardlab.engine.game import Turn
from cardlab.engine.play import Table
from cardlab.engine.registry import find_game
from cardlab.engine.seeding import generator
from cardlab.interop import pettingzoo
from cardlab.interop.gymnasium import IDS, CardEnv
from cardlab.interop.stable_baselines3 import CardVecEnv, PolicyAgent
from cardlab.interop.vector import CardVectorEnv
from tests.support.paths import ROOT

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
    api_test(pettingzoo.env(name, mask="info", options=options), num_cycles=150)
    seed_test(lambda: pettingzoo.env(name, mask="info", options=options), num_cycles=60)
    seed_test(lambda: pettingzoo.env(name, options=options), num_cycles=60)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        api_test(pettingzoo.env(name, options=options), num_cycles=150)
    assert {str(one.message) for one in told} == UNAVOIDABLE
    assert capsys.readouterr().out.count("Passed API test") == 2


def test_pettingzoo_plays_the_game_of_its_seed() -> None:
    env, rng = pettingzoo.crazy_eights(options={"seats": 3}), generator(5, "test")
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
    env = pettingzoo.koi_koi(options={"rounds": 1}, render_mode="ansi")
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
    with pytest.raises(CardlabError, match=r"must be a whole number from 0 to .*, got None"):
        env.step(None)
    with pytest.raises(CardlabError, match="no agent 'seat_9'; its agents are seat_0, seat_1"):
        env.observe("seat_9")
    with pytest.raises(CardlabError, match=r"options=\{'seat': 3\}"):
        pettingzoo.uno(seat=3)
    with pytest.raises(CardlabError, match="has one seat, and PettingZoo needs two"):
        pettingzoo.env("birds_of_a_feather")


def test_pettingzoo_takes_deals_by_hand() -> None:
    game = find_game("cribbage")
    whole = Table(game, seed=9)
    env = pettingzoo.cribbage()
    env.reset(seed=1, options={"deals": whole.deals})
    seat = whole.mover
    assert env.agent_selection == f"seat_{seat}"
    assert env.table.state.array.tobytes() == whole.state.array.tobytes()


def test_pettingzoo_without_a_game_says_so() -> None:
    env = pettingzoo.crazy_eights(render_mode="ansi")
    before = "crazy_eights .*; call reset first"
    for ask in (env.last, env.render, lambda: env.step(0), lambda: env.observe("seat_0")):
        with pytest.raises(CardlabError, match=before):
            ask()
    env.reset(seed=1)
    for _ in env.agent_iter():
        observation, _, over, _, _ = env.last()
        env.step(None if over else int(observation["action_mask"].argmax()))
    for ask in (env.last, lambda: env.step(None)):
        with pytest.raises(CardlabError, match=before):
            ask()


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
    env = CardEnv(
        game,
        opponents=[agents[(seat + 1 + i) % 3] for i in (0, 1)],
        seat=seat,
        options={"seats": 3},
    )
    _, info = env.reset(seed=11)
    assert (info["seat"], info["seed"]) == (seat, 11)
    assert (info["action_mask"] == env.action_masks()).all()
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


@pytest.mark.parametrize("name", IDS)
def test_gymnasium_info_has_the_mask_behind_every_wrapper(name: str) -> None:
    """`gymnasium.make` wraps; `info` has the mask all the same, after `reset` and every step."""
    env = gymnasium.make(IDS[name], opponents="random")
    env.action_space.seed(1)
    _, info = env.reset(seed=3)
    over = False
    while not over:
        mask = info["action_mask"]
        assert mask.dtype == np.int8
        assert mask.shape == (env.action_space.n,)  # type: ignore[attr-defined]
        assert (mask == env.unwrapped.action_masks()).all()  # type: ignore[attr-defined]
        assert 0 < mask.sum() <= len(mask)
        _, _, over, stopped, info = env.step(env.action_space.sample(mask))
        assert "illegal_action" not in info
        assert not stopped
    assert info["action_mask"].all()


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
    with pytest.raises(
        CardlabError, match="needs 1 opponent for all other seats or a list of 1, got 3"
    ):
        CardEnv("cribbage", opponents=["random"] * 3)
    for seat in (2, 1.0, "a"):
        with pytest.raises(CardlabError, match=f"no seat {seat!r}; its seats are 0 to 1"):
            CardEnv("cribbage", seat=seat)  # type: ignore[arg-type]
    with pytest.raises(CardlabError, match="with a name and a method act, got 3"):
        CardEnv("cribbage", opponents=3)  # type: ignore[arg-type]
    with pytest.raises(CardlabError, match="unknown agent 'nobody'"):
        gymnasium.make(IDS["birds_of_a_feather"], opponents="nobody")
    for make in (CardEnv, pettingzoo.CardEnv):
        with pytest.raises(CardlabError, match="render_mode must be None or 'ansi', got 'human'"):
            make("cribbage", render_mode="human")


def test_gymnasium_without_a_game_or_an_action_says_so() -> None:
    env = CardEnv("crazy_eights", render_mode="ansi")
    for ask in (env.action_masks, env.render, lambda: env.step(0)):
        with pytest.raises(CardlabError, match=r"no game of crazy_eights .*; call reset"):
            ask()
    env.reset(seed=1)
    for wrong in ("x", None, 3.9):
        with pytest.raises(CardlabError, match=f"an action of crazy_eights must .* got {wrong!r}"):
            env.step(wrong)
    _, _, over, _, info = env.step(np.array(env.action_masks().argmax()))  # as policies answer
    assert "illegal_action" not in info
    assert not over


@pytest.mark.parametrize("seed", [159, 331])
def test_a_deal_that_leaves_nothing_to_play_is_passed_over(seed: int) -> None:
    settings: dict[str, Any] = {"rules": "nintendo", "rounds": 1}
    assert Table(find_game("koi_koi"), seed=seed, options=settings).over
    env, many = CardEnv("koi_koi", options=settings), CardVectorEnv("koi_koi", 1, options=settings)
    seen, info = env.reset(seed=seed)
    rows, told = many.reset(seed=seed)
    assert (rows[0] == seen).all()
    assert (told["seat"][0], many.batch.seeds[0]) == (info["seat"], info["seed"])
    again, info_again = env.reset(seed=info["seed"])
    assert (again == seen).all()
    assert (info_again.pop("action_mask") == info.pop("action_mask")).all()
    assert info_again == info


def test_a_seat_is_drawn_for_every_game() -> None:
    env = CardEnv("crazy_eights", options={"seats": 4})
    seats = [env.reset(seed=seed)[1]["seat"] for seed in range(400)]
    assert all(70 < seats.count(seat) < 130 for seat in range(4))


# Many at once


EXTREME: dict[str, dict[str, Any]] = {
    "crazy_eights": {"optional_draw": True},
    "uno": {"voluntary_draw": True, "stacking": True},
}


@pytest.mark.parametrize("policy", ["first", "last", "any"])
@pytest.mark.parametrize("name", IDS)
def test_observations_stay_in_their_space(name: str, policy: str) -> None:
    """The last action of Uno draws: hands grow until a colour is all in one of them."""
    envs, rng = CardVectorEnv(name, 16, options=EXTREME.get(name)), np.random.default_rng(4)
    seen, _ = envs.reset(seed=0)
    for _ in range(150):
        assert envs.observation_space.contains(seen)
        mask = envs.action_masks()
        wish = rng.random(mask.shape) if policy == "any" else np.arange(1, 1 + mask.shape[1])
        actions = (mask / wish if policy == "first" else mask * wish).argmax(axis=1)
        seen, _, over, _, info = envs.step(actions)
        for row in np.flatnonzero(over):
            assert envs.single_observation_space.contains(info["final_obs"][row])


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
        options=options,
    ).unwrapped
    single = [CardEnv(name, opponents=opponents, options=options) for _ in range(rows)]
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
    with pytest.raises(CardlabError, match="takes no options, got reset_mask"):
        many.reset(options={"reset_mask": np.ones(3, bool)})
    with pytest.raises(CardlabError, match="seed 9223372036854775806 is too large"):
        many.reset(seed=(1 << 63) - 2)
    many.reset(seed=(1 << 63) - 3)  # the largest for three rows
    with pytest.raises(CardlabError, match="num_envs must be at least 1, got -1"):
        CardVectorEnv("crazy_eights", -1)
    with pytest.raises(CardlabError, match="render_mode must be None, got 'ansi'"):
        gymnasium.make_vec(
            IDS["uno"], 2, vectorization_mode="vector_entry_point", render_mode="ansi"
        )


def test_vector_infos_have_the_form_of_gymnasium() -> None:
    """What ends is told under the names that Gymnasium's own vectors of single games use."""
    envs = [
        CardVectorEnv("crazy_eights", 3),
        SyncVectorEnv(
            [lambda: CardEnv("crazy_eights")] * 3, autoreset_mode=AutoresetMode.SAME_STEP
        ),
    ]
    names = []
    for env in envs:
        _, info = env.reset(seed=0)
        names.append([set(info) - {"seed", "_seed"}])
        while "final_info" not in info:
            masks = env.action_masks() if env is envs[0] else np.stack(env.call("action_masks"))
            _, _, over, _, info = env.step(masks.argmax(axis=1))
        assert (info["final_info"]["_returns"] == over).all()
        names[-1] += [set(info) - {"seed", "_seed"}, set(info["final_info"])]
    assert names[0] == names[1]


def play_on(env: Any) -> bytes:
    """Return what an environment shows for some steps."""
    told = b""
    for _ in range(12):
        if isinstance(env, pettingzoo.CardEnv):
            told += env.last()[0]["observation"].tobytes()
            env.step(int(env.last()[0]["action_mask"].argmax()))
        elif isinstance(env, CardVecEnv):
            told += env.step(np.stack(env.env_method("action_masks")).argmax(axis=1))[0].tobytes()
        else:
            told += env.step(env.action_masks().argmax(axis=-1))[0].tobytes()
    return told


@pytest.mark.parametrize(
    "make",
    [
        lambda: pettingzoo.cribbage(),
        lambda: CardEnv("cribbage", opponents="heuristic"),
        lambda: CardVectorEnv("cribbage", 3, opponents="heuristic"),
        lambda: CardVecEnv("cribbage", 3, opponents="heuristic"),
    ],
    ids=["pettingzoo", "gymnasium", "vector", "stable_baselines3"],
)
def test_environments_can_be_pickled(make: Any) -> None:
    env = pickle.loads(pickle.dumps(make()))  # before any game
    if isinstance(env, CardVecEnv):
        env.seed(3)
        env.reset()
    else:
        env.reset(seed=3)
    play_on(env)
    assert play_on(pickle.loads(pickle.dumps(env))) == play_on(env)


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


@pytest.mark.slow
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
    # What the page says to do with it afterwards.
    page = (ROOT / "docs/how_to/environments.md").read_text()
    (lines,) = re.findall(r"^```text\n(cd examples\n.*?)^```$", page, re.S | re.M)
    (tmp_path / "examples").mkdir()
    shutil.copy(ROOT / "examples" / "maskable_ppo.py", tmp_path / "examples")
    (tmp_path / "a.zip").rename(tmp_path / "maskable_ppo.zip")
    lines = lines.replace("cardlab match", f"{shlex.quote(sys.executable)} -m cardlab match")
    said = subprocess.run(
        ["sh", "-ec", lines.replace("--games 2000", "--games 4")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert said.returncode == 0, said.stderr
    assert "4 games on 2 deals" in said.stdout


@pytest.mark.parametrize(
    "code",
    re.findall(
        r"^```python\n(.*?)^```$", (ROOT / "docs/how_to/environments.md").read_text(), re.S | re.M
    ),
    ids=lambda code: code.splitlines()[0],
)
def test_the_blocks_of_the_page_run(code: str, capsys: Any) -> None:
    exec(compile(code, "docs/how_to/environments.md", "exec"), {})


def twice(number: int) -> int:
    return abs(number) + abs(number)


def test_environments_of_other_libraries() -> None:
    gymnasium = pytest.importorskip("gymnasium")
    pytest.importorskip("pettingzoo")
    from cardlab.interop import pettingzoo
    from cardlab.interop.gymnasium import IDS, register

    register()
    register()  # twice does no harm
    assert set(IDS.values()) <= set(gymnasium.registry)
    env = pettingzoo.env("crazy_eights", options={"seats": 3})
    env.reset(seed=1)
    assert env.action_space(env.agent_selection).n == find_game("crazy_eights").num_actions


def test_rows_of_stable_baselines3() -> None:
    pytest.importorskip("stable_baselines3")
    from cardlab.interop.stable_baselines3 import CardVecEnv

    env, twin = (CardVecEnv("crazy_eights", 3) for _ in range(2))
    for one in (env, twin):
        one.seed(5)
        one.reset()
    actions = env.env_method("action_masks").argmax(axis=1)
    env.step_async(actions)
    assert np.array_equal(env.step_wait()[0], twin.step(actions)[0])
    assert [one.size for one in env.get_attr("batch")] == [3, 3, 3]
    assert env.env_is_wrapped(object, indices=[0, 2]) == [False, False]
    with pytest.raises(AttributeError, match="no attribute 'batch' of their own"):
        env.set_attr("batch", None)
