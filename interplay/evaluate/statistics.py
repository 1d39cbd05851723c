"""Means with standard errors, differences, intervals, and aggregates over a few seeds.

The aggregates are those of Agarwal, Schwarzer, Castro, Courville and Bellemare 2021, *Deep reinforcement learning at the edge of the
statistical precipice*; their package, rliable, gives the same values. Its percentile bootstrap covers 83 % instead of 95 % over five
seeds and 75 % over three. The intervals here are exact at any number of seeds if scores are normal; docs/comparisons.md has the
coverage otherwise.
"""

from __future__ import annotations

import functools
import math
from typing import Any, NamedTuple

import numpy as np

Z_975 = 1.959964  # quantile of the normal distribution
LEVEL = 0.95
CUTS = 4  # seeds; below, the interquartile mean is the mean
_DRAWS = 200_000  # normal samples to calibrate the trimmed interval
_MOST = 100  # seeds up to which it is calibrated; above, Student's t is as good


class Estimate(NamedTuple):
    """A mean over episodes.

    Attributes:
        mean: NaN without values.
        standard_error: of the mean, s / sqrt(n) with s over n - 1; None for less than two values.
        n: episodes with a value.
        low, high: 95 % interval of a share (`wilson`); None for other means.
    """

    mean: float
    standard_error: float | None
    n: int
    low: float | None = None
    high: float | None = None

    def __str__(self) -> str:
        if self.n == 0:
            return "-"
        if self.low is not None:
            return f"{self.mean:.2f} [{self.low:.2f}, {self.high:.2f}]"
        return (
            f"{self.mean:.4g}"
            if self.standard_error is None
            else f"{self.mean:.4g} ± {self.standard_error:.2g}"
        )


class Difference(NamedTuple):
    """Two means compared.

    Attributes:
        a, b: the means.
        difference: a - b.
        error: combined standard error, sqrt(error_a^2 + error_b^2); None if either is unknown. Of two shares: from the difference to the
            end towards 0 of its 95 % interval (Newcombe 1998), over 1.96.
        sigmas: difference / error; None if undefined.
    """

    a: Estimate
    b: Estimate
    difference: float
    error: float | None
    sigmas: float | None


def estimate(values: Any, share: bool | None = None) -> Estimate:
    """Mean and standard error of independent values, NaN left out.

    Args:
        share: whether the mean is a share of episodes, which gets an interval; None: if all values are 0 or 1.

    Example:
        >>> str(estimate([1.0, 2.0, 3.0, 4.0])), str(estimate([0.0] * 20))
        ('2.5 ± 0.65', '0.00 [0.00, 0.16]')
    """
    array = np.asarray(values, np.float64)
    array = array[~np.isnan(array)]
    if not len(array):
        return Estimate(math.nan, None, 0)
    error = float(array.std(ddof=1) / math.sqrt(len(array))) if len(array) > 1 else None
    share = bool(np.isin(array, (0.0, 1.0)).all()) if share is None else share
    low, high = wilson(float(array.sum()), len(array)) if share else (None, None)
    return Estimate(float(array.mean()), error, len(array), low, high)


def wilson(won: float, games: int) -> tuple[float, float]:
    """95 % interval of a share (Wilson 1927).

    Example:
        >>> [round(x, 3) for x in wilson(8, 10)]
        [0.49, 0.943]
    """
    p, z2 = won / games, Z_975**2
    centre, half = p + z2 / (2 * games), Z_975 * math.sqrt(p * (1 - p) / games + z2 / (4 * games**2))
    return max((centre - half) / (1 + z2 / games), 0.0), min((centre + half) / (1 + z2 / games), 1.0)


def student(t: float, freedom: int) -> float:
    """Two-sided p-value of Student's t.

    Example:
        >>> round(student(12.7062, 1), 5), round(student(-2.0, 10), 5)
        (0.05, 0.07339)
    """
    from scipy.special import stdtr

    return float(2 * stdtr(freedom, -abs(t)))


def student_quantile(freedom: int, level: float) -> float:
    """Two-sided critical value of Student's t at `level`.

    Example:
        >>> round(student_quantile(2, 0.05), 4), round(student_quantile(1000, 0.05), 4)
        (4.3027, 1.9623)
    """
    from scipy.special import stdtrit

    return -float(stdtrit(freedom, level / 2))


def logistic(x: np.ndarray) -> np.ndarray:
    """1 / (1 + e^-x) without overflow."""
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * x)))


def difference(a: Estimate, b: Estimate) -> Difference:
    """Compares a with b as independent samples.

    Example:
        >>> difference(Estimate(10.0, 0.3, 100), Estimate(9.0, 0.4, 50))[2:]
        (1.0, 0.5, 2.0)
    """
    gap = a.mean - b.mean
    if a.low is not None and b.low is not None:
        error = _error_of_shares(a, b) if gap >= 0 else _error_of_shares(b, a)
        return Difference(a, b, gap, error, gap / error)
    if a.standard_error is None or b.standard_error is None:
        return Difference(a, b, gap, None, None)
    error = math.hypot(a.standard_error, b.standard_error)
    if error > 0:
        return Difference(a, b, gap, error, gap / error)
    return Difference(a, b, gap, error, 0.0 if gap == 0 else None)


def _error_of_shares(more: Estimate, less: Estimate) -> float:
    assert more.low is not None
    assert less.high is not None
    return math.hypot(more.mean - more.low, less.high - less.mean) / Z_975


class Interval(NamedTuple):
    """A statistic with its interval.

    Attributes:
        value: of the given runs.
        low, high: both NaN if there is no interval, e.g. for a single run.
    """

    value: float
    low: float
    high: float


def interquartile_mean(scores: np.ndarray) -> np.ndarray:
    """The mean of the middle half of all scores: a quarter, rounded down, is cut at each end.

    Args:
        scores: (..., runs, tasks).

    Returns:
        (...).

    Example:
        >>> float(interquartile_mean(np.array([[0.0], [1.0], [3.0], [100.0]])))
        2.0
    """
    scores = np.asarray(scores, float)
    ordered = np.sort(scores.reshape(*scores.shape[:-2], -1), axis=-1)
    count = ordered.shape[-1]
    cut = count // 4
    return ordered[..., cut : count - cut].mean(axis=-1)


def probability_of_improvement(scores: np.ndarray, others: np.ndarray) -> np.ndarray:
    """The chance that a run beats one of the others on the same task, ties half; mean over tasks.

    Equals the Mann-Whitney statistic over the number of pairs.

    Args:
        scores: (..., runs, tasks).
        others: (..., other runs, tasks).

    Returns:
        (...), 0 to 1.

    Example:
        >>> float(probability_of_improvement(np.array([[1.0], [3.0]]), np.array([[1.0], [2.0]])))
        0.625
    """
    mine, theirs = np.asarray(scores)[..., :, None, :], np.asarray(others)[..., None, :, :]
    return ((mine > theirs) + 0.5 * (mine == theirs)).mean(axis=(-3, -2, -1))


def mean_interval(scores: np.ndarray, level: float = LEVEL) -> Interval:
    """The mean of some runs with Student's interval; no interval if all runs are equal.

    Args:
        scores: (runs,).

    Example:
        >>> [round(x, 2) for x in mean_interval(np.array([1.0, 2.0, 3.0]))]
        [2.0, -0.48, 4.48]
    """
    value = float(np.mean(scores))
    half = float(student_half_width(np.asarray(scores, float), level)) or math.nan
    return Interval(value, value - half, value + half)


def student_half_width(scores: np.ndarray, level: float = LEVEL) -> np.ndarray:
    """Half the width of Student's interval of a mean over the first axis; NaN for fewer than two runs."""
    runs = len(scores)
    if runs < 2:
        return np.full(np.shape(scores)[1:], np.nan)
    return student_quantile(runs - 1, 1 - level) * scores.std(axis=0, ddof=1) / math.sqrt(runs)


def interquartile_interval(scores: np.ndarray, level: float = LEVEL) -> Interval:
    """The interquartile mean with an interval by Yuen's t (1974), critical values from normal samples.

    Args:
        scores: (runs,).

    Example:
        >>> found = interquartile_interval(np.array([1.0, 2.0, 3.0, 4.0, 90.0]))
        >>> found.value, found.high < 10
        (3.0, True)
    """
    value = float(interquartile_mean(np.asarray(scores)[:, None]))
    if len(scores) < 2:
        return Interval(value, np.nan, np.nan)
    half = _critical(len(scores), level) * float(_winsorised_deviation(np.asarray(scores, float))) or math.nan
    return Interval(value, value - half, value + half)


def _winsorised_deviation(scores: np.ndarray) -> np.ndarray:
    """Standard deviation over the last axis, outer quarters clipped to the ends of the middle half."""
    ordered = np.sort(scores, axis=-1)
    cut = ordered.shape[-1] // 4
    ends = ordered[..., cut : cut + 1], ordered[..., ordered.shape[-1] - cut - 1 :][..., :1]
    return np.clip(ordered, *ends).std(axis=-1, ddof=1)


@functools.cache
def _critical(runs: int, level: float) -> float:
    """`level` quantile of the normal scores' |interquartile mean| in winsorised deviations."""
    cut = runs // 4
    if not cut or runs > _MOST:
        return student_quantile(runs - 2 * cut - 1, 1 - level) * math.sqrt(runs) / (runs - 2 * cut)
    samples = np.random.default_rng(0).normal(size=(max(_DRAWS * 5 // runs, 20_000), runs))
    middle = np.abs(interquartile_mean(samples[..., None]))
    return float(np.quantile(middle / _winsorised_deviation(samples), level))


def improvement_interval(scores: np.ndarray, others: np.ndarray, level: float = LEVEL) -> Interval:
    """The probability of improvement with an interval from the noncentral t of two normal samples of one deviation.

    The value counts pairs of runs. The interval is that of P(X > Y) = Phi((mean X - mean Y) / (sqrt(2) deviation)), so it has a width even
    if every run of one group beats every run of the other; it always includes the value. NaN if no group has two runs that differ.

    Args:
        scores: (runs,).
        others: (other runs,).

    Example:
        >>> [round(x, 2) for x in improvement_interval(np.array([4.0, 5.0, 6.0]), np.array([1.0, 2.0, 3.0]))]
        [1.0, 0.61, 1.0]
    """
    value = float(probability_of_improvement(np.asarray(scores)[:, None], np.asarray(others)[:, None]))
    low, high = improvement_ends(np.asarray(scores, float)[None], np.asarray(others, float)[None], level)
    return Interval(value, min(float(low[0]), value), max(float(high[0]), value))


def improvement_ends(scores: np.ndarray, others: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """The ends of `improvement_interval` for S studies, (S, runs) and (S, other runs)."""
    from scipy.special import nctdtrinc, ndtr

    runs, rest = scores.shape[1], others.shape[1]
    freedom = runs + rest - 2
    if min(runs, rest) < 2:
        return np.full(len(scores), np.nan), np.full(len(scores), np.nan)
    variance = ((runs - 1) * scores.var(axis=1, ddof=1) + (rest - 1) * others.var(axis=1, ddof=1)) / freedom
    size = math.sqrt(runs * rest / (runs + rest))
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(
            variance > 0, (scores.mean(axis=1) - others.mean(axis=1)) / np.sqrt(variance) * size, np.nan
        )
    outside = (1 - level) / 2
    low, high = (nctdtrinc(freedom, chance, t) / size for chance in (1 - outside, outside))
    return ndtr(low / math.sqrt(2)), ndtr(high / math.sqrt(2))
