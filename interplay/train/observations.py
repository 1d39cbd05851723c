"""Observations as flat float32 rows: one array to store, to hand to the device and to cut minibatches from."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import jax
import numpy as np
from gymnasium import spaces

from interplay.core.errors import UserError


class ObservationRows:
    """Lays the leaves of an observation space side by side.

    Args:
        space: of one agent; a Dict of array leaves.
        scale: map every bounded number from [low, high] to [-1, 1]; unbounded ones stay as they are.

    Attributes:
        width: numbers per row.

    Example:
        >>> ObservationRows(spaces.Dict(zone=spaces.Box(-1, 1, (6,)), others=spaces.Box(-1, 1, (3, 8)))).width
        30
    """

    def __init__(self, space: spaces.Dict, scale: bool = False) -> None:
        self.space = space
        self._columns: dict[str, slice] = {}
        at = 0
        for key, part in space.spaces.items():
            if part.shape is None or isinstance(part, spaces.Dict | spaces.Tuple):
                raise UserError(
                    f"observation {key} is a {type(part).__name__}; the trainer reads array leaves, flatten it into Box leaves"
                )
            size = math.prod(part.shape)
            self._columns[key] = slice(at, at + size)
            at += size
        self.width = at
        self._scale = _bounds(space) if scale else None

    def write(self, observation: Mapping[str, np.ndarray], out: np.ndarray) -> None:
        """Copies the leaves (W, A, ...) into rows (W, A, width) float32."""
        for key, columns in self._columns.items():
            out[..., columns] = np.asarray(observation[key]).reshape(*out.shape[:-1], -1)

    def read(self, rows: jax.Array) -> dict[str, jax.Array]:
        """Rows (B, width) as what a network is called with: key -> (B, ...) float32."""
        if self._scale is not None:
            middle, half = self._scale
            rows = (rows - middle) / half
        return {
            key: rows[:, columns].reshape(-1, *(self.space.spaces[key].shape or ()))
            for key, columns in self._columns.items()
        }

    def bounds_by_leaf(self) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Middle and half width of every leaf's numbers; of a space that is scaled."""
        assert self._scale is not None
        return {
            key: (
                self._scale[0][columns].reshape(self.space.spaces[key].shape or ()),
                self._scale[1][columns].reshape(self.space.spaces[key].shape or ()),
            )
            for key, columns in self._columns.items()
        }

    def name_bad(self, rows: np.ndarray) -> str | None:
        """The first leaf that holds a NaN or an infinite number, e.g. ``observation["zone"]``, or None."""
        for key, columns in self._columns.items():
            if not np.isfinite(rows[..., columns]).all():
                return f'observation["{key}"]'
        return None


def _bounds(space: spaces.Dict) -> tuple[np.ndarray, np.ndarray]:
    """Middle and half width of every column; 0 and 1 where a side is unbounded."""
    middles, halves = [], []
    for part in space.spaces.values():
        low, high = _sides(part)
        bounded = np.isfinite(low) & np.isfinite(high) & (high > low)
        with np.errstate(invalid="ignore", over="ignore"):
            middles.append(np.where(bounded, (low + high) / 2, 0.0).ravel())
            halves.append(np.where(bounded, (high - low) / 2, 1.0).ravel())
    return np.concatenate(middles).astype(np.float32), np.concatenate(halves).astype(np.float32)


def _sides(part: Any) -> tuple[np.ndarray, np.ndarray]:
    """Least and greatest value of each number of a leaf, float64."""
    if isinstance(part, spaces.Box):
        return part.low.astype(np.float64), part.high.astype(np.float64)
    start = np.asarray(getattr(part, "start", 0), np.float64)
    count = getattr(part, "nvec", getattr(part, "n", 2) if isinstance(part, spaces.Discrete) else 2)
    low, count = (
        np.broadcast_to(start, part.shape),
        np.broadcast_to(np.asarray(count, np.float64), part.shape),
    )
    return low, low + count - 1
