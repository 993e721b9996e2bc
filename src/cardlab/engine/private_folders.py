"""Folders and files that nobody but this user can have written."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from pathlib import Path

from cardlab.engine.errors import CardlabError

__all__ = ["distrust", "temporary_folder"]

ROOT = 0  # files of root are trusted: root can change this user's own files as well
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def distrust(found: os.stat_result) -> str:
    """Return why another user may have written a file or folder, or '' if none can have."""
    if not hasattr(os, "geteuid"):
        return ""  # Windows: folders of a user are closed to others
    if found.st_uid not in (os.geteuid(), ROOT):
        return "it belongs to another user"
    return "other users can write to it" if found.st_mode & OTHERS_WRITE else ""


def temporary_folder() -> Path:
    """Return this user's own folder for temporary files, where no other user can put a link."""
    owner = os.geteuid() if hasattr(os, "geteuid") else "user"
    folder = Path(tempfile.gettempdir()) / f"cardlab-{owner}"
    try:
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        reason = _take(folder) if hasattr(os, "geteuid") else ""
    except OSError as error:  # a link is no folder here, wherever it leads
        reason = error.strerror or str(error)
    if reason:
        raise CardlabError(
            f"{folder} cannot be used for temporary files ({reason}); name another folder for them "
            "in TMPDIR"
        )
    return folder


def _take(folder: Path) -> str:
    """Close a folder of this user to other users; return why it cannot be used, or ''."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        found = os.fstat(handle)
        if found.st_uid != os.geteuid():
            return "it belongs to another user"
        if stat.S_IMODE(found.st_mode) != 0o700:
            os.fchmod(handle, 0o700)
    finally:
        os.close(handle)
    return ""
