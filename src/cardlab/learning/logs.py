"""The log of a training: one line of JSON a step, and TensorBoard where that is installed."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from cardlab.engine.whole_files import whole_file

__all__ = ["Log", "read_log"]


class Log:
    """Numbers over a training; when a run resumes, lines after its last checkpoint are dropped."""

    def __init__(self, folder: Path, last_step: int = -1) -> None:
        self._path = folder / "log.jsonl"
        kept = [entry for entry in read_log(folder) if entry["step"] <= last_step]
        with whole_file(self._path) as rough:
            rough.write_text("".join(json.dumps(entry) + "\n" for entry in kept))
        self._file = self._path.open("a")
        self._board: Any = None
        if find_spec("tensorboard") is not None:
            from torch.utils.tensorboard import SummaryWriter

            self._board = SummaryWriter(str(folder / "tensorboard"), purge_step=last_step + 1)

    def write(self, step: int, **numbers: float) -> None:
        """Note numbers that belong to a step."""
        self._file.write(json.dumps({"step": step, **numbers}) + "\n")
        self._file.flush()
        if self._board is not None:
            for name, number in numbers.items():
                self._board.add_scalar(name, number, step)

    def close(self) -> None:
        """End the log."""
        self._file.close()
        if self._board is not None:
            self._board.close()


def read_log(folder: Path) -> list[dict[str, Any]]:
    """Return the lines of a log, without one that was cut off while it was written."""
    path = folder / "log.jsonl"
    entries = []
    for line in path.read_text().splitlines() if path.exists() else ():
        try:
            entries.append(json.loads(line))
        except ValueError:
            break
    return entries
