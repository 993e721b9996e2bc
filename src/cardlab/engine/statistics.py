"""Means, shares and differences with 95 % intervals; one formula for the whole package.

A margin is half of an interval. scipy is imported inside functions, as loading it takes long.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "FEWEST_VALUES",
    "Z95",
    "binomial_margin",
    "bootstrap_mean",
    "difference",
    "mean_and_interval",
    "mean_and_margin",
    "mean_and_t_margin",
    "ratio_and_margin",
    "wilson_interval",
]

Z95 = 1.959963984540054  # the 97.5 % quantile of the standard normal distribution
FEWEST_VALUES = 10  # for an interval of a mean that is shown

Array = NDArray[np.float64]


def mean_and_margin(values: Sequence[float] | Array) -> tuple[float, float]:
    """Return the mean of many independent values and its margin by the normal distribution.

    For paired values give the differences; a single value has an infinite margin.
    """
    return float(np.mean(values)), _margin(values, Z95)


def mean_and_t_margin(values: Sequence[float] | Array) -> tuple[float, float]:
    """Return the mean of few independent values and its margin by Student's t."""
    from scipy.special import stdtrit  # a tenth of the time that scipy.stats takes to import

    return float(np.mean(values)), _margin(values, float(stdtrit(len(values) - 1, 0.975)))


def mean_and_interval(
    values: Array, low: float = -np.inf, high: float = np.inf
) -> tuple[float, tuple[float, float] | None]:
    """Return the mean of independent values and its interval by Student's t, cut to its range.

    The interval is None for fewer than FEWEST_VALUES values or for values without variation.
    """
    mean, margin = mean_and_t_margin(values)
    if len(values) < FEWEST_VALUES or margin == 0:
        return mean, None
    return mean, (max(low, mean - margin), min(high, mean + margin))


def _margin(values: Sequence[float] | Array, quantile: float) -> float:
    if len(values) < 2:
        return math.inf
    return float(quantile * np.std(values, ddof=1) / len(values) ** 0.5)


def difference(one: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
    """Return the difference of two independent estimates, each a value and its margin."""
    return one[0] - other[0], math.hypot(one[1], other[1])


def binomial_margin(share: float, games: int) -> float:
    """Return the margin of a share of independent games (normal approximation)."""
    return Z95 * math.sqrt(share * (1 - share) / games)


def wilson_interval(score: float, games: int) -> tuple[float, float]:
    """Return Wilson's interval of a share; draws count half, so it is slightly too wide."""
    share, z2 = score / games, Z95 * Z95
    centre = (share + z2 / (2 * games)) / (1 + z2 / games)
    spread = math.sqrt(share * (1 - share) / games + z2 / (4 * games * games))
    half = Z95 * spread / (1 + z2 / games)
    return max(0.0, centre - half), min(1.0, centre + half)


def ratio_and_margin(parts: Array, totals: Array) -> tuple[float, float]:
    """Return sum(parts) / sum(totals) and its margin, for independent groups."""
    ratio = float(parts.sum() / totals.sum())
    groups = len(totals)
    squares = float(((parts - ratio * totals) ** 2).sum()) * groups / (groups - 1)
    return ratio, Z95 * math.sqrt(squares) / float(totals.sum())


def bootstrap_mean(
    values: Array, rng: np.random.Generator, samples: int = 2000
) -> tuple[float, float, float]:
    """Return a mean and the bounds of its interval by the percentile bootstrap."""
    picks = rng.integers(0, len(values), (samples, len(values)))
    low, high = np.quantile(values[picks].mean(axis=1), [0.025, 0.975])
    return float(values.mean()), float(low), float(high)
