"""`python -m cardlab.learning WHAT --set name=value --out FOLDER`: train where only torch is there.

The same trainings as `cardlab train`, with lines of text for progress and nothing to install for
the command line. `python -m cardlab.learning export GAME/METHOD RUN NAME [FOLDER]` turns the run of
a network into the files that agents play; `python -m cardlab.learning archive GAME/METHOD RUN NAME
[FOLDER]` stores its log and its results for the reports.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

from cardlab.engine.errors import CardlabError
from cardlab.engine.locks import only_one
from cardlab.engine.registry import find_package
from cardlab.learning import all_trainings, find_training
from cardlab.learning.runs import archive, read_config
from cardlab.show.console import say

SECONDS = 5.0  # between two lines of progress of a stage


def main(arguments: list[str] | None = None) -> None:
    """Train, export or archive; mistakes end in one sentence and exit code 2."""
    words = sys.argv[1:] if arguments is None else arguments
    try:
        if words[:1] == ["export"]:
            _export(words[1:])
        elif words[:1] == ["archive"]:
            _archive(words[1:])
        else:
            _train(words)
    except CardlabError as error:
        say(str(error))
        sys.exit(2)
    except ImportError as error:
        how = "install with: pip install 'cardlab[train]'"
        say(f"{words[0]} needs {error.name}; {how}")
        sys.exit(2)


def _parser(command: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=f"python -m cardlab.learning {command}")
    parser.add_argument("training", help="what the run trained, as GAME/METHOD")
    parser.add_argument("run", type=Path, help="folder of the run")
    parser.add_argument("name", help="name of the files")
    parser.add_argument("target", type=Path, nargs="?", help="folder; default: the game's data")
    return parser


def _target(given: argparse.Namespace, kind: str) -> Path:
    folder: Path = given.target or find_package(given.training.partition("/")[0]).shipped(kind)
    return folder


def _export(words: list[str]) -> None:
    given = _parser("export").parse_args(words)
    module = find_training(given.training)
    if not hasattr(module, "export"):
        raise CardlabError(
            f"training {given.training} makes no network; there is nothing to export"
        )
    for path in module.export(given.run, given.name, _target(given, "networks")):
        sys.stdout.write(f"{path}\n")


def _archive(words: list[str]) -> None:
    parser = _parser("archive")
    parser.add_argument("--after", action="store_true", help="it resumed the run archived so far")
    given = parser.parse_args(words)
    for path in archive(given.run, given.name, _target(given, "logs"), after=given.after):
        sys.stdout.write(f"{path}\n")


def _train(words: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m cardlab.learning", description=__doc__)
    parser.add_argument("what", help=", ".join(all_trainings()))
    parser.add_argument("--set", action="append", default=[], help="a setting as name=value")
    parser.add_argument("--out", type=Path, help="folder of the run; default runs/WHAT")
    given = parser.parse_args(words)
    module = find_training(given.what)
    config = read_config(module.Config, given.set)
    folder = given.out or Path("runs") / given.what
    with only_one(folder):
        summary = module.train(config, folder, Lines())
    sys.stdout.write(json.dumps(summary, indent=2) + "\n")


class Lines:
    """Progress as lines of text, for each stage at most one every few seconds but its last."""

    def __init__(self) -> None:
        """Start the clock."""
        self._began = time.monotonic()
        self._last: dict[str, tuple[float, int]] = {}

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Write how far a stage is and how many a second there were since its last line."""
        now = time.monotonic()
        before = self._last.get(stage)
        if before is not None and now - before[0] < SECONDS and done < total:
            return
        speed = ""
        if before is not None and done > before[1]:
            speed = f", {(done - before[1]) / max(now - before[0], 1e-9):,.0f} a second"
        self._last[stage] = (now, done)
        sys.stdout.write(f"{now - self._began:6.0f} s  {stage}: {done:,} of {total:,}{speed}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
