"""Spaces as JSON, stored with a policy so that it can be played without its environment."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces

from interplay.core.pointing import Pointing

MOST = 2**26  # numbers of a space out of a file


def to_json(space: spaces.Space[Any]) -> dict[str, Any]:
    """A space as JSON values.

    Example:
        >>> to_json(spaces.Box(0, np.inf, (2,)))
        {'box': [[0.0], ['inf']], 'shape': [2], 'dtype': 'float32'}
    """
    if isinstance(space, spaces.Dict):
        return {"dict": [[key, to_json(part)] for key, part in space.spaces.items()]}
    if isinstance(space, spaces.Box):
        bounds = [_numbers(space.low), _numbers(space.high)]
        return {"box": bounds, "shape": list(space.shape), "dtype": np.dtype(space.dtype).name}
    if isinstance(space, spaces.Discrete):
        return {"discrete": int(space.n), "start": int(space.start), "dtype": np.dtype(space.dtype).name}
    if isinstance(space, Pointing):
        tables = [[head, key] for head, key in space.tables.items()]
        return {"pointing": space.nvec.tolist(), "tables": tables, "nobody": space.nobody}
    if isinstance(space, spaces.MultiDiscrete):
        dtype = np.dtype(space.dtype).name
        return {"multidiscrete": space.nvec.tolist(), "start": space.start.tolist(), "dtype": dtype}
    if isinstance(space, spaces.MultiBinary):
        return {"multibinary": space.shape[0] if len(space.shape) == 1 else list(space.shape)}
    raise TypeError(f"{type(space).__name__} has no form in JSON")


def from_json(values: Mapping[str, Any]) -> spaces.Space[Any]:
    """The inverse of `to_json`.

    Raises:
        TypeError, ValueError, KeyError, AssertionError: for values that `to_json` does not give, or a space of more than `MOST` numbers.
    """
    if math.prod(_shape(values)) > MOST:
        raise ValueError(f"a space of shape {_shape(values)} has more than {MOST:,} numbers")
    if "dict" in values:
        return spaces.Dict([(key, from_json(part)) for key, part in values["dict"]])
    if "box" in values:
        shape, dtype = tuple(values["shape"]), np.dtype(values["dtype"])
        low, high = (_array(bound, shape, dtype) for bound in values["box"])
        return spaces.Box(low, high, shape, dtype.type)
    if "discrete" in values:
        dtype = np.dtype(values["dtype"]).type
        return spaces.Discrete(values["discrete"], start=values["start"], dtype=dtype)
    if "pointing" in values:
        return Pointing(values["pointing"], dict(values["tables"]), values["nobody"])
    if "multidiscrete" in values:
        dtype = np.dtype(values["dtype"]).type
        return spaces.MultiDiscrete(np.array(values["multidiscrete"]), dtype, start=np.array(values["start"]))
    return spaces.MultiBinary(values["multibinary"])


def _shape(values: Mapping[str, Any]) -> tuple[int, ...]:
    """Shape of a point; ``()`` for a Dict: its parts are read one by one."""
    many = values.get("shape", values.get("multibinary", ()))
    return tuple(many) if isinstance(many, list | tuple) else (many,)


def _numbers(bound: np.ndarray) -> list[Any]:
    """The numbers of a bound; one where all are the same; infinite ones as text."""
    flat = bound.ravel()
    flat = flat[:1] if (flat == flat[:1]).all() else flat
    return [value if math.isfinite(value) else str(value) for value in flat.tolist()]


def _array(numbers: list[Any], shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray:
    if dtype.kind == "f":
        numbers = [float(number) for number in numbers]
    flat = np.array(numbers, dtype)
    return np.full(shape, flat[0]) if flat.size == 1 else flat.reshape(shape)
