"""Reading the learned tables of agents: one array of an npz file, checked before it is used."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np

from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Array

__all__ = ["load_array"]


def load_array(path: Path, name: str, shape: tuple[int, ...] | None, what: str) -> Array:
    """Return an array of an npz file, of this shape unless it is None."""
    try:
        with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
            found = file[name]
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise CardlabError(f"{path} holds no {what} ({error})") from None
    if shape is not None and found.shape != shape:
        raise CardlabError(f"{path} holds {what} of shape {found.shape}; needed is {shape}")
    return np.asarray(found)
