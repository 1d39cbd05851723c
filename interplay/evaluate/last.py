"""The last value of a metric: the mean of the last measurements of one run.

Used by tables, comparisons, the page and `train.best_by`. A measurement is a log line (for `train.best_by` an update) that has the
metric. A line that is a mean over episodes or lives is weighted by their number.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

SHARE, LEAST = 0.1, 5  # share of a run's measurements, and the least number
OF_LIVES = ("life", "life_return")  # metrics that are means over lives in every world


class Last(NamedTuple):
    """The last value of a metric in one run.

    Attributes:
        value: NaN without a measurement.
        measurements: number averaged.
        cases: episodes or lives in them; None for a metric that is no mean over either.
    """

    value: float
    measurements: int
    cases: int | None = None


def count_last(measurements: int) -> int:
    """Number of measurements in the last value: a tenth of `measurements`, but at least five.

    Example:
        >>> [count_last(n) for n in (0, 3, 20, 51, 200)]
        [0, 3, 5, 6, 20]
    """
    return min(measurements, max(LEAST, -(-measurements // round(1 / SHARE))))


def last_of(values: np.ndarray, cases: np.ndarray | None = None) -> Last:
    """The mean of the last measurements.

    Args:
        values: (N,) in the order of the log; NaN for lines without the metric.
        cases: (N,) weights: episodes or lives of each line; None: equal weights.

    Example:
        >>> last_of(np.array([9.0, 1.0, np.nan, 3.0, 5.0]), np.array([1.0, 2.0, 0.0, 1.0, 1.0]))
        Last(value=3.8, measurements=4, cases=5)
    """
    return _blocks(values, cases, 1)[0]


def best_of(values: np.ndarray, cases: np.ndarray | None = None) -> float:
    """The highest block mean; blocks have the last value's length, counted from the end. NaN without any."""
    return max((block.value for block in _blocks(values, cases)), default=np.nan)


def _blocks(values: np.ndarray, cases: np.ndarray | None, most: int | None = None) -> list[Last]:
    """Means of equal blocks of measurements from the end backwards; a remainder at the start is dropped."""
    known = np.flatnonzero(np.isfinite(values))
    count = count_last(len(known))
    if not count:
        return [Last(np.nan, 0, None if cases is None else 0)]
    found = []
    for end in range(len(known), count - 1, -count):
        at = known[end - count : end]
        weights = np.ones(count) if cases is None else cases[at]
        mean = (
            float(np.average(values[at], weights=weights)) if weights.sum() > 0 else float(values[at].mean())
        )
        found.append(Last(mean, count, None if cases is None else int(weights.sum())))
    return found[:most]


def counted_by(
    metric: str,
    columns: Collection[str],
    of_episodes: Collection[str],
    of_lives: Collection[str] = OF_LIVES,
    of_others: Collection[str] = (),
) -> str | None:
    """The column with the number of lives or episodes behind each value of a metric; None if it is no mean over them.

    Args:
        metric: with or without a side in brackets.
        of_others: metrics that are means over the episodes shared with policies other than the learner.

    Example:
        >>> counted_by("life[red]", ["lives", "lives[red]"], [])
        'lives[red]'
        >>> counted_by("kills[red]", ["episodes"], ["kills"]), counted_by("kl", ["episodes"], ["kills"])
        ('episodes', None)
        >>> counted_by("won", ["episodes", "episodes_with_others"], ["won"], of_others=["won"])
        'episodes_with_others'
    """
    if metric in of_others and "episodes_with_others" in columns:
        return "episodes_with_others"
    name, bracket, side = metric.partition("[")
    if name in of_lives:
        counts = "lives"
    elif name in of_episodes or metric in of_episodes:
        counts = "episodes"
    else:
        return None
    return next((one for one in (f"{counts}{bracket}{side}", counts) if one in columns), None)
