"""Actions as RLlib can choose them, and back: it knows whole numbers only if they count from 0 and are no Box.

It samples Discrete, MultiDiscrete, real Boxes, and Dicts and Tuples of those. Whole-number Boxes, such as the moves of a
gridworld, MultiBinary, and spaces that start elsewhere than at 0 are shifted.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from interplay.core import masks
from interplay.sim.wrappers.leaves import bounds, build, pair, pair_masks, point_of


def offered(space: spaces.Space) -> spaces.Space:
    """The space that RLlib is shown.

    Example:
        >>> offered(spaces.Dict(move=spaces.Box(-1, 1, (2,), int), say=spaces.Discrete(3, start=1)))
        Dict('move': MultiDiscrete([3 3]), 'say': Discrete(3))
    """
    if isinstance(space, spaces.Dict):
        return spaces.Dict({key: offered(part) for key, part in space.spaces.items()})
    if isinstance(space, spaces.Tuple):
        return spaces.Tuple([offered(part) for part in space.spaces])
    if not _is_shifted(space):
        return space
    choices = _choices(space)
    return (
        spaces.Discrete(choices[0]) if isinstance(space, spaces.Discrete) else spaces.MultiDiscrete(choices)
    )


def taken(space: spaces.Space, action: Any) -> Any:
    """A point of `offered(space)` as a point of `space`.

    Example:
        >>> taken(spaces.Box(-1, 1, (2,), int), np.array([0, 2]))
        array([-1,  1])
    """
    parts = iter([part for _, part in pair(space, action)])

    def take(leaf: spaces.Space) -> Any:
        part = next(parts)
        return point_of(leaf, np.ravel(part) + bounds(leaf)[0]) if _is_shifted(leaf) else part

    return build(space, take)


def mask_space(space: spaces.Space) -> spaces.Box:
    """Of `mask_row`."""
    return spaces.Box(0.0, 1.0, (len(mask_row(space, None)),), np.float32)


def mask_row(space: spaces.Space, mask: Any) -> np.ndarray:
    """One float32 for each choice, 1 where it is legal, in the order of RLlib's logits.

    Args:
        space: the simulation's action space; its real Boxes have no choices, those of whole numbers only legal ones.
        mask: in gymnasium's form; None, also for parts, where everything is legal.

    Example:
        >>> mask_row(spaces.Dict(a=spaces.Discrete(2), b=spaces.Discrete(3)), {"a": None, "b": np.array([0, 1, 1])})
        array([1., 1., 0., 1., 1.], dtype=float32)
    """
    rows = []
    for leaf, part in pair_masks(space, mask):
        count = sum(_choices(leaf)) if _is_countable(leaf) else 0
        # A Box's mask may be of its points or of its numbers; RLlib's logits are of each number's choices.
        of_box = isinstance(leaf, spaces.Box)
        if part is None or (of_box and np.shape(part) != (count,)):
            legal = np.ones(count, bool)
        else:
            legal = np.asarray(part, bool) if of_box else masks.from_gymnasium(leaf, part)
        rows.append(legal.astype(np.float32))
    return np.concatenate(rows or [np.zeros(0, np.float32)])


def _is_countable(leaf: spaces.Space) -> bool:
    if isinstance(leaf, spaces.Box):
        return np.issubdtype(leaf.low.dtype, np.integer) and leaf.is_bounded("both")
    return isinstance(leaf, spaces.Discrete | spaces.MultiDiscrete | spaces.MultiBinary)


def _is_shifted(leaf: spaces.Space) -> bool:
    """Whether RLlib is shown another space than this one."""
    if not _is_countable(leaf):
        return False
    return isinstance(leaf, spaces.Box | spaces.MultiBinary) or bool(bounds(leaf)[0].any())


def _choices(leaf: spaces.Space) -> list[int]:
    low, high = bounds(leaf)
    return [int(most) - int(least) + 1 for least, most in zip(low.tolist(), high.tolist(), strict=True)]
