"""Networks for Uno: their shapes and symmetry, as ONNX the same as in torch, and as agents."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from cardlab.agents.catalog import find_agent
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import HasValues, Turn
from cardlab.engine.kernel import JIT
from cardlab.engine.play import Table
from cardlab.games.uno import features
from cardlab.games.uno.agents.network import OUTPUT, UnoNetwork, UnoNetworkOpen
from cardlab.games.uno.learning import dqn as deep_q
from cardlab.games.uno.learning import policy_gradient
from cardlab.games.uno.learning.games import Games, table
from cardlab.games.uno.learning.runs import export, greedy, load_network
from cardlab.games.uno.networks.q_networks import NETWORKS, build, set_bits
from cardlab.games.uno.rules import GAME
from cardlab.networks.weights import load_weights, save_weights
from cardlab.testing import check_agent, random_table, retrace

pytestmark = pytest.mark.skipif(not JIT, reason="too many games to interpret")


def quiet(*_: Any) -> None:
    pass


def some_turns(encoding: str, rows: int = 64) -> Games:
    games = Games(rows, [table(2), table(4, "official"), table(10)], encoding, seed=8)
    for _ in range(12):
        games.step(np.array([(int(one) & -int(one)).bit_length() - 1 for one in games.legal]), 0.8)
    return games


@pytest.mark.parametrize("heads", [1, 2])
@pytest.mark.parametrize("name", NETWORKS)
def test_every_network_answers_and_learns(name: str, heads: int) -> None:
    encoding = "fair_log" if name == "recurrent" else "fair"
    torch.manual_seed(0)  # few channels: with other weights all of them may be silent
    network = build(name, encoding, width=32, layers=2, heads=heads)
    games = some_turns(encoding)
    answer = network(torch.from_numpy(games.features))
    assert answer.shape == (64, 61 * heads)
    answer.square().mean().backward()
    assert all(one.grad is not None and one.grad.any() for one in network.parameters())
    spread = answer.std(dim=0)
    assert (spread > 0).all(), "an output does not depend on the turn"


def test_the_papers_network_has_the_papers_size() -> None:
    sizes = [tuple(one.shape) for one in build("feedforward", "paper").parameters()]
    assert sizes == [(512, 420), (512,), (512, 512), (512,), (61, 512), (61,)]


def renamed(turn: Any, order: tuple[int, ...]) -> Any:
    """Return an encoded turn with other names for the colours."""
    turn = turn.copy()
    planes = turn[: features.BY_COLOUR].reshape(8, 4, 15)
    rows = turn[features.BY_COLOUR : features.SEATS].reshape(-1, 4)
    turn[: features.BY_COLOUR] = planes[:, order].reshape(-1)
    turn[features.BY_COLOUR : features.SEATS] = rows[:, order].reshape(-1)
    return turn


def test_renaming_the_colours_renames_the_answer() -> None:
    torch.manual_seed(0)
    network = build("colours", "fair", width=32, layers=2, heads=2)
    turns = some_turns("fair", 4).features
    before = network(torch.from_numpy(turns)).detach().numpy().reshape(4, 2, 61)
    for order in permutations(range(4)):
        changed = np.stack([renamed(turn, order) for turn in turns])
        after = network(torch.from_numpy(changed)).detach().numpy().reshape(4, 2, 61)
        moved = before[:, :, :60].reshape(4, 2, 4, 15)[:, :, order].reshape(4, 2, 60)
        assert after[:, :, :60] == pytest.approx(moved, abs=1e-5)
        assert after[:, :, 60] == pytest.approx(before[:, :, 60], abs=1e-5)


def test_sets_become_rows() -> None:
    rows = set_bits(torch.tensor([0b101, 1 << 60]))
    assert rows.nonzero().tolist() == [[0, 0], [0, 2], [1, 60]]


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Networks of tiny real runs: values on `fair`, values on `paper`, policy and values."""
    folder = tmp_path_factory.mktemp("runs")
    tiny = {"games": 100, "rows": 16, "batch": 64, "stretches": 1, "evaluation_games": 40}
    tiny |= {"threads": 1, "device": "cpu", "layers": 1}
    deep_q.train(deep_q.Config(encoding="fair", width=32, **tiny), folder / "fair", quiet)
    deep_q.train(deep_q.Config(width=32, **tiny), folder / "open", quiet)
    gradient = policy_gradient.Config(width=32, block=8, **tiny)
    policy_gradient.train(gradient, folder / "policy", quiet)
    return {
        name: export(folder / name, name, folder / "shipped")[0]
        for name in ("fair", "open", "policy")
    }


@pytest.mark.slow
def test_a_shipped_network_says_where_it_comes_from(shipped: dict[str, Path]) -> None:
    about = json.loads(shipped["policy"].with_suffix(".json").read_text())
    assert about["command"].startswith("cardlab train uno/policy_gradient --set games=100")
    assert (about["game"], about["rules"], about["encoding"]) == ("uno", 1, "fair")
    assert about["games"] == 100
    assert {one["seats"] for one in about["scores"]} == {2, 3, 4, 5}


@pytest.mark.parametrize("name", ["fair", "policy"])
def test_torch_and_onnxruntime_choose_alike(shipped: dict[str, Path], name: str) -> None:
    network, _ = load_network(shipped[name].parent.parent / name / "weights.safetensors")
    agent = UnoNetwork(shipped[name])
    games = some_turns("fair", 256)
    legal = torch.from_numpy(games.legal)
    with torch.no_grad():
        answer = network(torch.from_numpy(games.features))
    ours = agent._network.run(features=games.features)
    both = np.concatenate([ours[one] for one in ours], axis=1)
    assert both == pytest.approx(answer.numpy(), abs=2e-3)  # weights are kept in half precision
    scores = answer[:, :61].masked_fill(~set_bits(legal), -torch.inf)
    theirs = torch.from_numpy(both[:, :61]).masked_fill(~set_bits(legal), -torch.inf)
    best = scores.gather(1, theirs.argmax(dim=1, keepdim=True)).squeeze(1)
    assert (scores.amax(dim=1) - best).max() < 4e-3  # the same, or one as good
    same = scores.argmax(dim=1) == theirs.argmax(dim=1)
    assert same.float().mean() > 0.95
    assert greedy(network, torch.from_numpy(games.features), legal).shape == (256,)


@pytest.mark.parametrize(
    "options", [{}, {"seats": 3, "rules": "rlcard"}, {"seats": 4, "stacking": True}], ids=str
)
@pytest.mark.parametrize("name", ["fair", "policy"])
def test_agents_conform(shipped: dict[str, Path], name: str, options: dict[str, Any]) -> None:
    check_agent(lambda: UnoNetwork(shipped[name]), GAME, options)


def test_the_open_agent_conforms_and_sees_hands(shipped: dict[str, Path]) -> None:
    check_agent(lambda: UnoNetworkOpen(shipped["open"]), GAME, {"seats": 3, "rules": "rlcard"})
    agent = UnoNetworkOpen(shipped["open"])
    answers = set()
    for one in retrace(random_table(GAME, {"rules": "rlcard"}, 1)):
        if one.mover >= 0 and len(one.state.legal()) > 3:
            mask = np.zeros((1, GAME.num_actions), dtype=bool)
            mask[0, one.state.legal()] = True
            for seed in range(3):
                world = one.state.view(one.mover).imagine(np.random.default_rng(seed))
                numbers = agent.ask(world.array, np.array([one.mover]), mask)["values"]
                answers.add(numbers[mask].tobytes())
            break
    assert len(answers) == 3, "its values should hang on hidden cards"


def test_values_are_expected_returns(shipped: dict[str, Path]) -> None:
    agent = UnoNetwork(shipped["policy"])
    assert isinstance(agent, HasValues)
    rng = np.random.default_rng(0)
    for seats in (2, 5):
        state = Table(GAME, seed=3, options={"seats": seats}).state
        turn = Turn(GAME, state.mover, state.view(state.mover), state.legal())
        found = agent.values(turn, rng)
        assert found.shape == turn.legal.shape
        assert ((found >= -1 / (seats - 1)) & (found <= 1)).all()


@pytest.mark.parametrize(
    "name", ["uno_net", "uno_dqn", "uno_deep_sarsa", "uno_dqn_open", "uno_deep_sarsa_open"]
)
def test_shipped_agents_are_what_they_say(name: str) -> None:
    agent = find_agent(name, GAME)
    assert isinstance(agent, (UnoNetwork, UnoNetworkOpen))
    about = agent._network.about
    assert about == json.loads(agent.path.with_suffix(".json").read_text(encoding="utf-8"))
    assert isinstance(agent, UnoNetworkOpen) == (about["encoding"] == "paper")
    assert isinstance(agent, UnoNetworkOpen) == name.endswith("_open")
    if name != "uno_net":
        method = name.removeprefix("uno_").removesuffix("_open")
        assert about["config"]["method"] == method
    assert about["games"] == about["config"]["games"]


def test_every_action_has_an_output() -> None:
    assert sorted(set(OUTPUT.tolist())) == list(range(61))
    assert OUTPUT[61] == 60
    assert OUTPUT[62:].tolist() == [13, 28, 43, 58]


def test_mistakes_are_one_sentence(shipped: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(CardlabError, match="ends in _open may play it"):
        UnoNetwork(shipped["open"])
    with pytest.raises(CardlabError, match=r"network .* does not exist"):
        UnoNetwork(tmp_path / "none.onnx")
    torn = tmp_path / "torn.onnx"
    torn.write_bytes(shipped["fair"].read_bytes()[:2000])
    with pytest.raises(CardlabError, match="is no whole network"):
        UnoNetwork(torn)
    run = shipped["fair"].parent.parent / "fair"
    tensors, about = load_weights(run / "weights.safetensors")
    for change, sentence in [
        ({"rules": 0}, "is for rules 0, not 1"),
        ({"game": "koi_koi"}, "is for game 'koi_koi', not 'uno'"),
        ({"encoding_version": 0}, "is for encoding_version 0, not 1"),
        ({"width": 64}, "weights of another network than it says"),
    ]:
        save_weights(tmp_path / "weights.safetensors", tensors, about | change)
        with pytest.raises(CardlabError, match=sentence):
            export(tmp_path, "x", tmp_path)
    agent = find_agent(f"cardlab.games.uno.agents.network:UnoNetwork:path={shipped['fair']}", GAME)
    assert isinstance(agent, UnoNetwork)
