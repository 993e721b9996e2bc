"""The suite of attacks in its small form, so that it works when somebody needs it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from attacks.attack import CASES, file_name
from attacks.case import Outcome, losses, table
from tests.support.paths import ROOT
from tests.support.waiting import wait_until

ATTACK = [sys.executable, "-m", "attacks.attack", "--quick"]
MEASURES_TIME = {"flood"}  # a busy machine is no loss
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the attacks need /proc")


def programs_in(folder: Path) -> list[int]:
    """Return the processes that work in a folder or below."""
    found = []
    for link in Path("/proc").glob("[0-9]*/cwd"):
        try:
            where = os.readlink(link)
        except OSError:
            continue
        if where.startswith(str(folder)):
            found.append(int(link.parent.name))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", [file_name(case) for case in CASES])
def test_a_few_tries_of_each_case_lose_nothing(name: str, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    ended = subprocess.run(
        [*ATTACK, "--only", name, "--json", str(report)],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    (found,) = json.loads(report.read_text()).values()
    assert found["tries"] or found["skipped"], ended.stderr
    if name not in MEASURES_TIME:
        assert (ended.returncode, found["lost"]) == (0, []), ended.stderr
    assert programs_in(tmp_path) == []


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_the_suite_with_all_its_processes(number: int, tmp_path: Path) -> None:
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        [*ATTACK, "--only", "server-killed"],
        cwd=ROOT,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as suite:
        wait_until(lambda: len(programs_in(tmp_path)) >= 2, "a server and a worker", suite)
        suite.send_signal(number)
        _, said = suite.communicate(timeout=120)
    assert suite.returncode == 130, said
    assert "Traceback" not in said
    wait_until(lambda: not programs_in(tmp_path), "the end of all processes")


def test_what_is_lost_is_counted_and_named() -> None:
    good, bad = Outcome(tries=10, figures={"p99 ms": 31}), Outcome(tries=3)
    for number in range(7):
        bad.demand(False, f"move {number} was undone")
    skipped = Outcome(skipped="there is no database")
    rows = [("kills", good), ("holds", bad), ("stops", skipped)]
    lines = table(rows).splitlines()
    assert [cell.strip() for cell in lines[2].split("|")] == ["kills", "10", "10", "0", "p99 ms 31"]
    assert [cell.strip() for cell in lines[3].split("|")][:4] == ["holds", "3", "0", "7"]
    assert "not tried: there is no database" in lines[4]
    said = losses(rows).splitlines()
    assert said[0] == "holds: move 0 was undone"
    assert said[-1] == "holds: and 2 more"
