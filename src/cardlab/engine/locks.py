"""One run at a time for a file or folder: the lock ends with the process, however that ends."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cardlab.engine.errors import CardlabError

__all__ = ["only_one"]


@contextmanager
def only_one(path: Path) -> Iterator[None]:
    """Keep other runs of this user away from a file or folder, which need not exist yet."""
    from filelock import FileLock, Timeout

    name = hashlib.blake2b(str(path.resolve()).encode(), digest_size=8).hexdigest()
    owner = os.getuid() if hasattr(os, "getuid") else "locks"
    folder = Path(tempfile.gettempdir()) / f"cardlab-{owner}"
    folder.mkdir(mode=0o700, exist_ok=True)
    try:
        with FileLock(folder / f"{name}.lock", timeout=0):
            yield
    except Timeout:
        raise CardlabError(
            f"{path} is in use by another run; wait for it, or name another place"
        ) from None
