"""Agents on top of networks of Koi-Koi: values with units, attention, search."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch

from cardlab.engine.errors import CardlabError
from cardlab.engine.game import HasAttention, HasUnit, HasValues, Turn
from cardlab.engine.kernel import JIT
from cardlab.engine.play import Table
from cardlab.games.koi_koi.agents.network import TOKEN_TEXTS, KoiKoiNetwork, make_rows
from cardlab.games.koi_koi.agents.search import KoiKoiSearch, search
from cardlab.games.koi_koi.learning.network_files import export, load_networks, save_networks
from cardlab.games.koi_koi.learning.predictors import blank_table
from cardlab.games.koi_koi.networks.transformer import make_networks
from cardlab.games.koi_koi.rules import GAME, KOI_KOI, STOP
from cardlab.games.koi_koi.table import CALL, score
from cardlab.games.koi_koi.tokens import token_of_action
from cardlab.learning import __main__ as command
from cardlab.show import terminal
from cardlab.testing.agents import check_agent

ORIGINS: dict[str, dict[str, Any]] = {
    "win": {"config": {"reward": "win"}},
    "point": {"config": {"reward": "point"}},
    "people": {"command": "cardlab train koi_koi/supervised --set records=games"},
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Tiny networks that have learned nothing, shipped as if they had; exported once, for time."""
    run, shipped = tmp_path_factory.mktemp("run"), tmp_path_factory.mktemp("shipped")
    torch.manual_seed(0)
    save_networks(run, make_networks("shared", width=16), "shared", ORIGINS["win"])
    (run / "state.json").write_text(json.dumps({"loop": 1, "table": blank_table().tolist()}))
    assert [path.name for path in export(run, shipped.name, shipped.parent)] == ["all.onnx"]
    made = {"run": run, "win": shipped}
    for name in ("point", "people"):
        made[name] = tmp_path_factory.mktemp(name)
        model = onnx.load(shipped / "all.onnx")
        entry = next(one for one in model.metadata_props if one.key == "cardlab")
        about = json.loads(entry.value)
        del about["config"]
        entry.value = json.dumps(about | ORIGINS[name])
        onnx.save(model, made[name] / "all.onnx")
    return made


def some_turns(phase: int | None = None, count: int = 6) -> list[Turn]:
    """Return turns of random games, of one phase if wanted."""
    found: list[Turn] = []
    for seed in range(40):
        table, rng = Table(GAME, seed=seed), np.random.default_rng(seed)
        while not table.over and len(found) < count:
            turn = table.turn()
            if len(turn.legal) > 1 and phase in (None, int(turn.view.phase)) and rng.random() < 0.2:
                found.append(turn)
            table.act(int(rng.choice(turn.legal)))
    return found


# Values and attention


@pytest.mark.slow
def test_values_come_in_the_unit_that_was_learned(folders: dict[str, Path]) -> None:
    rng = np.random.default_rng(0)
    win, point, people = (KoiKoiNetwork(folders[name]) for name in ORIGINS)
    assert (win.learned, point.learned, people.learned) == tuple(ORIGINS)
    assert isinstance(win, HasValues)
    assert isinstance(win, HasUnit)
    for turn in some_turns():
        assert win.unit is None
        assert win.values(turn, rng) == pytest.approx(win.ratings(turn).clip(-1, 1))
        assert point.values(turn, rng) == pytest.approx(10 * point.ratings(turn), rel=1e-5)
        shares = people.values(turn, rng)
        assert shares.sum() == pytest.approx(1)
        assert shares.argmax() == people.ratings(turn).argmax()
    assert point.unit is not None
    assert "points" in point.unit.words
    assert people.unit is not None
    assert "people" in people.unit.words


def test_attention_is_that_of_the_network(folders: dict[str, Path]) -> None:
    agent = KoiKoiNetwork(folders["win"])
    assert isinstance(agent, HasAttention)
    network = load_networks(folders["run"], torch.device("cpu"), torch.float32)[0]["all"]
    for turn in some_turns(count=4):
        found = agent.attention(turn)
        assert found.tokens == TOKEN_TEXTS
        assert found.weights.shape == (2, 4, len(turn.legal), 50)
        assert found.weights.sum(axis=-1) == pytest.approx(1, abs=1e-4)
        rows, _ = make_rows(turn.view.array, np.array([turn.seat]))
        with torch.no_grad():
            maps = network.network.attention(*network.expansion(torch.from_numpy(rows)))
        tokens = [int(token_of_action(int(action))) for action in turn.legal]
        for block, whole in enumerate(maps):
            assert found.weights[block] == pytest.approx(whole[0, :, tokens].numpy(), abs=0.01)


def test_an_old_export_says_what_it_lacks(
    folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = KoiKoiNetwork(folders["people"])
    assert (
        b"/src/cardlab" not in (folders["win"] / "all.onnx").read_bytes()
    )  # nor where it was made
    monkeypatch.setattr(agent.networks[0], "outputs", ["values"])
    with pytest.raises(CardlabError, match="exported without attention; export its run again"):
        agent.attention(some_turns(phase=2, count=1)[0])
    with pytest.raises(CardlabError, match="does not say how likely a lead wins"):
        _ = agent.chances


def test_a_hint_says_its_unit(folders: dict[str, Path]) -> None:
    turn = some_turns(phase=2, count=1)[0]
    point = KoiKoiNetwork(folders["point"])
    values = point.values(turn, np.random.default_rng(0))
    texts, shares = terminal.scale_values(turn, values, point.unit, 0)
    assert texts == [f"{value:+.2f}" for value in values]
    assert (shares.min(), shares.max()) == (0, 1)
    texts, shares = terminal.scale_values(turn, np.array([-1.0, 0.0, 0.5]), None, 1)
    assert texts == ["0.0%", "50.0%", "75.0%"]
    assert shares.tolist() == [0, 0.5, 0.75]


def test_a_run_is_kept_for_reports(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tmp_path / "run"
    run.mkdir()
    with pytest.raises(SystemExit):
        command.main(["archive", "koi_koi/monte_carlo", str(run), "it", str(tmp_path / "logs")])
    assert "holds no run with a log" in capsys.readouterr().err
    (run / "log.jsonl").write_text('{"step": 1}\n')
    (run / "summary.json").write_text('{"summary": {"games": 3}}')
    command.main(["archive", "koi_koi/monte_carlo", str(run), "it", str(tmp_path / "logs")])
    assert gzip.decompress((tmp_path / "logs" / "it.jsonl.gz").read_bytes()) == b'{"step": 1}\n'
    assert json.loads((tmp_path / "logs" / "it.json").read_text())["summary"]["games"] == 3
    command.main(
        ["archive", "koi_koi/monte_carlo", str(run), "it", str(tmp_path / "logs"), "--after"]
    )
    followed = gzip.decompress((tmp_path / "logs" / "it.jsonl.gz").read_bytes())
    assert followed == b'{"step": 1}\n{"step": 2}\n'
    after = json.loads((tmp_path / "logs" / "it.json").read_text())["after"]
    assert after == {"summary": {"games": 3}}
    with pytest.raises(SystemExit):
        command.main(
            ["archive", "koi_koi/monte_carlo", str(run), "other", str(tmp_path / "logs"), "--after"]
        )
    assert "archive the run that" in capsys.readouterr().err
    (run / "summary.json").unlink()  # one that has not ended says how far it is
    (run / "config.json").write_text('{"reward": "win"}')
    (run / "state.json").write_text('{"games": 2, "table": []}')
    command.main(["archive", "koi_koi/monte_carlo", str(run), "it", str(tmp_path / "logs")])
    kept = json.loads((tmp_path / "logs" / "it.json").read_text())
    assert kept == {"config": {"reward": "win"}, "summary": {"games": 2, "finished": False}}


# Search


def test_what_the_network_finds_bad_is_not_tried(
    folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    network = KoiKoiNetwork(folders["win"])
    turn = some_turns(phase=2, count=1)[0]
    where = (turn.view.array, np.array([turn.seat]), np.array([3], dtype=np.int64))
    alone = search(network, *where, worlds=2, hands=4, most=3, margin=-1.0)[0]
    assert alone[: len(turn.legal)] == pytest.approx(network.ratings(turn))
    found = search(network, *where, worlds=2, hands=4, most=2, margin=5.0)[0]
    best = np.argsort(-alone)[:2]
    assert found.argmax() in best
    assert (found[best] != alone[best]).all()
    monkeypatch.setattr("cardlab.games.koi_koi.agents.search.TRUST", 0.0)
    same = search(network, *where, worlds=2, hands=4, most=2, margin=5.0)[0]
    assert same[best] == pytest.approx(alone[best])


def test_search_knows_what_a_stop_is_worth(folders: dict[str, Path]) -> None:
    network = KoiKoiNetwork(folders["point"])
    for turn in some_turns(phase=CALL, count=4):
        assert turn.legal.tolist() == [STOP, KOI_KOI]
        where = (turn.view.array, np.array([turn.seat]), np.array([9], dtype=np.int64))
        found = search(network, *where, worlds=6, hands=4, most=2, margin=9.0)[0]
        assert found[0] == pytest.approx(score(turn.view.array[0], turn.seat) / 10)
        assert np.isneginf(found[2:]).all()


@pytest.mark.skipif(not JIT, reason="too many games to interpret")
def test_search_is_an_agent_like_others(folders: dict[str, Path]) -> None:
    for name in ("win", "point"):
        check_agent(lambda name=name: KoiKoiSearch(3, 4, 2, folder=str(folders[name])), GAME)
    people = KoiKoiSearch(folder=str(folders["people"]))
    with pytest.raises(CardlabError, match="learned no values"):
        people.act(some_turns(count=1)[0], np.random.default_rng(0))
    for nothing in (KoiKoiSearch(hands=0), KoiKoiSearch(worlds=0)):
        with pytest.raises(CardlabError, match="has nothing to look at; give 1 or more of both"):
            nothing.act(some_turns(count=1)[0], np.random.default_rng(0))
