"""Files that appear whole or not at all, whatever stops the process that writes them."""

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
    """Yield a path to write to; what is there in the end takes the place of `path`.

    It lies in a folder of its own that is closed to others, so nobody can put a link there. What a
    killed process has left of it is removed by the next that writes the same file: there must be
    one at a time.
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
