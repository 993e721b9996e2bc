"""Intervals agree with scipy and with published values."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from cardlab.engine import statistics as st
from cardlab.engine.statistics import mean_and_interval

VALUES = np.random.default_rng(1).normal(3.0, 2.0, 25)


def test_z95_is_the_quantile_of_the_normal_distribution() -> None:
    assert pytest.approx(stats.norm.ppf(0.975), abs=1e-15) == st.Z95


def test_the_mean_of_many_values() -> None:
    mean, margin = st.mean_and_margin(VALUES)
    low, high = stats.norm.interval(0.95, VALUES.mean(), stats.sem(VALUES))
    assert (mean - margin, mean + margin) == pytest.approx((low, high))


@pytest.mark.parametrize("count", [2, 3, 10, 25])
def test_the_mean_of_few_values_is_by_students_t(count: int) -> None:
    mean, margin = st.mean_and_t_margin(VALUES[:count])
    wanted = stats.ttest_1samp(VALUES[:count], 0.0).confidence_interval(0.95)
    assert (mean - margin, mean + margin) == pytest.approx((wanted.low, wanted.high))


def test_one_value_says_nothing_of_its_spread() -> None:
    assert st.mean_and_margin([4.0]) == (4.0, math.inf)
    assert st.mean_and_t_margin([4.0]) == (4.0, math.inf)


def test_an_interval_that_is_shown() -> None:
    mean, margin = st.mean_and_t_margin(VALUES)
    assert st.mean_and_interval(VALUES) == (mean, (mean - margin, mean + margin))
    assert st.mean_and_interval(VALUES, mean - margin / 2, mean) == (
        mean,
        (mean - margin / 2, mean),
    )
    assert st.mean_and_interval(VALUES[: st.FEWEST_VALUES - 1])[1] is None
    assert st.mean_and_interval(np.ones(20)) == (1.0, None)
    assert st.mean_and_interval(np.ones(1)) == (1.0, None)


def test_a_difference_of_independent_estimates() -> None:
    assert st.difference((5.0, 3.0), (2.0, 4.0)) == (3.0, 5.0)


def test_a_share_by_the_normal_approximation() -> None:
    assert st.binomial_margin(0.5, 100) == pytest.approx(0.098, abs=1e-4)
    assert st.binomial_margin(1.0, 100) == 0.0


@pytest.mark.parametrize(("won", "games"), [(0, 10), (3, 10), (500, 900), (10, 10)])
def test_a_share_by_wilson(won: int, games: int) -> None:
    wanted = stats.binomtest(won, games).proportion_ci(0.95, method="wilson")
    assert st.wilson_interval(won, games) == pytest.approx((wanted.low, wanted.high), abs=1e-12)


def test_a_ratio_of_groups_of_one_is_a_mean() -> None:
    hits = (VALUES > 3).astype(float)
    assert st.ratio_and_margin(hits, np.ones(len(hits))) == pytest.approx(st.mean_and_margin(hits))


def test_a_ratio_of_groups_is_the_first_order_error_of_a_quotient() -> None:
    parts, totals = np.array([1.0, 4.0, 2.0]), np.array([2.0, 5.0, 6.0])
    ratio, margin = st.ratio_and_margin(parts, totals)
    assert ratio == pytest.approx(7 / 13)
    rest = parts - 7 / 13 * totals  # they sum to 0, so that their spread needs no mean
    assert margin == pytest.approx(st.mean_and_margin(rest)[1] * 3 / 13)


def test_the_bootstrap_is_close_to_the_normal_interval_and_repeats() -> None:
    many = np.random.default_rng(2).normal(0.0, 1.0, 400)
    found = st.bootstrap_mean(many, np.random.default_rng(3))
    mean, margin = st.mean_and_margin(many)
    assert found == pytest.approx((mean, mean - margin, mean + margin), abs=0.02)
    assert found == st.bootstrap_mean(many, np.random.default_rng(3))


def test_means_have_intervals_where_there_is_enough() -> None:
    values = np.array([0.0, 1.0] * 8)
    mean, interval = mean_and_interval(values, 0, 1)
    assert mean == 0.5
    assert interval is not None
    # Student's t with 15 degrees of freedom: 2.1314 at 97.5 %
    half = 2.13145 * values.std(ddof=1) / 4
    assert interval == pytest.approx((0.5 - half, 0.5 + half), rel=1e-5)
    assert mean_and_interval(values[:9])[1] is None
    assert mean_and_interval(np.ones(20))[1] is None
