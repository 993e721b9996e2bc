"""Checkpoints of networks in training: modules, optimisers and numbers in one file, whole or none.

A training derives everything random from its seed and how far it is, so that a checkpoint needs no
generator: a run that was killed and resumed ends with the same weights, to the bit.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from cardlab.engine.errors import CardlabError
from cardlab.networks.weights import load_weights, save_weights

__all__ = ["load_checkpoint", "save_checkpoint"]


def save_checkpoint(
    path: Path,
    modules: Mapping[str, nn.Module],
    optimisers: Mapping[str, Optimizer],
    about: Mapping[str, Any],
    tensors: Mapping[str, Tensor] | None = None,
) -> None:
    """Write how far a training is."""
    kept: dict[str, Tensor] = {}
    for name, module in modules.items():
        for key, value in module.state_dict().items():
            kept[f"module/{name}/{key}"] = value
    for name, optimiser in optimisers.items():
        for number, state in optimiser.state_dict()["state"].items():
            for key, value in state.items():
                kept[f"optimiser/{name}/{number}/{key}"] = torch.as_tensor(value)
    for name, tensor in (tensors or {}).items():
        kept[f"tensor/{name}"] = tensor
    # Tied or sliced tensors would be refused: every entry gets memory of its own.
    save_weights(path, {key: value.detach().clone() for key, value in kept.items()}, about)


def load_checkpoint(
    path: Path,
    modules: Mapping[str, nn.Module],
    optimisers: Mapping[str, Optimizer],
    device: str = "cpu",
) -> tuple[dict[str, Any], dict[str, Tensor]] | None:
    """Restore modules and optimisers; return their description, or None if nothing is kept.

    Learning rates and the like stay as the optimisers have them: they come from the configuration.
    """
    if not path.exists():
        return None
    kept, about = load_weights(path, device)
    try:
        for name, module in modules.items():
            module.load_state_dict(_below(f"module/{name}/", kept))
        for name, optimiser in optimisers.items():
            states: dict[int, dict[str, Tensor]] = {}
            for key, value in _below(f"optimiser/{name}/", kept).items():
                number, _, entry = key.partition("/")
                states.setdefault(int(number), {})[entry] = value
            groups = optimiser.state_dict()["param_groups"]
            optimiser.load_state_dict({"state": states, "param_groups": groups})
    except (RuntimeError, ValueError, KeyError):
        raise CardlabError(
            f"{path} is a checkpoint of another network; remove it to start again"
        ) from None
    return about, _below("tensor/", kept)


def _below(start: str, kept: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {key.removeprefix(start): kept[key] for key in kept if key.startswith(start)}
