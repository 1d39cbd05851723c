"""Observations and actions as flat arrays.

Source: manual 2.1.4 and 7.3; specification 2.4, W3, W4 and W6.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from interplay.core.masks import from_gymnasium
from interplay.sim.checks import refuse
from interplay.sim.leaves import bounds, build, cast, numbers, pair, point_of, walk
from interplay.sim.spaces import Box
from interplay.sim.wrappers.wrapper import RecodingWrapper


def flatdim(space: spaces.Space) -> int:
    """How many numbers a point of the space has.

    Example:
        >>> flatdim(spaces.Dict(a=spaces.Discrete(5), b=spaces.MultiBinary(3)))
        4
    """
    return sum(bounds(leaf)[0].size for leaf in walk(space))


def flatten_space(space: spaces.Space) -> Box:
    """The space of the flat points: integers if all parts are, else float32.

    A lone Box keeps its dtype.

    Raises:
        AssertionError: if a part holds no fixed number of numbers.

    Example:
        >>> flatten_space(spaces.Tuple([spaces.Discrete(5), spaces.MultiBinary(2)])).high
        array([4, 1, 1])
    """
    dtype = _dtype(space)
    sides = [bounds(leaf) for leaf in walk(space)]
    low, high = (np.concatenate([side[k] for side in sides] or [np.zeros(0)]).astype(dtype) for k in range(2))
    return Box(low, high, (low.size,), dtype)


def flatten(space: spaces.Space, point: Any) -> np.ndarray:
    """A point as a flat array, parts in the order of the space."""
    parts = [numbers(value) for _, value in pair(space, point)]
    return cast(np.concatenate(parts or [np.zeros(0)]), _dtype(space), space)


def unflatten(space: spaces.Space, flat: np.ndarray) -> Any:
    """The inverse of `flatten`: a point that the space contains."""
    at = 0

    def take(leaf: spaces.Space) -> Any:
        nonlocal at
        size = bounds(leaf)[0].size
        at += size
        return point_of(leaf, np.asarray(flat)[at - size : at])

    return build(space, take)


def flat_mask(space: spaces.Space, mask: Any, name: str = "") -> np.ndarray:
    """The mask of flat whole numbers, (values of the first, of the second, ...) int8.

    Args:
        space: before it was flattened.
        mask: in gymnasium's form; that of a Box with several numbers, which is of its points, counts for nothing.
        name: of the agent, for the error.

    Raises:
        AssertionError: for real numbers.

    Example:
        >>> flat_mask(spaces.Dict(a=spaces.Discrete(2), b=spaces.Box(-1, 1, (1,), int)), {"a": None, "b": np.array([0, 1, 1])})
        array([1, 1, 0, 1, 1], dtype=int8)
    """
    rows = []
    for leaf, part in pair(space, mask):
        if isinstance(leaf, spaces.Box) and not np.issubdtype(leaf.dtype, np.integer):
            refuse(
                f"agent {name}: its action mask has no place in a flat Box with real numbers; flatten observations in the simulation, "
                "or leave the wrapper out"
            )
        low, high = bounds(leaf)
        count = int((high.astype(np.int64) - low.astype(np.int64) + 1).sum())
        if part is None or (isinstance(leaf, spaces.Box) and np.shape(part) != (count,)):
            rows.append(np.ones(count, np.int8))
        elif isinstance(leaf, spaces.Box):
            rows.append(np.asarray(part, bool).astype(np.int8))
        else:
            rows.append(from_gymnasium(leaf, part).astype(np.int8))
    return np.concatenate(rows or [np.zeros(0, np.int8)])


def _dtype(space: spaces.Space) -> np.dtype:
    if isinstance(space, spaces.Box):
        assert space.dtype is not None
        return np.dtype(space.dtype)
    whole = all(
        not isinstance(leaf, spaces.Box) or np.issubdtype(leaf.dtype, np.integer) for leaf in walk(space)
    )
    return np.dtype(np.int64 if whole else np.float32)


def _fits(space: Box, row: Any) -> bool:
    try:
        given = np.reshape(np.asarray(row), space.shape)
    except (TypeError, ValueError):
        return False
    if given.dtype.kind not in "biuf" or not ((given >= space.low) & (given <= space.high)).all():
        return False
    return bool(np.issubdtype(space.dtype, np.floating) or (given == np.rint(given)).all())


class FlattenWrapper(RecodingWrapper):
    """Turns all observation and action spaces into flat Boxes; null points come along.

    Samples of the flat spaces are distributed otherwise than flat samples of the original ones.
    """

    def get_action_mask(self, agent_id: str, **kwargs: Any) -> Any:
        """The legal values of all numbers, one number after another, int8; None: all.

        Raises:
            AssertionError: for a mask beside real numbers, which have no list of values.
        """
        mask = self.sim.get_action_mask(agent_id, **kwargs)
        return None if mask is None else flat_mask(self.sim.agents[agent_id].action_space, mask, agent_id)

    def encode_space(self, space: Any) -> Box:
        return flatten_space(space)

    def encode(self, space: Any, point: Any) -> np.ndarray:
        return flatten(space, point)

    def decode(self, space: Any, point: Any) -> Any:
        return unflatten(space, np.ravel(point))

    def holds(self, space: Any, action: Any) -> bool:
        """Whether the row has the right length and bounds; any dtype will do."""
        return _fits(space, action)


class FlattenActionWrapper(FlattenWrapper):
    """Flattens actions and leaves observations as they are."""

    recodes_observations = False
