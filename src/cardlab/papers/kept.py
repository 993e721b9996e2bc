"""What is kept of the long runs behind shipped networks, so that reports can draw and table it.

`logs/NAME.jsonl.gz` is a run's log as it was written; `logs/NAME.json` its command, configuration
and results, or those of several runs by name.
"""

from __future__ import annotations

import gzip
import json
from importlib.resources import files
from typing import Any

__all__ = ["kept_log", "kept_result"]

FOLDER = files("cardlab.papers") / "logs"


def kept_log(name: str) -> list[dict[str, Any]]:
    """Return the lines of a kept log."""
    lines = gzip.decompress((FOLDER / f"{name}.jsonl.gz").read_bytes()).decode().splitlines()
    return [json.loads(line) for line in lines]


def kept_result(name: str) -> dict[str, Any]:
    """Return configuration and results of a kept run, or of several."""
    found: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text())
    return found
