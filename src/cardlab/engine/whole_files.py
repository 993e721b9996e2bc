"""Write files that appear whole or not at all, whatever stops the process."""

from __future__ import annotations

import glob
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["whole_file"]


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a path to write to; at the end, the file there replaces `path`.

    It is in a folder of its own that is closed to other users, so no one else can put a link there.
    If a process is killed, the next one that writes the same file removes what is left: only one
    process may write a file at a time.
    """
    beginning = f".{path.name}.new-"
    for left in path.parent.glob(f"{glob.escape(beginning)}*"):
        shutil.rmtree(left, ignore_errors=True)
    folder = tempfile.mkdtemp(prefix=beginning, dir=path.parent)
    try:
        rough = Path(folder) / path.name
        yield rough
        with rough.open("rb+") as file:
            os.fsync(file.fileno())  # or a power cut leaves the name without the content
        os.replace(rough, path)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
