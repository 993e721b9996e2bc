"""One run at a time for a file or folder; the lock ends with the process, however it ends."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cardlab.engine.errors import CardlabError
from cardlab.engine.private_folders import temporary_folder

__all__ = ["only_one"]


@contextmanager
def only_one(path: Path) -> Iterator[None]:
    """Lock a file or folder, which need not exist yet, against other runs of this user."""
    from filelock import FileLock, Timeout

    name = hashlib.blake2b(str(path.resolve()).encode(), digest_size=8).hexdigest()
    try:
        with FileLock(temporary_folder() / f"{name}.lock", timeout=0):
            yield
    except Timeout:
        raise CardlabError(
            f"{path} is in use by another run; wait until it ends, or name another place"
        ) from None
