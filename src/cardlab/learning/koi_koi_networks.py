"""The networks of a Koi-Koi run on disk and on a device: one file each, small enough to carry."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import torch

from cardlab.errors import CardlabError
from cardlab.features.koi_koi import ENCODING, MOST_CHOICES, WIDTH
from cardlab.games.koi_koi import GAME
from cardlab.learning.runs import read_json, told_of, write_json
from cardlab.networks.koi_koi import DESIGNS, KoiKoiNetwork, decisions_of, make_networks
from cardlab.networks.onnx import export, read_weights
from cardlab.networks.weights import check_about, load_weights, save_weights

__all__ = [
    "PRECISIONS",
    "about_network",
    "checkpoint_path",
    "choose_device",
    "export_networks",
    "find_networks",
    "load_networks",
    "network_names",
    "number_type",
    "save_networks",
    "ship",
]

ABOUT = "about.json"
SHIPPED = Path(str(files("cardlab.networks") / "shipped"))
PRECISIONS = {"bf16": torch.bfloat16, "float32": torch.float32}


def choose_device(wanted: str) -> torch.device:
    """Return the device that a setting names; empty: a GPU if there is one."""
    if wanted not in ("", "cpu", "cuda"):
        raise CardlabError(f"setting device={wanted} is not possible; give cpu or cuda")
    if wanted == "cuda" and not torch.cuda.is_available():
        raise CardlabError("setting device=cuda needs a GPU that torch can use; give device=cpu")
    device = torch.device(wanted or ("cuda" if torch.cuda.is_available() else "cpu"))
    if device.type == "cuda":
        torch.set_float32_matmul_precision("high")  # what is kept in float32 needs no more
    return device


def number_type(precision: str, device: torch.device) -> torch.dtype:
    """Return the type that networks compute in: what is set on a GPU, float32 on a processor.

    Half precision gains a processor little, and virtual machines announce instructions for it that
    then end the program.
    """
    return PRECISIONS[precision] if device.type == "cuda" else torch.float32


def network_names(design: str) -> list[str]:
    """Return the names of a design's networks."""
    return [few[0] if len(few) == 1 else "all" for few in decisions_of(design)]


def about_network(
    name: str, network: KoiKoiNetwork, design: str, origin: Mapping[str, Any]
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
        "ends": network.ends,
    }


def save_networks(
    folder: Path, networks: Mapping[str, KoiKoiNetwork], design: str, origin: Mapping[str, Any]
) -> None:
    """Write the weights of networks, one file each."""
    for name, network in networks.items():
        about = about_network(name, network, design, origin)
        save_weights(folder / f"{name}.safetensors", network.state_dict(), about)


def find_networks(text: str, setting: str) -> Path:
    """Return the folder that a setting names: one of a run, or of an agent that is shipped."""
    folder = Path(text) if Path(text).is_dir() else SHIPPED / text
    if not folder.is_dir():
        shipped = " or ".join(sorted(one.name for one in SHIPPED.glob(f"{GAME.name}_*")))
        raise CardlabError(
            f"setting {setting}={text} names no folder; give that of a run, or {shipped}"
        )
    return folder


def load_networks(
    folder: Path, device: torch.device, dtype: torch.dtype
) -> tuple[dict[str, KoiKoiNetwork], str, dict[str, Any]]:
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
    networks: dict[str, KoiKoiNetwork] = {}
    about: dict[str, Any] = {}
    for name, path in paths.items():
        assert path is not None
        tensors, about = _read(path)
        check_about(path, about, game=GAME.name, rules=GAME.rules_version, encoding=ENCODING)
        start = f"module/{name}/"  # as checkpoints have it
        plain = {key.removeprefix(start): one for key, one in tensors.items()}
        ends = about.get("ends", "")
        wanted = make_networks(design, width=about["width"], ends=ends, dtype=dtype)[name]
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
    networks: Mapping[str, KoiKoiNetwork], design: str, origin: Mapping[str, Any], target: Path
) -> list[Path]:
    """Write networks as ONNX files that agents play through; return the files."""
    target.mkdir(parents=True, exist_ok=True)
    example = {
        "rows": torch.zeros(2, WIDTH, dtype=torch.uint8),
        "choices": torch.zeros(2, MOST_CHOICES, dtype=torch.uint8),
    }
    paths = []
    for name, network in networks.items():
        shape = network.network.shape
        plain = make_networks(design, width=shape.width, ends=network.ends)[name]
        plain.load_state_dict({key: one.cpu() for key, one in network.state_dict().items()})
        paths.append(target / f"{name}.onnx")
        about = about_network(name, plain, design, origin)
        export(plain, example, paths[-1], ["values"], about, attention=shape.blocks)
    return paths


def ship(run: Path, target: Path) -> list[Path]:
    """Write the networks of a run as ONNX files, and `about.json` beside them; return the files.

    That file has the table of winning chances too where they were the reward: search needs what the
    end of a round is worth.
    """
    networks, design, about = load_networks(run, torch.device("cpu"), torch.float32)
    about = {**told_of(run), **about}
    paths = export_networks(networks, design, about, target)
    told = {name: value for name, value in about.items() if name != "network"}
    state = read_json(run / "state.json")
    if state is not None and about.get("config", {}).get("reward") == "win":
        told["table"] = state["table"]
    write_json(target / ABOUT, told)
    return paths
