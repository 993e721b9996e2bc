"""Read arrays from npz files, which may be damaged or come from strangers.

Nothing is unpickled, and every error of NumPy or zipfile becomes one sentence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Array

__all__ = ["load_array", "read_arrays"]


def read_arrays(path: Path, what: str) -> dict[str, Array]:
    """Return all arrays of an npz file by name; `what` names the content in error messages."""
    with _opened(path, what) as file:
        found = dict(file)
    for name, array in found.items():
        if not isinstance(array, np.ndarray):  # any other file of the archive, as bytes
            raise CardlabError(f"{path} holds no {what} ({name!r} is not an array)")
    return found


def load_array(path: Path, name: str, shape: tuple[int, ...] | None, what: str) -> Array:
    """Return an array of numbers of an npz file, of this shape unless it is None."""
    with _opened(path, what) as file:
        found = np.asarray(file[name])
    if shape is not None and found.shape != shape:
        raise CardlabError(f"{path} holds {what} of shape {found.shape}; needed is {shape}")
    if found.dtype.kind not in "biuf":
        raise CardlabError(f"{path} holds {what} of {found.dtype}; needed are numbers")
    return found


@contextmanager
def _opened(path: Path, what: str) -> Iterator[Mapping[str, Array]]:
    """Open an npz file; errors while its arrays are read become one sentence, too."""
    try:
        with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
            yield file
    except Exception as error:  # of a dozen kinds, from OSError to TokenError and zlib.error
        raise CardlabError(f"{path} holds no {what} ({_reason(error)})") from None


def _reason(error: BaseException) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
