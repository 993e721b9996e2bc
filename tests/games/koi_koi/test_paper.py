"""The report on Koi-Koi: claims on made-up data, kept runs, and a tiny run from end to end."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from cardlab.arena.match import Match
from cardlab.engine.kernel import JIT
from cardlab.games.koi_koi import PACKAGE
from cardlab.games.koi_koi.agents.network import koi_koi_point, koi_koi_supervised, koi_koi_win
from cardlab.games.koi_koi.paper import report as koi_koi
from cardlab.games.koi_koi.paper.cases import CASES, find_cases, month_shares, play
from cardlab.games.koi_koi.paper.claims import (
    BY_CHANCE,
    START,
    Curve,
    attention_claim,
    by_deal,
    curve_claims,
    predictor_claims,
    table_1,
    table_2_claims,
)
from cardlab.papers.kept_logs import kept_log, kept_result
from cardlab.papers.measurements import Games
from cardlab.papers.reproduce import reproduce

KEPT = ("supervised", "point", "win")


def games_of(one: str, other: str, wins: float, points: float, deals: int = 400) -> Games:
    """Return games in which the first agent wins a share and so many points over the start."""
    match = Match.plan("koi_koi", ["random", "random"], 2 * deals, 0)
    rng = np.random.default_rng(0)
    won = np.where(rng.random((deals, 2)) < wins, 1.0, -1.0)
    returns, gains = np.zeros((deals, 2, 2)), np.zeros((deals, 2, 2))
    for rotation in range(2):
        returns[:, rotation, rotation] = won[:, rotation]
        returns[:, rotation, 1 - rotation] = -won[:, rotation]
        gains[:, rotation, rotation] = START + points + rng.normal(0, 5, deals)
        gains[:, rotation, 1 - rotation] = 2 * START - gains[:, rotation, rotation]
    return Games(match, returns, gains, np.zeros(2), np.ones(2))


def test_wins_and_points_are_those_of_the_match() -> None:
    games = games_of("a", "b", 0.7, 3.0)
    for place in range(2):
        wins, points = by_deal(games, place)
        assert wins.mean() == pytest.approx(games.score(place)[0])
        assert points.mean() == pytest.approx(games.gain(place)[0] - START)


def made_up(win_share: float) -> dict[str, Games]:
    names = list(koi_koi.AGENTS.values())
    shares = {0: 0.8, 1: 0.75, 2: 0.9}
    return {
        f"{one} {other}": games_of(
            one,
            other,
            win_share if (i, j) == (0, 1) else shares[i] - (0.1 if j == 2 and i == 1 else 0.0),
            (-2.0, 4.0, 6.0)[i] if (i, j) != (0, 1) else -3.0,
        )
        for i, one in enumerate(names)
        for j, other in enumerate(names)
        if i < j
    }


def test_directions_follow_from_the_games() -> None:
    claims = {one.statement: one.verdict for one in table_2_claims(made_up(0.6))}
    assert len(claims) == 11
    assert set(claims.values()) <= {"agrees", "open: within chance"}
    assert claims["RL-WP gets more wins than RL-Point, when they meet"] == "agrees"
    assert claims["RL-Point gets more points than RL-WP, when they meet"] == "agrees"
    claims = {one.statement: one.verdict for one in table_2_claims(made_up(0.4))}
    assert claims["RL-WP gets more wins than RL-Point, when they meet"] == "differs"
    claims = {one.statement: one.verdict for one in table_2_claims(made_up(0.5))}
    assert "chance" in claims["RL-WP gets more wins than RL-Point, when they meet"]


def test_accuracies_are_compared_by_their_intervals() -> None:
    summary: dict[str, float] = {}
    for name, share in (("discard", 0.74), ("pick", 0.95), ("koi_koi", 0.7), ("overall", 0.76)):
        told = {f"accuracy/{name}": share, f"accuracy/{name} margin": 0.01}
        alike = {f"alike/{name}": share + 0.01, f"alike/{name} margin": 0.01}
        summary |= {**told, **alike, f"decisions/{name}": 1000}
    alone = {
        key: value - 0.25 if key == "accuracy/pick" else value for key, value in summary.items()
    }
    table, claims = table_1(summary, alone)
    assert [one.verdict.partition(":")[0] for one in claims] == [
        "agrees",
        "differs",
        "differs",
        "agrees",
    ]
    assert "ours is higher" in claims[1].verdict
    assert "| 0.950 ± 0.010 | 0.960 ± 0.010 | 0.700 ± 0.010 | differs: ours is higher |" in table


def curve(*wins: float) -> Curve:
    lines = [
        {
            "games": 100_000 * (place + 1),
            "supervised/wins": share,
            "supervised/wins margin": 0.02,
            "supervised/points": 10 * share,
            "supervised/points margin": 0.5,
        }
        for place, share in enumerate(wins)
    ]
    return Curve.of([{"step": 1}, *lines])


def test_curves_tell_who_learned_faster_and_further() -> None:
    slow, quick = curve(0.2, 0.4, 0.6, 0.8), curve(0.3, 0.55, 0.6, 0.7)
    assert (slow.games_until(50), quick.games_until(50)) == (300_000, 200_000)
    assert slow.end("wins") == pytest.approx((80, 2))
    assert slow.line("points")[0] == pytest.approx((100_000, 2, 0.5))
    later = curve(0.6, 0.7, 0.8, 0.8)  # begun by another training: its beginning tells nothing

    def verdicts(first: Curve, point: Curve) -> list[str]:
        told = curve_claims({"RL-WP": later, "RL-Point": point, BY_CHANCE: first})
        return [one.verdict for one in told]

    assert verdicts(slow, quick) == ["agrees", "agrees", "agrees"]
    assert verdicts(quick, slow) == ["differs", "open: within chance", "agrees"]


def test_chances_and_attention_are_judged() -> None:
    leads = np.arange(-START, START + 1)
    steps = np.array([0.05 * (13 - left) for left in range(13)])
    chances = 1 / (1 + np.exp(-steps[:, None, None] * leads[None, None, :].repeat(2, 1)))
    assert [one.verdict for one in predictor_claims(chances)] == ["agrees", "agrees"]
    assert [one.verdict for one in predictor_claims(chances[::-1])] == ["differs", "differs"]
    assert attention_claim(np.array([[0.3, 0.06], [0.1, 0.1]])).verdict == "agrees"
    assert attention_claim(np.array([[0.07, 0.06], [0.9, 0.1]])).verdict == "differs"


# What is shipped and kept


def test_shipped_networks_are_those_of_the_kept_runs() -> None:
    for agent, run in zip(
        (koi_koi_supervised(), koi_koi_point(), koi_koi_win()), KEPT, strict=True
    ):
        about = agent.networks[0].about
        assert about["config"] == kept_result(PACKAGE, run)["config"]
        assert about["summary"] == kept_result(PACKAGE, run)["summary"]
        assert agent.learned == {"supervised": "people"}.get(run, run)
    for run in KEPT[1:]:
        config = kept_result(PACKAGE, run)["config"]
        assert config["reward"] == run
        played = kept_result(PACKAGE, run)["summary"]["games in all"]
        assert kept_log(PACKAGE, run)[-1]["games"] == played > 5e6
    assert kept_result(PACKAGE, "win_alone")["config"]["reward"] == "win"
    # Both went on from the same run; the log of one has it, the other's begins after it.
    before = [kept_result(PACKAGE, run)["after"] for run in KEPT[1:]]
    assert before[0] == before[1]
    games = before[0]["summary"]["games in all"]
    assert games in [line["games"] for line in kept_log(PACKAGE, "point")]
    config = kept_result(PACKAGE, "win")["config"]
    assert kept_log(PACKAGE, "win")[0]["games"] == games + config["batch_games"]


def test_shipped_networks_are_small() -> None:
    folder = PACKAGE.shipped("networks")
    sizes = [len(file.read_bytes()) for name in KEPT for file in (folder / name).iterdir()]
    assert sum(sizes) <= 25_000_000


@pytest.mark.skipif(not JIT, reason="too many games to interpret")
def test_cases_are_positions_of_their_kind() -> None:
    win, point = koi_koi_win(), koi_koi_point()
    views, seats = play(win, 12, 3)
    cases = find_cases(win, point, views, seats)
    assert cases[0].kind is CASES[0]
    for case in cases:
        s = case.turn.view.array[0]
        assert case.kind.fits(s, case.turn.seat)
        assert len(case.turn.legal) == int(s.hands[case.turn.seat]).bit_count() >= 4
        assert (case.win.agent, case.point.agent) == ("koi_koi_win", "koi_koi_point")
    shares = month_shares(win, views[:3], seats[:3])
    assert shares.shape == (2, 4)
    assert ((shares > 0) & (shares < 1)).all()


@pytest.mark.slow
@pytest.mark.skipif(not JIT, reason="too many games to interpret")
def test_a_tiny_report_has_all_its_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = replace(koi_koi.REPORT, quick=koi_koi.Plan(4, 4, 4, 6, 3))
    monkeypatch.setattr(koi_koi, "SEARCH", "koi_koi_search:2,hands=4")
    monkeypatch.setattr(koi_koi, "HAND_SEEN", "koi_koi_hand_open:2")
    out, work = tmp_path / "out", tmp_path / "work"
    path = reproduce(small, out, work, quick=True, workers=1, progress=lambda *at: None)
    text = path.read_text()
    for part in ("Table I:", "Table II", "figures 5 and 6", "figures 7 and 8", "quick run"):
        assert part in text
    assert text.count("| table II |") == 11
    assert "`koi_koi_search:2,hands=4` | `koi_koi_win`" in text
    assert "`koi_koi_hand_open:2` | `koi_koi_supervised`" in text
    assert "% against SL, " in text
    for figure in ("5", "6a", "6b", "7", "8"):
        ElementTree.fromstring((out / f"koi_koi_figure_{figure}.svg").read_bytes())
    full = koi_koi.all_matches(koi_koi.FULL)
    pairs = [full[f"{one} {other}"].deals for one, other in koi_koi.pairs()]
    assert len(pairs) == 6
    assert min(pairs) >= 1000  # of two games each
