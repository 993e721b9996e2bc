"""Ratings and the sequential test, against known strengths and published values."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest

from cardlab.arena import sprt
from cardlab.arena.ratings import ELO, Outcome, rate
from cardlab.arena.sprt import Test, judge, play_sprt, read_counts
from cardlab.arena.standings import outcome_of
from cardlab.arena.store import Store
from cardlab.arena.tournament import Plan
from cardlab.engine.errors import CardlabError

THETA = np.array([0.6, 0.1, 0.05, -0.75])


def simulate(
    rng: np.random.Generator, seats: int, deals: int, draws: float = -1.0
) -> dict[int, dict[Outcome, int]]:
    """Play agents of known strength: Davidson's draws at two seats, only winners at more."""
    found: dict[int, dict[Outcome, int]] = {}
    for deal in range(deals):
        counts: dict[Outcome, int] = {}
        for group in itertools.combinations(range(len(THETA)), seats):
            for _ in range(seats):
                weights = list(np.exp(THETA[list(group)]))
                if seats == 2:
                    weights.append(math.exp(draws + THETA[list(group)].mean()))
                pick = int(rng.choice(len(weights), p=np.array(weights) / sum(weights)))
                outcome: Outcome = (group,)
                if pick < seats:
                    rest = tuple(one for one in group if one != group[pick])
                    outcome = ((group[pick],), rest)
                counts[outcome] = counts.get(outcome, 0) + 1
        found[deal] = counts
    return found


@pytest.mark.parametrize("seats", [2, 3])
def test_known_strengths_lie_in_the_intervals(seats: int) -> None:
    """Of 95 % intervals, about 95 % must hold the truth: 40 tournaments of four agents."""
    rng = np.random.default_rng(5)
    truth = ELO * (THETA - THETA.mean())
    inside = 0
    for repeat in range(40):
        rated = rate("abcd", simulate(rng, seats, 60), seed=repeat, samples=200)
        for one in rated:
            assert one.interval
            inside += one.interval[0] <= truth["abcd".index(one.agent)] <= one.interval[1]
    # 160 intervals, correlated within a tournament: 3 standard errors of 40 x 4 at 93 %.
    assert 0.87 <= inside / 160 <= 0.995


def test_a_reference_is_0_and_the_intervals_are_those_of_the_distance_to_it() -> None:
    deals = simulate(np.random.default_rng(7), 2, 60)
    free = {one.agent: one for one in rate("abcd", deals, samples=200)}
    fixed = {one.agent: one for one in rate("abcd", deals, samples=200, reference="b")}
    assert fixed["b"].elo == 0
    assert fixed["b"].interval == (0, 0)
    for agent in "acd":
        assert fixed[agent].elo == pytest.approx(free[agent].elo - free["b"].elo)
        low, high = fixed[agent].interval or (0, 0)
        assert low < fixed[agent].elo < high


def test_two_seats_of_a_win_and_a_loss_are_the_textbook_formula() -> None:
    # 300 wins and 100 losses: 400 log10(3) = 190.8 apart, a little less by the added games.
    first, second = rate(
        ["a", "b"], {deal: {((0,), (1,)): 3, ((1,), (0,)): 1} for deal in range(100)}
    )
    assert first.agent == "a"
    assert first.elo - second.elo == pytest.approx(400 * math.log10(3), abs=1.5)


def test_groups_and_ranks_tell_what_cannot_be_told_apart() -> None:
    rated = rate("abcd", simulate(np.random.default_rng(1), 2, 150))
    assert rated[0].agent == "a"
    groups = {one.agent: one.groups for one in rated}
    assert set(groups["b"]) & set(groups["c"])  # 9 Elo apart
    assert not set(groups["a"]) & set(groups["d"])
    assert {one.agent: one.rank for one in rated}["a"] == (1, 1)
    assert {one.agent: one.rank for one in rated}["d"] == (4, 4)


def test_few_deals_make_no_claim_and_perfect_scores_have_one_bound() -> None:
    wins: dict[Outcome, int] = {((0,), (1,)): 2}
    for one in rate("ab", dict.fromkeys(range(5), wins)):
        assert one.interval is None
        assert one.groups == "a"
    first, second = rate("ab", dict.fromkeys(range(50), wins))
    assert first.interval
    assert second.interval
    assert first.interval[1] == math.inf
    assert second.interval[0] == -math.inf
    assert not set(first.groups) & set(second.groups)


def test_a_long_order_without_an_upset_is_rated() -> None:
    wins = {((i,), (j,)): 20_000 for i in range(14) for j in range(i + 1, 14)}
    rated = rate("abcdefghijklmn", dict.fromkeys(range(12), wins), samples=100)
    assert "".join(one.agent for one in rated) == "abcdefghijklmn"
    assert all(math.isfinite(one.elo) for one in rated)
    best, worst = rated[0].to_dict(), rated[-1].to_dict()
    assert best["interval"][1] is None
    assert worst["interval"][0] is None


def test_ties_count_for_both() -> None:
    three: dict[Outcome, int] = {((0, 1), (2,)): 3, ((0,), (1, 2)): 1, ((1,), (0, 2)): 1}
    rated = {one.agent: one.elo for one in rate("abc", dict.fromkeys(range(40), three))}
    assert rated["a"] == pytest.approx(rated["b"], abs=0.01)
    assert rated["c"] < rated["a"] - 100


def test_outcomes_put_equals_together() -> None:
    assert outcome_of([3, 1, 2], [-0.5, 1.0, -0.5]) == ((1,), (2, 3))
    assert outcome_of([0, 1], [0.0, 0.0]) == ((0, 1),)


def test_the_published_check_value() -> None:
    # Facts on peers: LLR 2.946, nElo 3.05 +- 2.31 for bounds [0, 2].
    verdict = judge((379, 10170, 21828, 10640, 343), Test(0, 2))
    assert verdict.llr == pytest.approx(2.946, abs=0.0005)
    assert verdict.nelo == pytest.approx(3.05, abs=0.005)
    assert verdict.nelo_margin == pytest.approx(2.31, abs=0.005)
    assert verdict.accepted == "H1"
    assert verdict.bounds == pytest.approx((-2.944, 2.944), abs=0.001)


def test_the_ratio_changes_sides_with_the_agents() -> None:
    counts = (30, 110, 300, 150, 60)
    here = judge(counts, Test(-5, 5))
    there = judge(counts[::-1], Test(-5, 5))
    assert here.llr == pytest.approx(-there.llr)
    assert here.nelo == pytest.approx(-there.nelo)


@pytest.mark.parametrize("counts", [(0, 0, 0, 0, 0), (0, 0, 0, 0, 50), (0, 0, 50, 0, 0)])
def test_counts_without_variation_are_no_trouble(counts: tuple[int, ...]) -> None:
    verdict = judge(counts, Test())
    assert math.isfinite(verdict.llr)
    json.dumps(verdict.to_dict(), allow_nan=False)


def test_error_rates_are_what_was_asked() -> None:
    """Random walks at H0 and H1: each is accepted wrongly in about 5 % of 200 runs."""
    rng = np.random.default_rng(2)
    test = Test(0, 60)
    wrong = [0, 0]
    for side, elo in enumerate((0, 60)):
        for _ in range(200):
            counts = np.zeros(5, dtype=int)
            # Four equal steps around the mean: deviation 1/sqrt(8) of a pair at most.
            shares = np.array([0.1, 0.2, 0.4, 0.2, 0.1])
            scores = np.linspace(0, 1, 5)
            shift = elo * math.sqrt(2) / (800 / math.log(10))
            deviation = math.sqrt(shares @ (scores - 0.5) ** 2)
            tilt = shares * (1 + shift / deviation * (scores - 0.5))
            while not (verdict := judge(counts, test)).accepted:
                counts += rng.multinomial(10, tilt / tilt.sum())
            wrong[side] += verdict.accepted == ("H1" if side == 0 else "H0")
    assert all(count <= 22 for count in wrong)  # 10 expected, 22 is beyond four deviations


@pytest.mark.parametrize("text", ["1,2,3", "a,b,c,d,e", "1,2,3,4,-5", ""])
def test_counts_that_are_wrong(text: str) -> None:
    with pytest.raises(CardlabError, match="five whole numbers"):
        read_counts(text)


def test_counts_as_people_write_them() -> None:
    assert read_counts("379/10170/21828/10640/343") == read_counts("379, 10170, 21828, 10640, 343")


@pytest.mark.parametrize(
    ("test", "answer"),
    [
        (Test(5, 5), "must be less than"),
        (Test(0, math.inf), "inf"),
        (Test(alpha=0.7), "--alpha must be .*, got 0.7"),
    ],
)
def test_tests_that_cannot_be(test: Test, answer: str) -> None:
    with pytest.raises(CardlabError, match=answer):
        test.check()


@pytest.mark.slow
def test_a_live_test_stops_by_itself_and_the_same_on_any_number_of_workers(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cardlab.arena.tournament.ALONE", 0.0)
    plan = Plan.make("crazy_eights", ["heuristic", "random"], 2_000_000, format="sprt")
    verdicts = []
    for workers in (1, 2):
        seen: list[float] = []
        with Store(f"{tmp_path}/{workers}.db") as store:
            verdict = play_sprt(
                plan,
                Test(0, 20),
                store,
                workers=workers,
                progress=lambda one, _: seen.append(one.llr),  # noqa: B023 - used at once
            )
            assert store.count(1) < 2_000_000
        assert len(seen) > 1
        verdicts.append(verdict)
    assert verdicts[0] == verdicts[1]
    assert verdicts[0].accepted == "H1"
    three = Plan.make("crazy_eights", ["heuristic", "random", "tabular_q"], 10, format="sprt")
    with (
        Store(f"{tmp_path}/3.db") as store,
        pytest.raises(CardlabError, match="needs two agents and two seats, got 3 agents"),
    ):
        play_sprt(three, Test(), store)


def test_a_verdict_needs_evidence() -> None:
    test = sprt.Test(0, 10).check()
    none = sprt.judge([0, 0, 0, 0, 0], test)
    assert isinstance(none, sprt.Verdict)
    assert none.accepted is None
    assert none.to_dict()["nelo_margin"] is None
    assert sprt.judge([0, 100, 200, 900, 300], test).accepted == "H1"
    assert sprt.judge([300, 900, 200, 100, 0], test).accepted == "H0"
