"""Restores arrays of a checkpoint after checks of presence, shape, dtype, finiteness and bounds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from interplay.core.errors import UserError

Arrays = Mapping[str, np.ndarray]
Bounds = Mapping[str, tuple[int, int]]  # name -> least, most


def check_weights(owner: Path | str, tensors: Arrays) -> dict[str, np.ndarray]:
    """Returns the weights if they are finite float32 arrays.

    Args:
        tensors: ``kind/tensor`` -> array.
    """
    if not tensors:
        raise UserError(f"{owner} holds no weights of a policy; choose an earlier checkpoint")
    for name, array in tensors.items():
        if array.dtype != np.float32:
            raise UserError(
                f"{owner}: weights {name!r} are {array.dtype}, not float32; choose an earlier checkpoint"
            )
        if not np.isfinite(array).all():
            raise UserError(f"{owner}: weights {name!r} hold NaN or infinity; choose an earlier checkpoint")
    return dict(tensors)


def restore(mine: Mapping[str, np.ndarray], saved: Arrays, owner: str, bounds: Bounds | None = None) -> None:
    """Copies arrays of a checkpoint into those of a run.

    Args:
        saved: name -> array of the checkpoint; further ones are ignored.
        bounds: name -> least and most value, for counts and indices.

    Raises:
        UserError: for a missing array, another shape or dtype, or values that are not finite or out of bounds; `mine` is unchanged.
    """
    for name, array in mine.items():
        check_array(name, saved.get(name), array.shape, array.dtype, owner, bounds)
    for name, array in mine.items():
        np.copyto(array, saved[name])


def check_array(
    name: str,
    saved: np.ndarray | None,
    shape: tuple[int, ...],
    dtype: np.dtype,
    owner: str,
    bounds: Bounds | None = None,
) -> None:
    """Checks one array of a checkpoint; see `restore`."""
    if saved is None:
        raise UserError(f"{owner}: array {name} is missing; choose an earlier checkpoint")
    if saved.shape != shape or saved.dtype != dtype:
        raise UserError(
            f"{owner}: array {name} is {saved.dtype}{saved.shape}, this run needs {dtype}{shape}; "
            "resume with the run's own settings"
        )
    if saved.dtype.kind == "f" and not np.isfinite(saved).all():
        raise UserError(f"{owner}: array {name} holds NaN or infinity; choose an earlier checkpoint")
    least, most = (bounds or {}).get(name, (None, None))
    if saved.size and least is not None and most is not None:
        low, high = int(saved.min()), int(saved.max())
        if low < least or high > most:
            wrong = low if low < least else high
            raise UserError(
                f"{owner}: array {name} holds {wrong}, outside {least}..{most}; choose an earlier checkpoint"
            )
