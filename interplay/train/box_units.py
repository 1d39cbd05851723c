"""Maps a policy's numbers to the units of a Box.

A policy's numbers lie in [-1, 1]: an element of a Box with two bounds is `middle + half * number`. An element with one bound or none
is the policy's number itself. Integer Boxes are rounded to the nearest; then all are clipped to the bounds.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces

ENDLESS = 1e30  # larger bounds, and the limits of float, 32-bit and 64-bit dtypes, count as unbounded


class BoxUnits(NamedTuple):
    """Bounds and scale of a Box's flat elements, (columns,) float64 each.

    Attributes:
        middle: of the bounds; 0 for elements that are not scaled.
        half: half the range between them; 1 for elements that are not scaled.
        low, high: the bounds.
        whole: whether the Box holds integers.
    """

    middle: np.ndarray
    half: np.ndarray
    low: np.ndarray
    high: np.ndarray
    whole: bool

    @property
    def maps(self) -> bool:
        """Whether any element is scaled; for Box(-1, 1) none is."""
        return bool((self.middle != 0).any() or (self.half != 1).any())

    def to_box(self, numbers: Any, xp: ModuleType = np) -> Any:
        """Scales the policy's numbers (..., columns) to the Box and clips them; float64 in NumPy, float32 in jax."""
        if self.maps:
            numbers = self._as(xp, self.middle) + self._as(xp, self.half) * numbers
        if self.whole:
            numbers = xp.rint(numbers)
        if (self.low > -np.inf).any():
            numbers = xp.maximum(numbers, self._as(xp, self.low))
        return xp.minimum(numbers, self._as(xp, self.high)) if (self.high < np.inf).any() else numbers

    def beyond(self, numbers: np.ndarray) -> np.ndarray:
        """The mask, of the shape of `numbers`, of the policy's numbers beyond the bounds."""
        two = bounded(self.low, self.high)
        least, most = np.where(two, -1.0, self.low), np.where(two, 1.0, self.high)
        return (numbers < least) | (numbers > most)

    @staticmethod
    def _as(xp: ModuleType, numbers: np.ndarray) -> Any:
        return numbers if xp is np else xp.asarray(numbers, np.float32)


def bounded(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """The mask of elements with two finite bounds."""
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
    return BoxUnits(middle, half, low, high, np.dtype(box.dtype).kind in "iu")


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
