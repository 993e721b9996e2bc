"""Weights of networks in safetensors files, each with what it is about in its own header."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from cardlab.engine.errors import CardlabError
from cardlab.engine.whole_files import whole_file

__all__ = ["check_about", "load_weights", "save_weights"]


def save_weights(path: Path, tensors: Mapping[str, Tensor], about: Mapping[str, Any]) -> None:
    """Write tensors and what they are about, whole or not at all."""
    plain = {name: one.detach().cpu().contiguous() for name, one in tensors.items()}
    with whole_file(path) as rough:
        save_file(plain, rough, metadata={"about": json.dumps(about)})


def load_weights(path: Path, device: str = "cpu") -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Return the tensors of a file and what they are about."""
    try:
        with safe_open(path, framework="pt", device=device) as file:
            about = json.loads((file.metadata() or {})["about"])
            return {name: file.get_tensor(name) for name in file.keys()}, about  # noqa: SIM118
    except FileNotFoundError:
        raise CardlabError(f"there are no weights at {path}; train first, or name others") from None
    except (SafetensorError, OSError):
        raise CardlabError(
            f"{path} is no whole file of weights; remove it, or copy it again"
        ) from None
    except (KeyError, ValueError):
        raise CardlabError(f"{path} holds weights of another program; name others") from None


def check_about(path: Path, about: Mapping[str, Any], **wanted: Any) -> None:
    """Make sure that weights are for what they are to be used for: game, rules, encoding ..."""
    for name, value in wanted.items():
        if about.get(name) != value:
            raise CardlabError(
                f"{path} is for {name} {about.get(name)!r}, not {value!r}; "
                "name weights that fit, or train them again"
            )
