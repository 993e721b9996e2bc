"""What is kept of the long runs behind shipped networks, so that reports can draw and table it.

`data/logs/NAME.jsonl.gz` is a run's log as it was written; `data/logs/NAME.json` its command,
configuration and results, or those of several runs by name.
"""

from __future__ import annotations

import gzip
import json
from typing import Any

from cardlab.engine.manifest import GamePackage

__all__ = ["kept_log", "kept_result"]


def kept_log(package: GamePackage, name: str) -> list[dict[str, Any]]:
    """Return the lines of a kept log."""
    lines = (
        gzip.decompress(package.shipped("logs", f"{name}.jsonl.gz").read_bytes())
        .decode()
        .splitlines()
    )
    return [json.loads(line) for line in lines]


def kept_result(package: GamePackage, name: str) -> dict[str, Any]:
    """Return configuration and results of a kept run, or of several."""
    found: dict[str, Any] = json.loads(package.shipped("logs", f"{name}.json").read_text())
    return found
