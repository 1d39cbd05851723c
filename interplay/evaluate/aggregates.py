"""What a few runs say of many: aggregates over seeds with intervals, as Agarwal et al. (2021) recommend them.

Source: Agarwal, Schwarzer, Castro, Courville and Bellemare 2021, *Deep reinforcement learning at the edge of the statistical
precipice*: interval estimates, the interquartile mean, the average probability of improvement. Their package, rliable, gives the same
numbers; it brings arch, statsmodels, pandas and seaborn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

Statistic = Callable[..., np.ndarray]  # of samples (..., runs, tasks), one array each; gives (...,)
DRAWS = 2_000
LEVEL = 0.95
FEW, TOO_FEW = (
    10,
    3,
)  # seeds, below which an interval is too narrow (of five it covers 85 to 90 %, not 95), and below which it says nothing


class Interval(NamedTuple):
    """A statistic with its interval.

    Attributes:
        value: of the runs themselves.
        low, high: percentile interval; both NaN where a single run gives none.
    """

    value: float
    low: float
    high: float


def mean(scores: np.ndarray) -> np.ndarray:
    """The mean over runs and tasks.

    Args:
        scores: (..., runs, tasks).

    Returns:
        (...).
    """
    return np.asarray(scores, float).mean(axis=(-2, -1))


def interquartile_mean(scores: np.ndarray) -> np.ndarray:
    """The mean of the middle half of all runs of all tasks: a quarter of the scores, rounded down, is cut at each end.

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
    middle: np.ndarray = ordered[..., cut : count - cut].mean(axis=-1)
    return middle


def probability_of_improvement(scores: np.ndarray, others: np.ndarray) -> np.ndarray:
    """How likely a run is to be better than one of the others on the same task, ties half; a mean over tasks.

    The statistic of Mann and Whitney over the number of pairs.

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
    better: np.ndarray = ((mine > theirs) + 0.5 * (mine == theirs)).mean(axis=(-3, -2, -1))
    return better


def bootstrap(
    statistic: Statistic,
    samples: Sequence[np.ndarray],
    seed: int = 0,
    draws: int = DRAWS,
    level: float = LEVEL,
) -> Interval:
    """The statistic of samples with its stratified bootstrap interval, by percentiles.

    The runs of each task of each sample are drawn with replacement, as many as there are, each task by itself.

    Args:
        statistic: of the samples, such as `interquartile_mean`.
        samples: each (runs, tasks); the tasks are the same.
        seed: of the draws.
        draws: how many.
        level: share of the draws inside the interval.

    Example:
        >>> found = bootstrap(mean, [np.array([[1.0], [2.0], [3.0], [4.0]])])
        >>> found.value, found.low < 2.0, found.high > 3.0
        (2.5, True, True)
    """
    rng = np.random.default_rng(seed)
    value = float(statistic(*samples))
    if min(len(sample) for sample in samples) < 2:
        return Interval(value, np.nan, np.nan)
    drawn = []
    for sample in samples:
        runs, tasks = sample.shape
        chosen = rng.integers(0, runs, (draws, runs, tasks))
        drawn.append(np.take_along_axis(np.broadcast_to(sample, (draws, runs, tasks)), chosen, axis=1))
    outside = (1.0 - level) / 2.0
    low, high = np.quantile(statistic(*drawn), [outside, 1.0 - outside])
    return Interval(value, float(low), float(high))
