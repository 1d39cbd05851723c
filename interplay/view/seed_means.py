"""Curves of several seeds on common windows: each run interpolated between its own points, then the mean and its interval."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from interplay.evaluate.aggregates import student_half_width
from interplay.view.run_log import RunLog

WINDOWS = 60  # of a curve, each shown by its mean
FEWEST = 1 / (2 * WINDOWS)  # share of a run's episodes, of which one point of its curve is a mean at least


def curves_of(logs: Sequence[RunLog], name: str, edges: np.ndarray) -> np.ndarray:
    """The curve of each run that has the metric, (runs, K); NaN in windows that not all of these runs have.

    A mean over other runs than in the window before would jump.
    """
    found = np.array([curve_of(log, name, edges) for log in logs]).reshape(len(logs), len(edges) - 1)
    found = found[np.isfinite(found).any(axis=1)]
    found[:, np.isnan(found).any(axis=0)] = np.nan
    return found


def curve_of(log: RunLog, name: str, edges: np.ndarray) -> np.ndarray:
    """(K,) the mean of a run's metric in each window; means over episodes weigh as many as they hold."""
    places, values, cases = log.places(name), log.column(name), log.cases(name)
    if cases is not None:
        places, values = pooled(places, values, cases)
    return on_windows(places, values, edges)


def pooled(places: np.ndarray, values: np.ndarray, cases: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Points of a run, joined with the next ones until each holds `FEWEST` of the run's episodes.

    A line that is a mean over one episode would otherwise be a peak as high as one over a hundred is exact.

    Args:
        places: (N,) in any order.
        values: (N,) means, NaN = not known.
        cases: (N,) episodes that each is over.

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
        starts.pop()  # the last ones, too few, belong to the point before
    total = np.add.reduceat(weights, starts)
    return tuple(np.add.reduceat(column[known] * weights, starts) / total for column in (places, values))  # type: ignore[return-value]


def on_windows(places: np.ndarray, values: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """The mean over each window of the line through a run's own points, whichever steps these have.

    Where a run has logged but a part of a window, the part is taken that lies evenly about its middle.

    Args:
        places: (N,) in any order; of several at one place the mean counts.
        values: (N,), NaN = not known.
        edges: (K + 1,) ascending.

    Returns:
        (K,), NaN for windows whose middle is before the run's first point or behind its last.

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
    """The mean curve of several runs with its 95 % interval over seeds at each window, by Student's t.

    Args:
        curves: (runs, K), of `curves_of`.

    Returns:
        Mean, lower and upper end, (K,) each; ends are NaN for a single run.
    """
    middle = curves.mean(axis=0)
    half = student_half_width(curves)
    return middle, middle - half, middle + half
