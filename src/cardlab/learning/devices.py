"""Where networks compute, and in which type of number."""

from __future__ import annotations

import torch

from cardlab.engine.errors import CardlabError

__all__ = ["PRECISIONS", "choose_device", "number_type"]

PRECISIONS = {"bf16": torch.bfloat16, "float32": torch.float32}


def choose_device(name: str) -> torch.device:
    """Return the device that a setting names; `auto` or nothing: a GPU if there is one."""
    if name in ("", "auto"):
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
    except RuntimeError:
        raise CardlabError(f"setting device={name} is unknown; use auto, cpu or cuda") from None
    if device.type == "cuda":
        if not torch.cuda.is_available():
            raise CardlabError("setting device=cuda needs a GPU that torch can use; use cpu")
        torch.set_float32_matmul_precision("high")  # what is kept in float32 needs no more
    return device


def number_type(precision: str, device: torch.device) -> torch.dtype:
    """Return the type that networks compute in: as set on a GPU, float32 on a processor.

    Half precision gains a processor little, and virtual machines announce instructions for it that
    then end the program.
    """
    return PRECISIONS[precision] if device.type == "cuda" else torch.float32
