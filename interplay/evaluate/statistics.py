"""Means with standard errors, and their differences."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

Z_975 = 1.959964  # quantile of the normal distribution


class Estimate(NamedTuple):
    """A mean over episodes.

    Attributes:
        mean: NaN without values.
        standard_error: of the mean, s / sqrt(n) with s over n - 1; None for less than two values.
        n: episodes with a value.
    """

    mean: float
    standard_error: float | None
    n: int

    def __str__(self) -> str:
        if self.n == 0:
            return "-"
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
        error: combined standard error, sqrt(error_a^2 + error_b^2); None if either is unknown.
        sigmas: difference / error; None if undefined.
    """

    a: Estimate
    b: Estimate
    difference: float
    error: float | None
    sigmas: float | None


def estimate(values: Any) -> Estimate:
    """Mean and standard error of independent values, NaN left out.

    Example:
        >>> estimate([1.0, 2.0, 3.0, 4.0])
        Estimate(mean=2.5, standard_error=0.6454972243679028, n=4)
    """
    array = np.asarray(values, np.float64)
    array = array[~np.isnan(array)]
    if not len(array):
        return Estimate(math.nan, None, 0)
    error = float(array.std(ddof=1) / math.sqrt(len(array))) if len(array) > 1 else None
    return Estimate(float(array.mean()), error, len(array))


def wilson(won: float, games: int) -> tuple[float, float]:
    """95 % interval of a share (Wilson 1927).

    Example:
        >>> [round(x, 3) for x in wilson(8, 10)]
        [0.49, 0.943]
    """
    p, z2 = won / games, Z_975**2
    centre, half = p + z2 / (2 * games), Z_975 * math.sqrt(p * (1 - p) / games + z2 / (4 * games**2))
    return (centre - half) / (1 + z2 / games), (centre + half) / (1 + z2 / games)


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
    if a.standard_error is None or b.standard_error is None:
        return Difference(a, b, gap, None, None)
    error = math.hypot(a.standard_error, b.standard_error)
    if error > 0:
        return Difference(a, b, gap, error, gap / error)
    return Difference(a, b, gap, error, 0.0 if gap == 0 else None)
