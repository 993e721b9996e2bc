"""Reports: measurements survive a kill, verdicts follow from intervals."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from cardlab.arena.match import Match, play_match
from cardlab.engine.errors import CardlabError
from cardlab.engine.kernel import JIT
from cardlab.engine.locks import only_one
from cardlab.engine.registry import our_packages
from cardlab.engine.statistics import binomial_margin
from cardlab.games.crazy_eights import PACKAGE
from cardlab.papers.claim import Claim, claims_table, compare
from cardlab.papers.code_digest import source_digest
from cardlab.papers.measurements import Ledger, measure
from cardlab.papers.reproduce import find_report, reproduce
from tests.support.waiting import wait_until

pytestmark = pytest.mark.skipif(not JIT, reason="too many games to interpret")

SMALL_RUN = """
import sys
from dataclasses import replace
from pathlib import Path
from cardlab.games.crazy_eights.paper.report import REPORT, Plan
from cardlab.papers.reproduce import reproduce

SMALL = replace(REPORT, quick=Plan(4, 20, 2, 20, (10, 30), (1_000, 600_000)))
if __name__ == "__main__":
    out, work = map(Path, sys.argv[1:3])
    progress = lambda *at: print(*at, flush=True)
    print(reproduce(SMALL, out, work, quick=True, workers=2, progress=progress))
"""


def test_a_verdict_follows_from_both_intervals() -> None:
    assert compare(52, 4, 55, 1) == "agrees"
    assert compare(52, 1, 55, 1) == "differs"
    assert binomial_margin(0.5, 200) == pytest.approx(0.0693, abs=1e-4)
    row = claims_table([Claim("table 1", "a > b", "3", "2", "differs")]).splitlines()[-1]
    assert row == "| table 1 | a > b | 3 | 2 | differs |"


def test_measured_games_are_those_of_a_match(tmp_path: Path) -> None:
    match = Match.plan("crazy_eights", ["heuristic", "random"], 120, 5)
    ours = measure({"it": match}, Ledger(tmp_path / "ledger"), workers=1)["it"]
    plain = play_match(match).standings[0]
    assert ours.games == 120
    assert ours.score()[0] == pytest.approx(100 * plain.score)
    assert ours.gain()[0] == pytest.approx(plain.points)
    won = ours.ordered(0)[0] + ours.ordered(1)[1]
    assert won == plain.wins
    assert sum(ours.ordered(0)) == sum(ours.ordered(1)) == 60
    assert plain.score_interval
    half = 50 * (plain.score_interval[1] - plain.score_interval[0])
    assert ours.score()[1] == pytest.approx(half, rel=0.05)


def test_a_ledger_keeps_whole_lines_of_the_same_code(
    tmp_path: Path,
) -> None:
    path = tmp_path / "ledger"
    ledger = Ledger(path, "this code")
    assert ledger.get("a", lambda: [1.5]) == [1.5]
    assert ledger.get("b", lambda: {"x": 2}) == {"x": 2}
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"key": "c", "co')
    again = Ledger(path, "this code")
    assert set(again.rows) == {"a", "b"}
    assert path.read_bytes() == whole
    assert again.get("a", lambda: pytest.fail("measured twice")) == [1.5]
    assert not Ledger(path, "other code").rows
    path.write_text("no json\n")
    with pytest.raises(CardlabError, match="is damaged; remove it"):
        Ledger(path)


@pytest.mark.slow
def test_a_killed_reproduction_goes_on_where_it_was(tmp_path: Path) -> None:
    script = tmp_path / "small.py"
    script.write_text(SMALL_RUN)
    command = [sys.executable, str(script), str(tmp_path / "out"), str(tmp_path / "work")]
    ledger = tmp_path / "work" / source_digest(PACKAGE) / "ledger.jsonl"
    running = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    wait_until(
        lambda: ledger.exists() and ledger.read_bytes().count(b"\n") >= 40, "rows kept", running
    )
    os.killpg(running.pid, signal.SIGKILL)
    running.communicate()
    before = ledger.read_bytes()
    kept = before[: before.rfind(b"\n") + 1]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ledger.read_bytes().startswith(kept)
    report = (tmp_path / "out" / "crazy_eights.md").read_text()
    assert ended.stdout.splitlines()[-1] == str(tmp_path / "out" / "crazy_eights.md")
    assert "{" not in report
    for name in ("search", "learning", "fairness"):
        picture = (tmp_path / "out" / f"crazy_eights_{name}.svg").read_text()
        assert picture.startswith("<?xml")
    subprocess.run(command, capture_output=True, text=True, check=True)
    assert (tmp_path / "out" / "crazy_eights.md").read_text() == report


@pytest.mark.slow
def test_the_report_on_birds_of_a_feather(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from cardlab.games.birds_of_a_feather.learning import solvability
    from cardlab.games.birds_of_a_feather.paper import report as paper

    training = solvability.Config(seeds=6, slow_rows=60, epochs=2)
    small = replace(paper.REPORT, quick=paper.Plan(range(4), 1, 500, range(200), training))
    monkeypatch.setattr(paper, "THEIR_PROTOCOL", range(3))
    monkeypatch.setattr(paper, "QUEUE_NODES", 500)
    stages: list[str] = []

    def written() -> str:
        path = reproduce(
            small,
            tmp_path / "out",
            tmp_path / "work",
            quick=True,
            workers=1,
            progress=lambda stage, *_: stages.append(stage),
        )
        return path.read_text()

    report = written()
    assert "{" not in report.replace("`{", "")
    assert {"50 seeds", "many seeds", "tree search", "census"} <= set(stages)
    assert (tmp_path / "out" / "birds_of_a_feather_nodes.svg").exists()
    assert written() == report


def test_papers_are_found_by_game() -> None:
    named = [name for name, package in our_packages().items() if package.paper]
    assert named == list(our_packages())
    for name in named:
        report = find_report(name)
        assert report.package is our_packages()[name]
        assert (report.package.folder / "paper" / "report.md").exists()
    with pytest.raises(CardlabError, match="unknown game 'whist'"):
        find_report("whist")


def test_two_runs_do_not_share_a_place(tmp_path: Path) -> None:
    with only_one(tmp_path / "run"):
        with (
            pytest.raises(CardlabError, match="is in use by another run"),
            only_one(tmp_path / "run"),
        ):
            pass
        with only_one(tmp_path / "other"):
            pass
    with only_one(tmp_path / "run"):
        pass


@pytest.mark.parametrize(
    "args",
    [
        ("train", "crazy_eights/tabular_q", "--out", "FILE"),
        ("reproduce", "crazy_eights", "--quick", "--work", "FILE"),
        ("reproduce", "crazy_eights", "--quick", "--out", "FILE/below"),
        ("train", "crazy_eights/tabular_q", "--set", "games=1", "--set", "games=2"),
        ("solve", "birds_of_a_feather", "--seeds", "0:10000000000000"),
        ("reproduce", "poker"),
    ],
    ids=str,
)
def test_mistakes_end_in_one_sentence(tmp_path: Path, args: tuple[str, ...]) -> None:
    (tmp_path / "file").write_text("in the way")
    given = [one.replace("FILE", str(tmp_path / "file")) for one in args]
    ended = subprocess.run(
        [sys.executable, "-m", "cardlab.cli", *given], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 2
    assert ended.stderr.startswith("cardlab: ")
    assert len(ended.stderr.splitlines()) == 1
