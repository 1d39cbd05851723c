"""The result of a match by frags (specification 7.5)."""

from __future__ import annotations

import numpy as np


def place_values(sides: int) -> np.ndarray:
    """The values of the places, the best first: (sides,) float.

    Example:
        >>> place_values(8).tolist(), place_values(2).tolist()
        ([1.0, 1.0, 0.0, 0.0, 0.0, -1.0, -1.0, -1.0], [1.0, -1.0])
    """
    if sides == 1:
        return np.zeros(1)
    if sides == 2:
        return np.array([1.0, -1.0])
    place = np.arange(sides)
    return np.where(place < sides // 3, 1.0, np.where(place < 2 * sides // 3, 0.0, -1.0))


def rounded(values: np.ndarray) -> np.ndarray:
    """Values of shared places as won, drawn and lost: above 1/2 +1, below -1/2 -1, else 0.

    Example:
        >>> rounded(np.array([2 / 3, 0.5, -0.125, -0.5, -1.0])).tolist()
        [1.0, 0.0, 0.0, 0.0, -1.0]
    """
    return np.rint(values) + 0.0  # no -0


def outcomes(frags: np.ndarray) -> np.ndarray:
    """The result of each side of one match, (sides,): equal frags get the mean of their places' values.

    Example:
        >>> outcomes(np.array([3, 5, 3])).tolist()
        [-0.5, 1.0, -0.5]
    """
    values = place_values(len(frags))
    best_first = np.sort(frags)[::-1]
    return np.array([values[best_first == own].mean() for own in frags])
