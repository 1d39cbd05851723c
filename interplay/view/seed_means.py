"""Means of curves over seeds: each run interpolated to common windows, then mean and interval."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from interplay.evaluate.statistics import student_half_width
from interplay.view.run_log import RunLog

WINDOWS = 60  # of a curve, each a mean
FEWEST = 1 / (2 * WINDOWS)  # least share of a run's episodes behind a point of its curve


def curves_of(logs: Sequence[RunLog], name: str, edges: np.ndarray) -> np.ndarray:
    """The curve of each run with the metric, (runs, K); NaN in windows that not all of them have.

    A mean over changing runs would jump from window to window.
    """
    found = np.array([_curve_of(log, name, edges) for log in logs]).reshape(len(logs), len(edges) - 1)
    found = found[np.isfinite(found).any(axis=1)]
    found[:, np.isnan(found).any(axis=0)] = np.nan
    return found


def _curve_of(log: RunLog, name: str, edges: np.ndarray) -> np.ndarray:
    """(K,) the mean of a run's metric in each window; means over episodes are weighted by their number."""
    places, values, cases = log.places(name), log.column(name), log.cases(name)
    if cases is not None:
        places, values = pooled(places, values, cases)
    return on_windows(places, values, edges)


def pooled(places: np.ndarray, values: np.ndarray, cases: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Joins points of a run until each holds `FEWEST` of its episodes, so that single episodes make no peaks.

    Args:
        places: (N,) in any order.
        values: (N,) means, NaN = unknown.
        cases: (N,) episodes behind each mean.

    Returns:
        Places and values of the points, means weighted by episodes.

    Example:
        >>> least = np.full(150, 2.0)  # 1/120 of 300 episodes are 2.5
        >>> [len(part) for part in pooled(np.arange(150.0), np.ones(150), least)]
        [75, 75]
    """
    known = np.flatnonzero(np.isfinite(values) & (cases > 0))
    known = known[np.argsort(places[known], kind="stable")]
    if not len(known):
        return places[:0], values[:0]
    weights = cases[known]
    least = FEWEST * weights.sum()
    starts, held = [0], 0.0
    for at, weight in enumerate(weights):
        if held >= least:
            starts.append(at)
            held = 0.0
        held += weight
    if held < least and len(starts) > 1:
        starts.pop()  # the last ones are too few for a point
    total = np.add.reduceat(weights, starts)
    return tuple(np.add.reduceat(column[known] * weights, starts) / total for column in (places, values))  # type: ignore[return-value]


def on_windows(places: np.ndarray, values: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """The mean over each window of the line through a run's points.

    Of a window that the run covers in part, the part symmetric about its middle counts.

    Args:
        places: (N,) in any order; values at equal places are averaged.
        values: (N,), NaN = unknown.
        edges: (K + 1,) ascending.

    Returns:
        (K,), NaN for windows with their middle before the first point or after the last.

    Example:
        >>> on_windows(np.array([1.0, 5.0, 6.0]), np.array([2.0, 10.0, 12.0]), np.array([0.0, 2.0, 4.0, 8.0, 10.0]))
        array([ 2.,  6., 12., nan])
    """
    known = np.isfinite(values)
    x, which = np.unique(places[known], return_inverse=True)
    if not len(x):
        return np.full(len(edges) - 1, np.nan)
    y = np.bincount(which, values[known]) / np.bincount(which)
    middles = (edges[:-1] + edges[1:]) / 2
    reach = np.minimum(np.diff(edges) / 2, np.minimum(middles - x[0], x[-1] - middles))
    area = np.append(0.0, np.cumsum(np.diff(x) * (y[:-1] + y[1:]) / 2))  # below the line, up to each point

    def below(place: np.ndarray) -> np.ndarray:
        before = np.clip(np.searchsorted(x, place, side="right") - 1, 0, len(x) - 1)
        return area[before] + (place - x[before]) * (y[before] + np.interp(place, x, y)) / 2

    wide = np.maximum(reach, 0.0)
    means = (below(middles + wide) - below(middles - wide)) / np.where(wide > 0, 2 * wide, 1.0)
    return np.where(reach > 0, means, np.where(reach == 0, np.interp(middles, x, y), np.nan))


def curve_band(curves: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean, lower and upper end of the 95 % interval over seeds (Student's t) of `curves_of`, (K,) each.

    The ends are NaN for a single run.
    """
    middle = curves.mean(axis=0)
    half = student_half_width(curves)
    return middle, middle - half, middle + half
