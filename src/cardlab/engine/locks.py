"""One run at a time for a file or folder: the lock goes away with the process, however it ends."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cardlab.engine.errors import CardlabError

__all__ = ["only_one"]


@contextmanager
def only_one(path: Path) -> Iterator[None]:
    """Keep other runs away from a file or folder; where locks are not known, trust people.

    The lock is a file in the folder for temporary files. It stays there: removing it would let a
    third run lock a new one while a second still waits at the old one.
    """
    try:
        import fcntl
    except ImportError:
        yield
        return
    name = hashlib.blake2b(str(path.resolve()).encode(), digest_size=8).hexdigest()
    with (Path(tempfile.gettempdir()) / f"cardlab-{name}.lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise CardlabError(
                f"{path} is in use by another run; wait for it, or name another place"
            ) from None
        yield
