"""`python -m cardlab.learning WHAT --set name=value --out FOLDER`: train where only torch is there.

The same trainings as `cardlab train`, with lines of text for progress and nothing to install for
the command line. `python -m cardlab.learning ship RUN NAME [FOLDER]` turns the run of a network of
Uno into the two files that agents play.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

from cardlab.errors import CardlabError
from cardlab.learning import TRAININGS, find_training
from cardlab.learning.runs import read_config

SECONDS = 10.0  # between two lines of progress


def main(arguments: list[str] | None = None) -> None:
    """Train or ship; mistakes end in one sentence and exit code 2."""
    words = sys.argv[1:] if arguments is None else arguments
    try:
        if words[:1] == ["ship"] and len(words) in (3, 4):
            from cardlab.learning.uno_runs import ship

            target = Path(words[3]) if len(words) == 4 else Path("src/cardlab/networks/shipped")
            sys.stdout.write(f"{ship(Path(words[1]), words[2], target)}\n")
        else:
            _train(words)
    except CardlabError as error:
        sys.stderr.write(f"cardlab: {error}\n")
        sys.exit(2)
    except ImportError as error:
        how = "install with: pip install 'cardlab[train]'"
        sys.stderr.write(f"cardlab: {words[0]} needs {error.name}; {how}\n")
        sys.exit(2)


def _train(words: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m cardlab.learning", description=__doc__)
    parser.add_argument("what", help=", ".join(TRAININGS))
    parser.add_argument("--set", action="append", default=[], help="a setting as name=value")
    parser.add_argument("--out", type=Path, help="folder of the run; default runs/WHAT")
    given = parser.parse_args(words)
    module = find_training(given.what)
    config = read_config(module.Config, given.set)
    began = said = time.monotonic()

    def report(stage: str, done: int, total: int) -> None:
        nonlocal said
        now = time.monotonic()
        if now - said >= SECONDS or done == total:
            said = now
            sys.stdout.write(f"{now - began:6.0f} s  {stage}: {done:,} of {total:,}\n")
            sys.stdout.flush()

    summary = module.train(config, given.out or Path("runs") / given.what, report)
    sys.stdout.write(json.dumps(summary, indent=2) + "\n")


if __name__ == "__main__":
    main()
