"""The leaves of a nested space, depth first."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from gymnasium import spaces

from interplay.sim.checks import require


def walk(space: spaces.Space) -> Iterator[spaces.Space]:
    """The leaves of a space; a Dict's in the order of the space."""
    return (leaf for leaf, _ in pair(space, None))


def pair(space: spaces.Space, parts: Any, sort: bool = False) -> Iterator[tuple[spaces.Space, Any]]:
    """The leaves with their parts of a point or of an action mask, which may be None above its leaves.

    Args:
        sort: by the keys of each Dict, as RLlib does; else in the order of the space.
    """
    if isinstance(space, spaces.Dict):
        for key in sorted(space.spaces) if sort else space.spaces:
            yield from pair(space.spaces[key], None if parts is None else parts[key], sort)
    elif isinstance(space, spaces.Tuple):
        own = [None] * len(space.spaces) if parts is None else parts
        for part, value in zip(space.spaces, own, strict=True):
            yield from pair(part, value, sort)
    else:
        yield space, parts


def cast(flat: np.ndarray, dtype: Any, space: spaces.Space) -> np.ndarray:
    """Numbers of a point in a dtype of its space.

    Raises:
        AssertionError: if a whole-number dtype does not hold them.
    """
    found = flat.astype(dtype)
    if found.dtype.kind != "f" and not np.can_cast(flat.dtype, dtype, "safe"):
        require(
            np.array_equal(found, flat),
            f"{flat.tolist()[:8]} holds numbers that {found.dtype} of {space} does not; mend either",
        )
    return found


def build(space: spaces.Space, take: Callable[[spaces.Space], Any]) -> Any:
    """A point of a space from what `take` gives for its leaves, one after another."""
    if isinstance(space, spaces.Dict):
        return {key: build(part, take) for key, part in space.spaces.items()}
    if isinstance(space, spaces.Tuple):
        return tuple(build(part, take) for part in space.spaces)
    return take(space)


def bounds(leaf: spaces.Space) -> tuple[np.ndarray, np.ndarray]:
    """Least and greatest value of each number of a leaf, flat.

    Raises:
        AssertionError: for a space that holds no fixed number of numbers, such as Text.
    """
    if isinstance(leaf, spaces.Discrete):
        least = int(leaf.start)
        return np.array([least]), np.array([least + int(leaf.n) - 1])
    if isinstance(leaf, spaces.MultiBinary):
        size = math.prod(leaf.shape)
        return np.zeros(size, np.int64), np.ones(size, np.int64)
    if isinstance(leaf, spaces.MultiDiscrete):
        start = np.asarray(getattr(leaf, "start", np.zeros_like(leaf.nvec)), np.int64).ravel()
        return start, start + leaf.nvec.ravel().astype(np.int64) - 1
    require(
        isinstance(leaf, spaces.Box),
        f"space {leaf} has no numbers of its own; give Box, Discrete or nests of them",
    )
    return leaf.low.ravel(), leaf.high.ravel()  # type: ignore[attr-defined]


def is_countable(leaf: spaces.Space) -> bool:
    """Whether a leaf has a finite number of points: bounded whole numbers."""
    if isinstance(leaf, spaces.Box):
        return np.issubdtype(leaf.low.dtype, np.integer) and leaf.is_bounded("both")
    return isinstance(leaf, spaces.Discrete | spaces.MultiBinary | spaces.MultiDiscrete)


def choices(leaf: spaces.Space) -> list[int]:
    """How many values each number of a countable leaf has."""
    low, high = bounds(leaf)
    return [int(most) - int(least) + 1 for least, most in zip(low.tolist(), high.tolist(), strict=True)]


def numbers(point: Any) -> np.ndarray:
    """A leaf's point as flat numbers."""
    return np.atleast_1d(np.asarray(point)).ravel()


def point_of(leaf: spaces.Space, flat: np.ndarray) -> Any:
    """The inverse of `numbers`: an int for a Discrete, else the leaf's array."""
    if isinstance(leaf, spaces.Discrete):
        return int(flat[0])
    return np.asarray(flat).reshape(leaf.shape).astype(leaf.dtype)
