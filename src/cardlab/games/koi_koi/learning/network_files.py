"""The networks of a Koi-Koi run on disk and on a device: one file each, small enough to carry."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from cardlab.engine.errors import CardlabError
from cardlab.engine.folders import make_folder
from cardlab.games.koi_koi import PACKAGE
from cardlab.games.koi_koi.networks.transformer import (
    DESIGNS,
    KoiKoiTransformer,
    decisions_of,
    make_networks,
)
from cardlab.games.koi_koi.rules import GAME
from cardlab.games.koi_koi.tokens import ENCODING, MOST_CHOICES, WIDTH
from cardlab.learning.runs import describe_run, read_json, write_json
from cardlab.networks import onnx_export
from cardlab.networks.onnx_export import read_weights
from cardlab.networks.weights import check_about, load_weights, save_weights

ABOUT = "about.json"
SHIPPED = PACKAGE.shipped("networks")


def network_names(design: str) -> list[str]:
    """Return the names of a design's networks."""
    return [few[0] if len(few) == 1 else "all" for few in decisions_of(design)]


def about_network(
    name: str, network: KoiKoiTransformer, design: str, origin: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what is said of a network beside its weights."""
    return {
        **origin,
        "game": GAME.name,
        "rules": GAME.rules_version,
        "encoding": ENCODING,
        "design": design,
        "network": name,
        "width": network.network.shape.width,
        "outcomes": network.outcomes,
    }


def save_networks(
    folder: Path, networks: Mapping[str, KoiKoiTransformer], design: str, origin: Mapping[str, Any]
) -> None:
    """Write the weights of networks, one file each."""
    for name, network in networks.items():
        about = about_network(name, network, design, origin)
        save_weights(folder / f"{name}.safetensors", network.state_dict(), about)


def find_networks(text: str, setting: str) -> Path:
    """Return the folder that a setting names: one of a run, or of an agent that is shipped."""
    folder = Path(text) if Path(text).is_dir() else SHIPPED / text.removeprefix(f"{GAME.name}_")
    if not folder.is_dir():
        shipped = " or ".join(sorted(f"{GAME.name}_{path.name}" for path in SHIPPED.iterdir()))
        raise CardlabError(
            f"setting {setting}={text} names no folder; give that of a run, or {shipped}"
        )
    return folder


def load_networks(
    folder: Path, device: torch.device, dtype: torch.dtype
) -> tuple[dict[str, KoiKoiTransformer], str, dict[str, Any]]:
    """Return the networks of a run, finished or not, their design, and what was said of them."""
    for design in DESIGNS:
        paths = {name: _find(folder, name) for name in network_names(design)}
        if all(paths.values()):
            break
    else:
        raise CardlabError(
            f"{folder} holds no networks of koi_koi; train some with cardlab train "
            "koi_koi/supervised, or name another folder"
        )
    networks: dict[str, KoiKoiTransformer] = {}
    about: dict[str, Any] = {}
    for name, path in paths.items():
        assert path is not None
        tensors, about = _read(path)
        check_about(path, about, game=GAME.name, rules=GAME.rules_version, encoding=ENCODING)
        start = f"module/{name}/"  # as checkpoints have it
        plain = {key.removeprefix(start): one for key, one in tensors.items()}
        about["outcomes"] = about.get("outcomes", about.pop("ends", ""))  # its name before
        known = {"width": about["width"], "outcomes": about["outcomes"]}
        wanted = make_networks(design, **known, dtype=dtype)[name]
        try:
            wanted.load_state_dict({key: plain[key] for key in wanted.state_dict()})
        except (RuntimeError, KeyError):
            raise CardlabError(f"{path} holds another network; train it again") from None
        networks[name] = wanted
    return {name: one.to(device).eval() for name, one in networks.items()}, design, about


def checkpoint_path(folder: Path, name: str, loop: int) -> Path:
    """Return where a run keeps a network after a loop."""
    return folder / f"checkpoint-{name}-{loop}.safetensors"


def _find(folder: Path, name: str) -> Path | None:
    """Return the file of a network: finished, of the run's checkpoint, or shipped."""
    path = folder / f"{name}.safetensors"
    if path.exists():
        return path
    state = read_json(folder / "state.json")
    path = checkpoint_path(folder, name, state["loop"]) if state else folder / f"{name}.onnx"
    return path if path.exists() else None


def _read(path: Path) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """Return weights and what they are about, of a run or of an agent that is shipped."""
    if path.suffix != ".onnx":
        return load_weights(path)
    held, about = read_weights(path)
    return {name: torch.from_numpy(one.copy()) for name, one in held.items()}, about


def export_networks(
    networks: Mapping[str, KoiKoiTransformer], design: str, origin: Mapping[str, Any], target: Path
) -> list[Path]:
    """Write networks as ONNX files that agents play through; return the files."""
    make_folder(target)
    example = {
        "rows": torch.zeros(2, WIDTH, dtype=torch.uint8),
        "choices": torch.zeros(2, MOST_CHOICES, dtype=torch.uint8),
    }
    paths = []
    for name, network in networks.items():
        shape = network.network.shape
        plain = make_networks(design, width=shape.width, outcomes=network.outcomes)[name]
        plain.load_state_dict({key: one.cpu() for key, one in network.state_dict().items()})
        paths.append(target / f"{name}.onnx")
        about = about_network(name, plain, design, origin)
        onnx_export.export(plain, example, paths[-1], ["values"], about, attention=shape.blocks)
    return paths


def export(run: Path, name: str, target: Path) -> list[Path]:
    """Write the networks of a run to `target/NAME` as ONNX files, with `about.json`.

    That file has the table of winning chances too where they were the reward: search needs what the
    end of a round is worth.
    """
    networks, design, about = load_networks(run, torch.device("cpu"), torch.float32)
    about = {**describe_run(run), **about}
    target = target / name
    paths = export_networks(networks, design, about, target)
    about = {name: value for name, value in about.items() if name != "network"}
    state = read_json(run / "state.json")
    if state is not None and about.get("config", {}).get("reward") == "win":
        about["table"] = state["table"]
    write_json(target / ABOUT, about)
    return paths
