"""The report on Uno: curves from kept logs, verdicts, and a tiny run from end to end."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from cardlab.arena.match import Match
from cardlab.engine.kernel import JIT
from cardlab.games.uno import PACKAGE
from cardlab.games.uno.paper import report as uno
from cardlab.papers.kept_logs import kept_log, kept_result
from cardlab.papers.measurements import Ledger, measure
from cardlab.papers.reproduce import reproduce


def rising(values: list[float]) -> uno.Curve:
    return uno.Curve(tuple(range(100, 100 * len(values) + 1, 100)), tuple(values), (1.0,) * 20)


def test_a_curve_settles_where_it_reaches_its_end() -> None:
    quick = rising([40.0] * 3 + [50.0] * 17)
    slow = rising([40.0 + 0.5 * step for step in range(20)])
    assert quick.last[0] == 50
    assert quick.converged < slow.converged
    assert quick.share_until(300) == pytest.approx((40 - 100 / 3) / (50 - 100 / 3))
    assert quick.share_until(2000) == 1
    assert quick.noise == 0
    assert rising([50.0, 52.0] * 10).noise > 1


def test_every_kept_run_says_how_it_was_made() -> None:
    for name in (*uno.RUNS.values(), "net"):
        result = kept_result(PACKAGE, name)
        assert result["command"].startswith("cardlab train uno/")
        assert result["rules"] == 1
        assert kept_log(PACKAGE, name)[-1]["step"] == result["games"]
    assert len(kept_result(PACKAGE, "grid")) == 18
    for several in ("grid", "designs"):
        runs = kept_result(PACKAGE, several).values()
        assert len({one["games"] for one in runs}) == 1  # compared at equal games
        assert all(one["command"].startswith("cardlab train uno/") for one in runs)


def test_shipped_networks_are_those_of_the_kept_runs() -> None:
    from cardlab.games.uno.agents.network import uno_dqn_open, uno_net

    for agent, run in ((uno_net(), "net"), (uno_dqn_open(), "dqn_paper")):
        about = agent._network.about
        assert about["command"] == kept_result(PACKAGE, run)["command"]
        assert about["games"] == kept_result(PACKAGE, run)["games"]


@pytest.mark.skipif(not JIT, reason="too many games to interpret")
def test_scores_with_more_than_two_seats_are_those_of_a_match(tmp_path: Path) -> None:
    from cardlab.arena.match import play_match

    options = {"seats": 3, "rules": "rlcard"}
    match = Match.plan("uno", ["heuristic", "random"], 90, 5, options)
    ours = measure({"it": match}, Ledger(tmp_path / "ledger"), workers=1)["it"]
    plain = play_match(match).standings
    assert ours.games == 90
    assert ours.score(0)[0] == pytest.approx(100 * plain[0].score)
    assert ours.score(1)[0] == pytest.approx(100 * plain[1].score)
    assert ours.gain(1)[0] == pytest.approx(plain[1].points)


@pytest.mark.slow
@pytest.mark.skipif(not JIT, reason="too many games to interpret")
def test_a_tiny_report_has_all_its_parts(tmp_path: Path) -> None:
    small = replace(uno.REPORT, quick=uno.Plan(10, 10))
    out, work = tmp_path / "out", tmp_path / "work"
    path = reproduce(small, out, work, quick=True, workers=1, progress=lambda *at: None)
    text = path.read_text()
    for part in ("Table 3", "Table 4", "The grid", "hidden knowledge", "equal games", "quick run"):
        assert part in text
    assert text.count("| DQN |") >= 4
    for figure in ("figure_2", "figure_3", "ladder"):
        assert (out / f"uno_{figure}.svg").stat().st_size > 10_000
    games = {name: match.deals for name, match in uno.all_matches(uno.FULL).items()}
    assert min(games[f"table 3 uno_dqn {seats} rlcard"] * seats for seats in (3, 4, 5)) >= 10_000
