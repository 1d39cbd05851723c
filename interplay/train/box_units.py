"""The numbers of a Box as the policy counts them and as the world does.

A policy lives in [-1, 1]: an element of a Box with two bounds is `middle + half * number`. An element with one bound or none is
the policy's number itself. Both are clipped to the bounds, after rounding to the nearest where the Box holds whole numbers.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces

ENDLESS = 1e30  # a bound of this size or more is none, and so is the end of a float dtype or of 32 or 64 bits


class BoxUnits(NamedTuple):
    """Of the elements of a Box, flat: (columns,) float64 each.

    Attributes:
        middle: of the bounds; 0 where the policy's number is the world's.
        half: of the range between them; 1 there.
        low, high: the bounds.
        whole: whether the Box holds whole numbers.
    """

    middle: np.ndarray
    half: np.ndarray
    low: np.ndarray
    high: np.ndarray
    whole: bool

    @property
    def maps(self) -> bool:
        """Whether a number changes on its way; of a Box(-1, 1) none does."""
        return bool((self.middle != 0).any() or (self.half != 1).any())

    def to_box(self, numbers: Any, xp: ModuleType = np) -> Any:
        """The policy's numbers (..., columns) in the Box's units and within its bounds; float64 in NumPy, float32 in jax."""
        if self.maps:
            numbers = self._as(xp, self.middle) + self._as(xp, self.half) * numbers
        if self.whole:
            numbers = xp.rint(numbers)
        if (self.low > -np.inf).any():
            numbers = xp.maximum(numbers, self._as(xp, self.low))
        return xp.minimum(numbers, self._as(xp, self.high)) if (self.high < np.inf).any() else numbers

    def beyond(self, numbers: np.ndarray) -> np.ndarray:
        """Which of the policy's numbers lie beyond the bounds, the shape of `numbers` bool."""
        two = bounded(self.low, self.high)
        least, most = np.where(two, -1.0, self.low), np.where(two, 1.0, self.high)
        return (numbers < least) | (numbers > most)

    @staticmethod
    def _as(xp: ModuleType, numbers: np.ndarray) -> Any:
        return numbers if xp is np else xp.asarray(numbers, np.float32)


def bounded(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Where both bounds are some."""
    return np.isfinite(low) & np.isfinite(high)


def units_of(box: spaces.Box) -> BoxUnits:
    """The units of a Box.

    Example:
        >>> units_of(spaces.Box(100, 200, (1,))).to_box(np.array([[-1.0], [0.5], [3.0]])).ravel().tolist()
        [100.0, 175.0, 200.0]
    """
    low, high = _bound(box.low, -np.inf), _bound(box.high, np.inf)
    two = bounded(low, high)
    middle, half = np.zeros(low.shape), np.ones(low.shape)
    middle[two] = low[two] / 2 + high[two] / 2
    half[two] = high[two] / 2 - low[two] / 2
    return BoxUnits(middle, half, low, high, box.dtype.kind in "iu")


def _bound(ends: np.ndarray, none: float) -> np.ndarray:
    """Flat float64 bounds, `none` where there is no bound."""
    flat, dtype = ends.ravel(), ends.dtype
    wide = flat.astype(np.float64)
    endless = np.abs(wide) >= ENDLESS
    if dtype.kind == "f":
        endless |= np.abs(flat) == np.finfo(dtype).max
    elif dtype.itemsize >= 4:
        endless |= (flat != 0) & (flat == (np.iinfo(dtype).max if none > 0 else np.iinfo(dtype).min))
    return np.where(endless, none, wide)
