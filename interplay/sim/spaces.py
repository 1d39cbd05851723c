"""Spaces of agents: `Box`, and nested plain dicts and tuples that become gymnasium's."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from interplay.sim.checks import require


class Box(spaces.Box):
    """Gymnasium's Box that also holds plain numbers and lists (specification A9).

    A bare number is a member of a box with one element, and a list of the right shape is a member; a float is no member of
    an integer box. Integer boxes may have infinite bounds with every gymnasium.

    Example:
        >>> 3 in Box(0, 5, (1,), int), [1, 2] in Box(0, 5, (2,), int), 1.5 in Box(0, 5, (1,), int)
        (True, True, False)
    """

    def __init__(
        self,
        low: Any,
        high: Any,
        shape: tuple[int, ...] | None = None,
        dtype: Any = np.float32,
        seed: int | np.random.Generator | None = None,
    ) -> None:
        if not np.issubdtype(np.dtype(dtype), np.integer):
            super().__init__(low, high, shape, dtype, seed)
            return
        # Gymnasium's releases differ in what they do with an infinite bound of integers: here it is the type's end.
        ends = np.iinfo(np.dtype(dtype))
        lows, highs = _whole(low, ends.min, dtype), _whole(high, ends.max, dtype)
        super().__init__(lows, highs, shape, dtype, seed)
        self.bounded_below = np.broadcast_to(np.isfinite(low), self.shape).copy()
        self.bounded_above = np.broadcast_to(np.isfinite(high), self.shape).copy()

    def contains(self, x: Any) -> bool:
        point = np.asarray(x)
        if point.dtype == object or not np.can_cast(point.dtype, self.low.dtype, "same_kind"):
            return False
        if point.ndim == 0 and self.shape == (1,):
            point = point.reshape(1)
        return bool(point.shape == self.shape and np.all(point >= self.low) and np.all(point <= self.high))


def _whole(side: Any, end: int, dtype: Any) -> Any:
    """A bound as whole numbers, the type's end where it is infinite."""
    bound = np.asarray(side)
    if np.issubdtype(bound.dtype, np.integer):
        return side
    infinite = np.isinf(bound)
    whole = np.where(infinite, 0, bound).astype(dtype)
    whole = np.where(infinite, np.asarray(end, dtype), whole)
    return int(whole) if whole.ndim == 0 else whole


def check_space(space: Any, strict: bool = False) -> bool:
    """Whether something describes a space.

    Args:
        space: a gymnasium space, or nested plain dicts and tuples of spaces, which may be empty.
        strict: let only gymnasium spaces pass.

    Example:
        >>> check_space({"left": spaces.Discrete(2), "rest": (spaces.Discrete(3),)}), check_space({"left": 2})
        (True, False)
    """
    if isinstance(space, spaces.Space):
        return True
    if strict:
        return False
    if isinstance(space, dict):
        return all(check_space(part) for part in space.values())
    return isinstance(space, tuple) and all(check_space(part) for part in space)


def make_dict(space: Any) -> spaces.Space:
    """Nested plain dicts and tuples of spaces as gymnasium's.

    Raises:
        AssertionError: if a leaf is no space.

    Example:
        >>> make_dict({"left": spaces.Discrete(2)})
        Dict('left': Discrete(2))
    """
    if isinstance(space, spaces.Space):
        return space
    if isinstance(space, dict):
        return spaces.Dict({key: make_dict(part) for key, part in space.items()})
    require(
        isinstance(space, tuple),
        f"space {space!r} is no gymnasium space and no dict or tuple of spaces; give for example Discrete(3)",
    )
    return spaces.Tuple([make_dict(part) for part in space])


def in_space(space: spaces.Space, point: Any) -> bool:
    """Whether a point lies in a space; False, not an error, for a wrong form."""
    try:
        return bool(space.contains(point))
    except (TypeError, ValueError, KeyError, AttributeError, IndexError):
        return False
