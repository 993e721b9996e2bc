"""Runs many cardlab commands quickly: each in a fork of a process that has loaded everything.

Reads a line of JSON for each command, its words; answers with a line: exit code, output, errors.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from typing import Any

import cardlab.arena.export
import cardlab.arena.leaderboard
import cardlab.arena.tournament
import cardlab.cli
import cardlab.show.tournament
from cardlab.arena.match import play_match
from cardlab.arena.tournament import Plan


def main() -> None:
    """Answer commands until there are no more."""
    plan = Plan.make("crazy_eights", ["random", "heuristic"], 4)
    play_match(plan.matches[0])  # loads the rules
    for line in sys.stdin:
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            child = os.fork()
            if child == 0:
                _run(json.loads(line), out, err)
            _, status = os.waitpid(child, 0)
            answer = [os.waitstatus_to_exitcode(status), _text(out), _text(err)]
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def _run(words: list[str], out: Any, err: Any) -> None:
    """Be the command, and end."""
    os.dup2(out.fileno(), 1)
    os.dup2(err.fileno(), 2)
    sys.argv = ["cardlab", *words]
    code = 1
    try:
        cardlab.cli.main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _text(file: Any) -> str:
    file.seek(0)
    text: str = file.read().decode(errors="replace")
    return text


if __name__ == "__main__":
    main()
