"""Observations as one array per leaf in its own dtype: what a world of byte maps needs, four times less to copy than float32."""

from __future__ import annotations

from collections.abc import Mapping

import jax
import jax.numpy as jnp
import numpy as np
from gymnasium import spaces

from interplay.train.observations import ObservationRows

Leaves = dict[str, np.ndarray]


class ObservationLeaves:
    """Cuts rows out of a world's observation and reads them for a network.

    Args:
        space: of one agent.
        scale: map every bounded number to [-1, 1].
        raw: hand leaves to the network in their own dtypes; else as float32.
    """

    def __init__(self, space: spaces.Dict, scale: bool = False, raw: bool = False) -> None:
        rows = ObservationRows(space, scale)  # refuses leaves that are no arrays, knows bounds
        self.space, self._raw = space, raw and not scale
        self._bounds = rows.bounds_by_leaf() if scale else None

    def allocate(self, rows: int) -> Leaves:
        """Arrays for so many rows."""
        return {
            key: np.zeros((rows, *(part.shape or ())), _narrow(part.dtype))
            for key, part in self.space.spaces.items()
        }

    def take(self, observation: Mapping[str, np.ndarray], index: np.ndarray, out: Leaves) -> None:
        """Copies rows `index` of the flattened (W, A) to the front of `out`."""
        for key, leaf in out.items():
            given = np.asarray(observation[key])
            np.take(
                given.reshape(-1, *given.shape[2:]).astype(leaf.dtype, copy=False),
                index,
                axis=0,
                out=leaf[: len(index)],
                mode="clip",  # the default checks twice; indices come from a mask of this shape
            )

    def read(self, leaves: Mapping[str, jax.Array]) -> dict[str, jax.Array]:
        """Leaves (B, ...) as a network is called with them."""
        if self._raw:
            return dict(leaves)
        read = {key: leaf.astype(jnp.float32) for key, leaf in leaves.items()}
        if self._bounds is None:
            return read
        return {key: (leaf - self._bounds[key][0]) / self._bounds[key][1] for key, leaf in read.items()}

    def name_bad(self, leaves: Leaves, rows: slice) -> str | None:
        """The first leaf with a NaN or an infinite number in some rows, e.g. ``observation["zone"]``, or None."""
        for key, leaf in leaves.items():
            if leaf.dtype.kind == "f" and not np.isfinite(leaf[rows]).all():
                return f'observation["{key}"]'
        return None


def _narrow(dtype: object) -> np.dtype:
    """The dtype in which a leaf is kept: what jax would make of it."""
    wide = np.dtype(dtype or np.float32)  # type: ignore[call-overload]
    return {"float64": np.dtype(np.float32), "int64": np.dtype(np.int32), "uint64": np.dtype(np.uint32)}.get(
        wide.name, wide
    )
