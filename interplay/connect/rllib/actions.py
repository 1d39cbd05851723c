"""Actions in the forms that RLlib can choose, and back.

RLlib samples Discrete, MultiDiscrete, real Boxes, and Dicts and Tuples of those, counted from 0. Whole-number Boxes, such as the
moves of a gridworld, MultiBinary, and spaces with a start are shifted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces

from interplay.core import masks
from interplay.core.errors import UserError
from interplay.sim.leaves import bounds, build, choices, is_countable, pair, point_of


def offered(space: spaces.Space) -> spaces.Space:
    """The space offered to RLlib.

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
    counts = choices(space)
    return spaces.Discrete(counts[0]) if isinstance(space, spaces.Discrete) else spaces.MultiDiscrete(counts)


def taken(space: spaces.Space, action: Any) -> Any:
    """A point of `offered(space)` as a point of `space`.

    Example:
        >>> taken(spaces.Box(-1, 1, (2,), int), np.array([0, 2]))
        array([-1,  1])

    Raises:
        TypeError, ValueError, LookupError: for what is no point of it.
    """
    parts = iter([part for _, part in pair(space, action)])
    return build(space, lambda leaf: _shifted_back(leaf, next(parts)))


def taken_of_all(given: Mapping[str, spaces.Space], actions: Any) -> dict[str, Any]:
    """The agents' actions, shifted back into their own spaces, id -> action.

    Args:
        given: id -> the agent's own space.
        actions: id -> point of `offered`.

    Raises:
        UserError: for what is no dict, an unknown agent, and a point that cannot be shifted back, naming its agent.
    """
    if not isinstance(actions, Mapping):
        raise UserError(f"actions {_line(actions)} are no dict; give id -> action")
    points = {}
    for name, action in actions.items():
        if name not in given:
            raise UserError(f"action for {_line(name)}, which is not in the environment; leave it out")
        try:
            points[name] = taken(given[name], action)
        except (TypeError, ValueError, LookupError):
            raise UserError(f"action {_line(action)} of {name} is not in {offered(given[name])}") from None
    return points


def _shifted_back(leaf: spaces.Space, part: Any) -> Any:
    if not _is_shifted(leaf):
        return part
    chosen, (low, high) = np.ravel(part), bounds(leaf)
    if chosen.dtype.kind not in "iub" or chosen.shape != low.shape:
        raise ValueError("other numbers than were offered")
    if (chosen < 0).any() or (chosen > high - low).any():
        raise ValueError("numbers out of range")
    return point_of(leaf, chosen.astype(np.int64) + low)


def _line(value: Any) -> str:
    return " ".join(repr(value).split())[:200]


def mask_space(space: spaces.Space) -> spaces.Box:
    """The space of `mask_row`."""
    return spaces.Box(0.0, 1.0, (len(mask_row(space, None)),), np.float32)


def mask_row(space: spaces.Space, mask: Any) -> np.ndarray:
    """One float32 per choice, 1 where legal, in the order of RLlib's logits.

    Args:
        space: the simulation's action space; its real Boxes have no choices, those of whole numbers only legal ones.
        mask: in gymnasium's form; None, also for parts, where everything is legal.

    Example:
        >>> mask_row(spaces.Dict(a=spaces.Discrete(2), b=spaces.Discrete(3)), {"a": None, "b": np.array([0, 1, 1])})
        array([1., 1., 0., 1., 1.], dtype=float32)
    """
    rows = []
    for leaf, part in pair(space, mask, sort=True):
        count = sum(choices(leaf)) if is_countable(leaf) else 0
        # A Box's mask may be of its points or of its numbers; RLlib's logits are of each number's choices.
        of_box = isinstance(leaf, spaces.Box)
        if part is None or (of_box and np.shape(part) != (count,)):
            legal = np.ones(count, bool)
        else:
            legal = np.asarray(part, bool) if of_box else masks.from_gymnasium(leaf, part)
        rows.append(legal.astype(np.float32))
    return np.concatenate(rows or [np.zeros(0, np.float32)])


def _is_shifted(leaf: spaces.Space) -> bool:
    """Whether RLlib is offered another space than this one."""
    if not is_countable(leaf):
        return False
    return isinstance(leaf, spaces.Box | spaces.MultiBinary) or bool(bounds(leaf)[0].any())
