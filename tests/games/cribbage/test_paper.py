"""The report on Cribbage: its trainings follow each other, its verdicts follow from numbers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cardlab.engine import seeding
from cardlab.engine.game import Array
from cardlab.engine.kernel import JIT
from cardlab.games.cribbage import PACKAGE
from cardlab.games.cribbage.agents.strategies import FULL, STRATEGIES, pure_weights, random_weights
from cardlab.games.cribbage.learning import strategy_weights
from cardlab.games.cribbage.learning.strategy_games import agreement, play_match
from cardlab.games.cribbage.paper import claims as told
from cardlab.games.cribbage.paper import experiments as trials
from cardlab.games.cribbage.paper import maps
from cardlab.games.cribbage.paper import report as paper
from cardlab.papers import figures
from cardlab.papers.code_digest import source_digest
from tests.support.waiting import wait_until

pytestmark = pytest.mark.skipif(not JIT, reason="too many games to interpret")

TINY = trials.Plan(
    first_pairs=2,
    first_games=100,
    second_games=60,
    static_games=20,
    games=20,
    agents=2,
    starts=4,
    gradient_games=100,
    deals=40,
    hands=50,
    pegging_games=2,
)
SMALL_RUN = f"""
import sys
from dataclasses import replace
from pathlib import Path
from cardlab.games.cribbage.paper import report as paper
from cardlab.games.cribbage.paper.experiments import Plan
from cardlab.papers.reproduce import reproduce

SMALL = replace(paper.REPORT, quick={TINY})
paper.SHORT_MATCHES, paper.MATCHES = 20, 2
if __name__ == "__main__":
    out, work = map(Path, sys.argv[1:3])
    progress = lambda *at: print(*at, flush=True)
    print(reproduce(SMALL, out, work, quick=True, workers=1, progress=progress))
"""
FIGURES = (
    "maps_thesis",
    "maps_gradient",
    "training_thesis",
    "training_gradient",
    "strengths",
    "spreads",
    "winning",
    "wave",
    "alike",
)


@pytest.mark.slow
def test_a_killed_reproduction_goes_on_where_it_was(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    script = tmp_path / "small.py"
    script.write_text(SMALL_RUN)
    out, work = tmp_path / "out", tmp_path / "work"
    command = [sys.executable, str(script), str(out), str(work)]
    ledger = work / source_digest(PACKAGE) / "ledger.jsonl"
    running = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    wait_until(
        lambda: ledger.exists() and ledger.read_bytes().count(b"\n") >= 3, "rows kept", running
    )
    os.killpg(running.pid, signal.SIGKILL)
    running.communicate()
    before = ledger.read_bytes()
    kept = before[: before.rfind(b"\n") + 1]
    trained = {path: path.stat().st_mtime_ns for path in work.rglob("population.npz")}
    assert len(trained) == 2 + 1 + 1 + 12  # pairs of round 1, winners, losers, the rest
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ledger.read_bytes().startswith(kept)
    assert {path: path.stat().st_mtime_ns for path in work.rglob("population.npz")} == trained
    report = (out / "cribbage.md").read_text()
    assert ended.stdout.splitlines()[-1] == str(out / "cribbage.md")
    assert "{" not in report
    assert "quick run" in report
    for name in FIGURES:
        path = out / f"cribbage_{name}.svg"
        assert f"(cribbage_{name}.svg)" in report
        assert path.stat().st_size < 150_000


@pytest.mark.slow
def test_round_2_starts_with_winners_as_they_are_and_losers_as_they_were(tmp_path: Path) -> None:
    experiments = trials.all_experiments(TINY)
    trials.train_all(
        tmp_path,
        {name: experiments[name] for name in ("round_1", "winners", "losers")},
        1,
        lambda *_: None,
    )
    last = trials.population(tmp_path, "round_1", experiments)[1]
    won, lost = (
        trials.population(tmp_path, name, experiments)[0] for name in ("winners", "losers")
    )
    for pair in range(2):
        seed = trials.SEED + pair
        both = last[2 * pair : 2 * pair + 2]
        winner = 0 if play_match(both[0], both[1], seeding.stream(seed, "round 1")).won else 1
        np.testing.assert_array_equal(won[pair], both[winner])
        np.testing.assert_array_equal(lost[pair], random_weights(seed, "learner", 1 - winner))
    for name, start in (("winners", won), ("losers", lost)):
        task = trials.tasks_of(tmp_path, name, experiments)[0]
        kept = trials.load_population(task.folder)
        changed = np.abs(kept - start).max(axis=-1) > 0.01  # float16 is kept
        assert 0 < changed.mean() < 0.1


@pytest.mark.slow
def test_a_training_may_start_with_given_weights(tmp_path: Path) -> None:
    config = strategy_weights.Config(agents=2, mode="pairs", games=1, rows=1, test_deals=10)
    start = np.stack([pure_weights("hand_max_avg"), pure_weights("crib_min_avg")])
    summary = strategy_weights.train(config, tmp_path, lambda *_: None, start=start)
    assert summary["choices alike at the start"] == round(
        agreement(start, 2000, seeding.stream(config.seed, "strategy_weights", "test")), 4
    )
    history = tmp_path / "history" / "agent_0_after_000000000000.npz"
    np.testing.assert_array_equal(np.load(history)["weights"], start[0])


def test_the_thesis_is_quoted_without_a_slip() -> None:
    for points, _, wins, other, losses in told.THEIR_TABLE_2:
        assert wins + losses == told.THEIR_GAMES
        assert 2 * wins <= points <= 3 * wins
        assert 2 * losses <= other <= 3 * losses
    games = [  # table 1, game by game
        (104, 121),
        (121, 114),
        (75, 121),
        (121, 118),
        (111, 121),
        (121, 99),
        (121, 87),
        (110, 121),
        (121, 64),
    ]
    wins = [[pair for pair in games if pair[side] == 121] for side in range(2)]
    points = [sum(2 + (abs(a - b) > 30) for a, b in some) for some in wins]
    spread = sum(a - b for a, b in games)
    assert (*points, spread, len(wins[0]), len(wins[1])) == told.THEIR_TABLE_1
    assert told.chi_square() == pytest.approx(11.76)


def strength(score: float, margin: float, before: float = 50.0) -> trials.Strength:
    gain = score - before
    return trials.Strength(score, margin, before, gain, margin, 50.0, 1.0, score, score, 8, 1000)


@pytest.mark.parametrize(
    ("score", "verdict"),
    [
        (48.0, "makes it worse"),
        (50.5, "gains nothing"),
        (51.5, "gains, weaker than equal weights"),
        (53.0, "gains, as good as equal weights"),
        (57.0, "learns: better than equal weights"),
    ],
)
def test_a_verdict_follows_from_intervals(score: float, verdict: str) -> None:
    assert told.judge(strength(score, 0.6), (52.7, 0.3)) == verdict


def test_no_gain_is_judged_over_all_that_was_tried() -> None:
    flat, better = strength(50.1, 0.5), strength(51, 0.5)
    assert told.no_gain([flat, flat]) == "agrees"
    assert told.no_gain([flat, better]).startswith("differs in part")
    assert told.no_gain([better]) == "differs: small gains, which 100 games cannot show"
    assert told.no_gain([strength(65, 0.5)]) == "differs"


def test_a_change_helps_if_agents_gain_more_by_it() -> None:
    flat = strength(50.1, 0.5)
    assert told.help_verdict([strength(52, 0.5)], flat) == "helps"
    assert told.help_verdict([strength(52, 0.5), flat], flat) == "helps in part"
    assert told.help_verdict([flat], flat) == "no help seen"
    averaged = strength(52, 0.5, before=52.0)
    assert told.help_verdict([averaged], flat) == "stronger, but before any learning too"


@pytest.mark.parametrize(("count", "quantile"), [(4, 3.182), (8, 2.365), (33, 2.037)])
def test_margins_over_agents_are_those_of_students_t(count: int, quantile: float) -> None:
    values = np.arange(count, dtype=float)
    mean, margin = trials.mean_and_t_margin(values)
    assert mean == values.mean()
    assert margin == pytest.approx(quantile * values.std(ddof=1) / count**0.5, rel=0.01)


def test_strength_is_measured_on_mirrored_deals() -> None:
    randoms = np.stack([random_weights(one) for one in range(4)])
    same = trials.conduct(randoms, randoms, 40)
    assert (same.score, same.margin) == (50, 0)  # each meets itself, on both sides of every deal
    assert (same.gain, same.gain_margin) == (0, 0)
    assert same.games == 80
    strong, weak = (np.stack([pure_weights(name)] * 2) for name in ("hand_max_avg", "crib_min_avg"))
    found = trials.conduct(weak, strong, 400)
    assert found.alone == 50
    assert found.gain == pytest.approx(found.score - found.before)
    assert found.gain > found.gain_margin > 0
    back = trials.conduct(strong, weak, 400)
    assert back.gain == -found.gain


def test_agents_are_alike_when_they_keep_the_same_cards() -> None:
    one, two = random_weights(0), random_weights(1)
    found = trials.alike(np.stack([one, one, two]), 200)
    assert len(found["pairs"]) == 3
    assert found["pairs"][0] == 100
    assert found["pairs"][1] == found["pairs"][2] < 95
    assert found["mean"] == pytest.approx(np.mean(found["pairs"]), abs=0.01)


def following_the_chance_to_win() -> Array:
    """Return weights of which the first strategy's is the chance to win."""
    weights = np.zeros((FULL, FULL, 2, len(STRATEGIES)))
    weights[..., 0] = maps.winning()
    weights[..., 1] = 1 - maps.winning()
    return weights


def test_pictures_in_numbers() -> None:
    population = np.stack([following_the_chance_to_win()] * 2)
    for role in range(2):
        assert maps.likeness_to_winning(population, role, "hand_max_min")[0] == pytest.approx(1)
        assert maps.likeness_to_winning(population, role, "hand_max_avg")[0] == pytest.approx(-1)
        assert maps.wave(population, role, "hand_max_min", told.LATE)[0] == pytest.approx(1)
    pone, dealer = (maps.turning_lead(population, role, "hand_max_min")[0] for role in range(2))
    assert -10 < dealer < 0 < pone < 10  # who deals next is a few points ahead
    bands = maps.strength_by_band(population, 1)
    assert bands["ahead by 26 to 60"][0] > 0.9 > bands["level"][0] > 0.5
    assert maps.decided(population, 0.4) == (100, 0)
    assert 10 < maps.decided(population, 0.9)[0] < 90
    assert maps.same_leader(population[0], population[1], -60, 60) == 100
    assert maps.same_leader(population[0], 1 - population[0], -60, -26) < 10


def test_coarse_weights_fill_the_plane() -> None:
    weights = random_weights(0, rows=11)
    full = maps.full_size(weights)
    assert full.shape == (FULL, FULL, 2, len(STRATEGIES))
    np.testing.assert_array_equal(full[10, 11], weights[0, 1])
    np.testing.assert_array_equal(full[120, 0], weights[10, 0])


def test_crests_and_troughs() -> None:
    crests, troughs = maps.turns(np.sin(2 * np.pi * np.arange(100) / 25))
    assert crests == [6, 31, 56, 81]
    assert troughs == [19, 44, 69, 94]


def test_a_map_is_small_and_the_same_each_time(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    noise = seeding.generator(0, "noise").random((FULL, FULL))
    for name in ("a", "b"):
        figures.draw_maps(
            tmp_path / f"{name}.svg",
            {"first": [noise, noise.T], "second": [noise[:11, :11], noise]},
            ["left", "right"],
            figures.Scale("weight", (0, 1)),
            x="across",
            y="down",
            extent=FULL,
        )
    drawn = (tmp_path / "a.svg").read_text()
    assert drawn == (tmp_path / "b.svg").read_text()
    assert drawn.count("<image") == 4
    assert len(drawn) < 100_000


def test_plans_give_whole_checkpoints() -> None:
    for plan in (paper.FULL_PLAN, paper.QUICK, TINY):
        experiments = trials.all_experiments(plan)
        for name in ("round_1", "gradient"):
            config = experiments[name].config
            assert strategy_weights.total_games(config) == trials.CHECKPOINTS * config.checkpoint
            strategy_weights.check(config)
        slow = replace(experiments["winners"].config, rate=10.0)
        assert slow.explore == 0.18
        assert not slow.by_variance
