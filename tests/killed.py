"""A training that is killed in mid-run, by kill -9, at a place that no clock decides."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

__all__ = ["train_until_killed"]

DIES = """
import os, signal, sys
from pathlib import Path
from cardlab.learning import find_training
from cardlab.learning.runs import read_config

what, folder, share, *settings = sys.argv[1:]
module = find_training(what)

def report(stage, done, total):
    if done >= float(share) * total:
        os.kill(os.getpid(), signal.SIGKILL)

module.train(read_config(module.Config, settings), Path(folder), report)
"""


def train_until_killed(
    what: str, folder: Path, settings: Sequence[str], share: float = 0.3
) -> list[str]:
    """Train a share of what is asked for and be killed; return the command that goes on with it."""
    line = [sys.executable, "-c", DIES, what, str(folder), str(share), *settings]
    died = subprocess.run(line, capture_output=True, text=True, check=False)
    assert died.returncode == -signal.SIGKILL, died.stderr
    told = [word for one in settings for word in ("--set", one)]
    command = [sys.executable, "-m", "cardlab.cli", "train", what, "--json"]
    return [*command, *told, "--out", str(folder)]
