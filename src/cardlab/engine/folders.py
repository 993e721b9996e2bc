"""Folders that a person names: a mistyped one is an error, never made silently."""

from __future__ import annotations

import shlex
from difflib import get_close_matches
from pathlib import Path

from cardlab.engine.errors import CardlabError

__all__ = ["check_folder", "make_data_folder", "make_folder", "missing_folder", "require_folder"]

RUNS = "runs"  # the folder of runs without a name of their own; made wherever it is needed


def require_folder(path: Path) -> None:
    """Raise a sentence unless the folder of a file that is to be written exists."""
    _require(path.parent, f"{path} cannot be written")


def check_folder(folder: Path) -> None:
    """Raise a sentence unless `make_folder` can make a folder, or it exists."""
    try:
        needs_parent = folder.parts[:1] != (RUNS,) and not folder.is_dir()
    except (OSError, ValueError):  # a name that is too long: `_require` or `mkdir` says why
        needs_parent = True
    if needs_parent:
        _require(folder.parent, f"{folder} cannot be made")


def make_folder(folder: Path, parents: bool = False) -> None:
    """Make a folder if needed; without `parents` the folder that it lies in must exist.

    Folders under `runs` are always made.
    """
    if not parents:
        check_folder(folder)
    try:
        folder.mkdir(parents=parents or folder.parts[:1] == (RUNS,), exist_ok=True)
    except (OSError, ValueError) as error:  # what no file system can hold is a ValueError
        reason = getattr(error, "strerror", None) or error
        raise CardlabError(f"{folder} cannot be made: {reason}; name another folder") from None


def make_data_folder(folder: Path) -> None:
    """Make a folder in the user's own data folder, with all folders that it lies in."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CardlabError(
            f"{folder} cannot be made: {error.strerror}; name another data folder in XDG_DATA_HOME"
        ) from None


def _require(folder: Path, what: str) -> None:
    """Raise a sentence that begins with `what` unless a folder exists."""
    try:
        if folder.is_dir():
            return
        is_there = folder.exists()
    except (OSError, ValueError) as error:  # what no file system can hold is a ValueError
        reason = getattr(error, "strerror", None) or error
        raise CardlabError(f"{what}: {reason}; name another folder") from None
    if is_there:
        raise CardlabError(f"{what}: {folder} is a file, not a folder; name another folder")
    raise CardlabError(missing_folder(folder, what))


def missing_folder(folder: Path, what: str) -> str:
    """Return a sentence about a folder that does not exist, with a similar name or the way out."""
    near, way = _nearest(folder), f"make it with mkdir -p {shlex.quote(str(folder))}"
    meant = f"did you mean {near}? otherwise {way}" if near else way
    return f"{what}: folder {folder} does not exist; {meant}"


def _nearest(folder: Path) -> Path | None:
    """Return a folder with nearly the same path as one that does not exist, or None."""
    missing = [folder]
    while not missing[-1].parent.is_dir():
        missing.append(missing[-1].parent)
        if missing[-1] == missing[-1].parent:
            return None
    place = missing[-1].parent
    try:
        known = [entry.name for entry in place.iterdir() if entry.is_dir()]
    except OSError:  # a folder that may not be listed
        return None
    for name in get_close_matches(missing[-1].name, known, cutoff=0.75):
        meant = place / name / folder.relative_to(missing[-1])
        if meant.is_dir():
            return meant
    return None
