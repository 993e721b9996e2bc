"""Weights, ONNX files, checkpoints and logs: the parts that every trained network shares."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from cardlab.agents.token_network import TokenPlayer
from cardlab.engine.errors import CardlabError, require
from cardlab.learning.checkpoints import load_checkpoint, save_checkpoint
from cardlab.learning.logs import Log, read_log
from cardlab.networks.onnx import Network
from cardlab.networks.onnx_export import export
from cardlab.networks.weights import check_about, load_weights, save_weights


def small_network() -> torch.nn.Module:
    torch.manual_seed(0)

    class Small(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.body = torch.nn.Sequential(
                torch.nn.Linear(40, 64), torch.nn.ReLU(), torch.nn.Linear(64, 9)
            )

        def forward(self, features: torch.Tensor) -> torch.Tensor:
            return self.body(features.float())

    return Small()


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("network") / "small.onnx"
    example = {"features": torch.zeros(2, 40, dtype=torch.uint8)}
    export(small_network(), example, path, ["values"], {"game": "uno", "rules": 1})
    return path


def test_onnxruntime_chooses_as_torch_does(exported: Path) -> None:
    features = np.random.default_rng(1).integers(0, 3, (500, 40)).astype(np.uint8)
    found = Network(exported, game="uno").run(features=features)["values"]
    with torch.inference_mode():
        wanted = small_network()(torch.from_numpy(features)).numpy()
    assert np.abs(found - wanted).max() < 2e-3  # weights are kept in half precision
    assert (found.argmax(1) == wanted.argmax(1)).mean() > 0.99


def test_a_network_that_fits_one_batch_alone_is_not_written(tmp_path: Path) -> None:
    class Narrow(torch.nn.Module):
        def forward(self, features: torch.Tensor) -> torch.Tensor:
            return features.float() + torch.zeros(len(features), 1)

    example = {"features": torch.zeros(2, 4, dtype=torch.uint8)}
    with pytest.raises(CardlabError, match="would take batches of one size alone"):
        export(Narrow(), example, tmp_path / "narrow.onnx", ["values"], {})


def test_a_network_is_kept_in_half_precision(exported: Path) -> None:
    weights = sum(one.numel() for one in small_network().parameters())
    assert exported.stat().st_size < 2 * weights + 8000


def test_a_network_answers_one_row_as_in_a_batch(exported: Path) -> None:
    network = Network(exported)
    features = np.random.default_rng(2).integers(0, 3, (30, 40)).astype(np.uint8)
    together = network.run(features=features)["values"]
    alone = np.concatenate([network.run(features=one[None])["values"] for one in features])
    assert np.allclose(together, alone, atol=1e-5)


def test_a_network_plays_without_torch(exported: Path) -> None:
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "import numpy as np; from pathlib import Path; from cardlab.networks.onnx import Network\n"
        f"print(Network(Path({str(exported)!r})).run(features=np.zeros((1, 40), np.uint8)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "values" in done.stdout, done.stderr


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda path: path.unlink(), "does not exist; name another file"),
        (lambda path: path.write_bytes(path.read_bytes()[:500]), "is no whole network"),
        (lambda path: path.write_text("hello"), "is no whole network"),
    ],
)
def test_a_spoilt_network_is_told_in_a_sentence(
    exported: Path, tmp_path: Path, spoil: object, told: str
) -> None:
    path = tmp_path / "copy.onnx"
    path.write_bytes(exported.read_bytes())
    spoil(path)  # type: ignore[operator]
    with pytest.raises(CardlabError, match=told):
        Network(path)


def test_a_network_for_something_else_is_refused(exported: Path) -> None:
    with pytest.raises(CardlabError, match="is for rules 1, not 2"):
        Network(exported, game="uno", rules=2)


def test_weights_come_back_with_what_they_are_about(tmp_path: Path) -> None:
    path = tmp_path / "one.safetensors"
    save_weights(path, {"a": torch.arange(6).reshape(2, 3)}, {"encoding": "fair"})
    tensors, about = load_weights(path)
    assert tensors["a"].tolist() == [[0, 1, 2], [3, 4, 5]]
    check_about(path, about, encoding="fair")
    with pytest.raises(CardlabError, match="is for encoding 'fair', not 'paper'"):
        check_about(path, about, encoding="paper")


@pytest.mark.parametrize(
    ("content", "told"),
    [(b"", "no whole file of weights"), (b"x" * 300, "no whole file of weights")],
)
def test_spoilt_weights_are_told_in_a_sentence(tmp_path: Path, content: bytes, told: str) -> None:
    path = tmp_path / "one.safetensors"
    path.write_bytes(content)
    with pytest.raises(CardlabError, match=told):
        load_weights(path)
    with pytest.raises(CardlabError, match="no weights at"):
        load_weights(tmp_path / "none.safetensors")


def test_foreign_and_truncated_weights_are_told_in_a_sentence(tmp_path: Path) -> None:
    from safetensors.torch import save_file

    path = tmp_path / "one.safetensors"
    save_file({"a": torch.zeros(100)}, path)
    with pytest.raises(CardlabError, match="weights of another program"):
        load_weights(path)
    save_weights(path, {"a": torch.zeros(100)}, {})
    path.write_bytes(path.read_bytes()[:-50])
    with pytest.raises(CardlabError, match="no whole file of weights"):
        load_weights(path)


def train_a_step(model: torch.nn.Module, optimiser: torch.optim.Optimizer, step: int) -> None:
    features = torch.randn(16, 40, generator=torch.Generator().manual_seed(step))
    optimiser.zero_grad()
    model(features).square().sum().backward()
    optimiser.step()


def test_a_checkpoint_goes_on_to_the_same_bits(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.safetensors"
    model = small_network()
    optimiser = torch.optim.Adam(model.parameters(), 1e-3)
    for step in range(4):
        if step == 2:
            ring = {"ring": torch.arange(5)}
            save_checkpoint(path, {"q": model}, {"q": optimiser}, {"step": step}, ring)
        train_a_step(model, optimiser, step)
    again = small_network()
    other = torch.optim.Adam(again.parameters(), 1e-3)
    about, tensors = load_checkpoint(path, {"q": again}, {"q": other}) or ({}, {})
    assert about == {"step": 2}
    assert tensors["ring"].tolist() == [0, 1, 2, 3, 4]
    for step in range(2, 4):
        train_a_step(again, other, step)
    for one, two in zip(model.parameters(), again.parameters(), strict=True):
        assert torch.equal(one, two)


def test_a_checkpoint_of_another_network_is_told_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.safetensors"
    assert load_checkpoint(path, {}, {}) is None
    save_checkpoint(path, {"q": torch.nn.Linear(3, 3)}, {}, {})
    with pytest.raises(CardlabError, match="checkpoint of another network"):
        load_checkpoint(path, {"q": small_network()}, {})


def test_a_log_drops_what_lies_after_the_checkpoint(tmp_path: Path) -> None:
    log = Log(tmp_path)
    for step in range(5):
        log.write(step, wins=step / 10)
    log.close()
    with (tmp_path / "log.jsonl").open("a") as file:
        file.write('{"step": 5, "wi')  # cut off by a kill
    log = Log(tmp_path, last_step=2)
    log.write(3, wins=0.9)
    log.close()
    assert [(one["step"], one["wins"]) for one in read_log(tmp_path)] == [
        (0, 0.0),
        (1, 0.1),
        (2, 0.2),
        (3, 0.9),
    ]
    assert any((tmp_path / "tensorboard").iterdir())


def test_a_missing_extra_is_told_with_its_line() -> None:
    require("this", "train", "json")
    with pytest.raises(CardlabError, match=r"pip install 'cardlab\[train\]'"):
        require("this", "train", "no_such_module_at_all", json.__name__)


def test_a_network_from_a_stranger_runs_no_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "trap.py").write_text("open('ran', 'w').close()\n")
    monkeypatch.chdir(tmp_path)
    example = {"features": torch.zeros(2, 40, dtype=torch.uint8)}
    for name, told in (
        ("trap:GAME", "is a network for the game 'trap:GAME', which is not known here"),
        ("crazy8s", "is a network for the game 'crazy8s', which is not known here"),
        (7, "holds no card transformer"),
        ("birds_of_a_feather", "holds no card transformer"),
    ):
        path = tmp_path / f"{str(name)[:4]}.onnx"
        export(small_network(), example, path, ["values"], {"game": name, "rules": 1})
        with pytest.raises(CardlabError, match=told):
            TokenPlayer(path)
    assert not (tmp_path / "ran").exists()
