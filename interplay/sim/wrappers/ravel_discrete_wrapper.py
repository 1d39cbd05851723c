"""Observations and actions as single numbers, for tables.

A point of integers is a number in a mixed base: each leaf's numbers are digits, the last one the lowest.
Source: manual 2.1.4 and 7.3; specification 2.4, W5 and W6, and the faults F16 and F17.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from gymnasium import spaces

from interplay.core import masks
from interplay.sim.checks import refuse, require
from interplay.sim.leaves import (
    bounds,
    build,
    cast,
    choices,
    is_countable,
    numbers,
    pair,
    point_of,
    walk,
)
from interplay.sim.spaces import in_space
from interplay.sim.wrappers.wrapper import RecodingWrapper

MOST = 2**63 - 1  # points of a Discrete space
MOST_MASKED = 2**16  # points that a mask lists


def check_space(space: Any) -> bool:
    """Whether a space can be ravelled: Discrete, MultiBinary, MultiDiscrete, bounded integer Boxes, nests."""
    if not isinstance(space, spaces.Space):
        return False
    return all(is_countable(leaf) for leaf in walk(space))


def ravel_space(space: spaces.Space) -> spaces.Discrete:
    """The Discrete space with as many points.

    Raises:
        AssertionError: if the space cannot be ravelled or has more than 2**63 - 1 points.

    Example:
        >>> ravel_space(spaces.Tuple([spaces.Discrete(5), spaces.MultiBinary(2)]))
        Discrete(20)
    """
    require(
        check_space(space), f"space {space} cannot be ravelled; give bounded integers only, or flatten it"
    )
    points = math.prod(base for leaf in walk(space) for base in choices(leaf))
    require(points <= MOST, f"space {space} has {points:,} points, more than {MOST:,}; flatten it instead")
    return spaces.Discrete(points)


def ravel(space: spaces.Space, point: Any) -> int:
    """The number of a point.

    Example:
        >>> ravel(spaces.MultiDiscrete([5, 3]), [3, 1])
        10
    """
    number = 0
    for leaf, value in pair(space, point):
        digits = (cast(numbers(value), np.int64, leaf) - bounds(leaf)[0]).tolist()
        for digit, base in zip(digits, choices(leaf), strict=True):
            if not 0 <= digit < base:
                refuse(f"{value!r} is no point of {leaf}; mend either")
            number = number * base + digit
    return number


def unravel(space: spaces.Space, number: int) -> Any:
    """The inverse of `ravel`: a point that the space contains."""
    bases = [base for leaf in walk(space) for base in choices(leaf)]
    digits = []
    rest = int(number)
    for base in reversed(bases):
        rest, digit = divmod(rest, base)
        digits.append(digit)
    digits.reverse()
    at = 0

    def take(leaf: spaces.Space) -> Any:
        nonlocal at
        low = bounds(leaf)[0]
        at += low.size
        return point_of(leaf, np.array(digits[at - low.size : at], np.int64) + low)

    return build(space, take)


def ravel_mask(space: spaces.Space, mask: Any) -> np.ndarray | None:
    """The mask of the numbers: a point is legal if all its parts are.

    Args:
        space: one that can be ravelled.
        mask: in gymnasium's form; a Box's has an axis for each of its numbers, as a mover's free cells, or counts for nothing.

    Returns:
        (points,) int8; None where everything is legal, and for more than `MOST_MASKED` points.

    Example:
        >>> space = spaces.Dict(attack=spaces.Discrete(2), say=spaces.Discrete(3))
        >>> ravel_mask(space, {"attack": np.array([1, 0], np.int8), "say": np.array([0, 1, 1], np.int8)})
        array([0, 1, 1, 0, 0, 0], dtype=int8)
    """
    if mask is None or int(ravel_space(space).n) > MOST_MASKED:
        return None
    legal = np.ones(1, np.int8)
    for leaf, part in pair(space, mask):
        legal = np.kron(legal, _legal_points(leaf, part))
    return legal


def _legal_points(leaf: spaces.Space, mask: Any) -> np.ndarray:
    """(points of the leaf,) int8."""
    bases = choices(leaf)
    if isinstance(leaf, spaces.Box):
        fits = mask is not None and np.shape(mask) == tuple(bases)
        return np.asarray(mask, np.int8).ravel() if fits else np.ones(math.prod(bases), np.int8)
    if mask is None:
        return np.ones(math.prod(bases), np.int8)
    row = masks.from_gymnasium(leaf, mask).astype(np.int8)
    legal = np.ones(1, np.int8)
    for head in np.split(row, np.cumsum(bases)[:-1]):
        legal = np.kron(legal, head)
    return legal


class RavelDiscreteWrapper(RecodingWrapper):
    """Turns all observation and action spaces into Discrete ones; null points come along."""

    def get_action_mask(self, agent_id: str, **kwargs: Any) -> Any:
        """(points,) int8; None where all are legal, and for more than `MOST_MASKED` points."""
        inner = self.sim.agents[agent_id].action_space
        return ravel_mask(inner, self.sim.get_action_mask(agent_id, **kwargs))

    def encode_space(self, space: Any) -> spaces.Discrete:
        return ravel_space(space)

    def encode(self, space: Any, point: Any) -> int:
        return ravel(space, point)

    def decode(self, space: Any, point: Any) -> Any:
        return unravel(space, point)

    def holds(self, space: Any, action: Any) -> bool:
        return in_space(space, action)


class RavelActionWrapper(RavelDiscreteWrapper):
    """Ravels actions alone, for observations with too many points, such as views of a grid."""

    recodes_observations = False
