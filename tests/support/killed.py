"""A training that is killed in mid-run, by kill -9, at a place that no clock decides."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

__all__ = ["kill_and_go_on", "train_killed_once", "train_until_killed"]

DIES = """
import os, signal, sys
from pathlib import Path

sign, lacking, *words = sys.argv[1:]
for name in lacking.split():
    sys.modules[name] = None
from cardlab.learning import __main__ as command

class Dies:
    def __call__(self, stage, done, total):
        if Path(sign).exists():
            os.kill(os.getpid(), signal.SIGKILL)

command.Lines = Dies
command.main(words)
"""


def train_until_killed(
    what: str, folder: Path, settings: Sequence[str], sign: str, *, lacking: str = "", **env: str
) -> None:
    """Train by the plain command; it dies of its first report after a file is in its folder."""
    told = [f"--set={one}" for one in settings]
    line = [sys.executable, "-c", DIES, str(folder / sign), lacking, what, *told, "--out"]
    died = subprocess.run(
        [*line, str(folder)], capture_output=True, text=True, check=False, env=os.environ | env
    )
    assert died.returncode == -signal.SIGKILL, died.stderr


def train_killed_once(what: str, folder: Path, settings: Sequence[str], sign: str) -> Any:
    """Kill a training once a file is there, go on with `cardlab train`; return what that tells."""
    train_until_killed(what, folder, settings, sign)
    told = [word for one in settings for word in ("--set", one)]
    line = [sys.executable, "-m", "cardlab.cli", "train", what, *told, "--out", str(folder)]
    ended = subprocess.run([*line, "--json"], capture_output=True, text=True, check=True)
    return json.loads(ended.stdout)


LACKING = "pydantic platformdirs typer rich scipy sklearn"


LIGHT = f"""
import sys
for name in "{LACKING}".split():
    sys.modules[name] = None
from cardlab.learning.__main__ import main
main()
"""


def kill_and_go_on(what: str, folder: Path, settings: dict[str, Any], sign: str) -> str:
    """Kill a training once a file is there, start it again with little installed; what it wrote."""
    from cardlab.engine.kernel import cache_folder

    cache = {"CARDLAB_CACHE_DIR": str(cache_folder())}
    told = [f"{name}={value}" for name, value in settings.items()]
    train_until_killed(what, folder, told, sign, lacking=LACKING, **cache)
    line = [sys.executable, "-c", LIGHT, what, "--out", str(folder)]
    line += [f"--set={one}" for one in told]
    ended = subprocess.run(
        line, capture_output=True, text=True, env=os.environ | cache, check=False
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout
