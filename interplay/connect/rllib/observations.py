"""Observations for RLlib's connectors: arrays, wherever the space has arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces


def tidy(space: spaces.Space, point: Any) -> Any:
    """A point with lists and bare numbers as arrays of the space's type and shape.

    RLlib takes a list for a nest of its own. A point outside the space stays as it is; RLlib refuses it.

    Example:
        >>> tidy(spaces.Dict(mask=spaces.MultiBinary(1), at=spaces.Discrete(3)), {"mask": [True], "at": 2})
        {'mask': array([1], dtype=int8), 'at': 2}
    """
    if isinstance(space, spaces.Dict) and isinstance(point, Mapping) and point.keys() == space.spaces.keys():
        return {key: tidy(space.spaces[key], part) for key, part in point.items()}
    if (
        isinstance(space, spaces.Tuple)
        and isinstance(point, list | tuple)
        and len(point) == len(space.spaces)
    ):
        return tuple(tidy(part, own) for part, own in zip(space.spaces, point, strict=True))
    if not isinstance(space, spaces.Box | spaces.MultiBinary | spaces.MultiDiscrete):
        return point
    array = np.asarray(point)
    if array.dtype.kind not in "biuf" or array.size != np.prod(space.shape):
        return point
    return array.astype(space.dtype, copy=False).reshape(space.shape)
