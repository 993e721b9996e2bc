"""`python -m cardlab.learning WHAT --set name=value --out FOLDER`: train where only torch is there.

The same trainings as `cardlab train`, with lines of text for progress and nothing to install for
the command line. `python -m cardlab.learning ship RUN NAME [FOLDER]` turns the run of a network
into the files that agents play, `python -m cardlab.learning keep RUN NAME [FOLDER]` keeps its log
and its results for the reports.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

from cardlab.errors import CardlabError
from cardlab.learning import TRAININGS, find_training
from cardlab.learning.runs import keep, read_config
from cardlab.locks import only_one

SECONDS = 5.0  # between two lines of progress of a stage
SHIPPED = Path("src/cardlab/networks/shipped")
LOGS = Path("src/cardlab/papers/logs")


def main(arguments: list[str] | None = None) -> None:
    """Train or ship; mistakes end in one sentence and exit code 2."""
    words = sys.argv[1:] if arguments is None else arguments
    try:
        if words[:1] == ["ship"]:
            _ship(words[1:])
        elif words[:1] == ["keep"]:
            _keep(words[1:])
        else:
            _train(words)
    except CardlabError as error:
        sys.stderr.write(f"cardlab: {error}\n")
        sys.exit(2)
    except ImportError as error:
        how = "install with: pip install 'cardlab[train]'"
        sys.stderr.write(f"cardlab: {words[0]} needs {error.name}; {how}\n")
        sys.exit(2)


def _ship(words: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m cardlab.learning ship")
    parser.add_argument("run", type=Path, help="folder of a run")
    parser.add_argument("name", help="name of the agent")
    parser.add_argument("target", type=Path, nargs="?", default=SHIPPED, help="folder of the files")
    given = parser.parse_args(words)
    if given.name.endswith("_transformer"):
        from cardlab.learning import token_training

        paths = [token_training.ship(given.run, given.name, given.target)]
    elif given.name.startswith("uno"):
        from cardlab.learning import uno_runs

        paths = [uno_runs.ship(given.run, given.name, given.target)]
    else:
        from cardlab.learning import koi_koi_networks

        paths = koi_koi_networks.ship(given.run, given.target / given.name)
    for path in paths:
        sys.stdout.write(f"{path}\n")


def _keep(words: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m cardlab.learning keep")
    parser.add_argument("run", type=Path, help="folder of a finished run")
    parser.add_argument("name", help="name under which reports find it")
    parser.add_argument("target", type=Path, nargs="?", default=LOGS, help="folder of the files")
    parser.add_argument("--after", action="store_true", help="it went on from the run kept so far")
    given = parser.parse_args(words)
    for path in keep(given.run, given.name, given.target, after=given.after):
        sys.stdout.write(f"{path}\n")


def _train(words: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m cardlab.learning", description=__doc__)
    parser.add_argument("what", help=", ".join(TRAININGS))
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
