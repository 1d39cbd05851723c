"""Nested arrays flattened to one vector, and the interfaces for it (specification interfaces 10)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from gymnasium import spaces

from interplay.core.errors import UserError
from interplay.core.spaces import action_choices
from interplay.interfaces.interface import Interface
from interplay.interfaces.nests import Array, Layout, Nest, box, flat, leaves, map_nest


class Flattener:
    """Makes one vector of a nest: Boxes and bits as they are, other whole numbers as one-hots, in the space's order.

    Args:
        space: of one row.

    Attributes:
        space: of the vector: the leaves' dtype if all are Boxes of one dtype, else float32.
    """

    def __init__(self, space: spaces.Space) -> None:
        self._layout = Layout(space)
        parts = [(_bounds(leaf), leaf) for leaf in self._layout.leaves]
        boxes = {np.dtype(leaf.dtype) if isinstance(leaf, spaces.Box) else None for _, leaf in parts}
        only = boxes.pop() if len(boxes) == 1 else None
        self.dtype = only or np.dtype(np.float32)
        low, high = (
            np.concatenate([np.ravel(part[side]).astype(self.dtype) for part, _ in parts]) for side in (0, 1)
        )
        self.space = box(low, high, self.dtype)
        ends = np.cumsum([0, *(np.size(part[0]) for part, _ in parts)]).tolist()
        self._columns = list(pairwise(ends))

    def __call__(self, value: Nest) -> Array:
        """(B, n) of a value of the space with the axis B first; new memory."""
        arrays = self._layout.flat(value)
        made = np.empty((len(arrays[0]), *self.space.shape), self.dtype)
        for leaf, array, (start, end) in zip(self._layout.leaves, arrays, self._columns, strict=True):
            if isinstance(leaf, spaces.Box | spaces.MultiBinary):
                made[:, start:end].reshape(array.shape)[...] = array  # a view: the last axis is split
            else:
                _put_one_hots(leaf, array, made[:, start:end])
        return made


def _bounds(leaf: spaces.Space) -> tuple[Array, Array]:
    if isinstance(leaf, spaces.Box):
        return leaf.low, leaf.high
    size = int(np.prod(leaf.shape)) if isinstance(leaf, spaces.MultiBinary) else sum(action_choices(leaf))
    return np.zeros(size), np.ones(size)


def _put_one_hots(leaf: spaces.Space, array: Array, made: Array) -> None:
    heads = (array - leaf.start).reshape(len(array), -1)  # type: ignore[attr-defined]
    starts = np.cumsum([0, *action_choices(leaf)[:-1]])
    made[...] = 0
    made[np.arange(len(array))[:, None], starts + heads] = 1


class ConcatVec(Interface):
    """Makes one vector of everything observed; see `Flattener`."""

    def _spaces(self, obs_space: spaces.Space, act_space: spaces.Space) -> tuple[spaces.Space, spaces.Space]:
        self._flatten = Flattener(obs_space)
        return self._flatten.space, act_space

    def _observe(self, obs: Nest) -> Nest:
        return self._flatten(obs)


class Dict2Vec(Interface):
    """Makes one vector of every mapping: of the whole observation if it is one, else of each entry that is one.

    Args:
        leave_out: prefixes of keys to drop: statistics, which a policy should not see. Empty keeps all.
    """

    def __init__(self, inner: Interface | None = None, leave_out: Sequence[str] = ("stats_",)) -> None:
        super().__init__(inner)
        self.leave_out = (leave_out,) if isinstance(leave_out, str) else tuple(leave_out)

    def _spaces(self, obs_space: spaces.Space, act_space: spaces.Space) -> tuple[spaces.Space, spaces.Space]:
        self._made: Callable[[Nest], Nest]
        space, self._made = self._vectors(obs_space)
        if space is obs_space:
            raise UserError(f"Dict2Vec: {obs_space} has no mapping; use ConcatVec")
        return space, act_space

    def _observe(self, obs: Nest) -> Nest:
        return self._made(obs)

    def _vectors(self, space: spaces.Space) -> tuple[spaces.Space, Callable[[Nest], Nest]]:
        if isinstance(space, spaces.Tuple):
            inside = [self._vectors(part) for part in space.spaces]
            if all(made is part for (made, _), part in zip(inside, space.spaces, strict=True)):
                return space, lambda value: value
            return spaces.Tuple([made for made, _ in inside]), lambda value: tuple(
                make(part) for (_, make), part in zip(inside, value, strict=True)
            )
        if not isinstance(space, spaces.Dict):
            return space, lambda value: value
        left = [
            (key, part) for key, part in space.spaces.items() if not key.startswith(self.leave_out or ("\0",))
        ]
        if not left:
            raise UserError(f"Dict2Vec: leave_out = {list(self.leave_out)} leaves nothing")
        flatten = Flattener(spaces.Dict(left))
        return flatten.space, lambda value: flatten({key: value[key] for key, _ in left})


class ConcatObsAct(Interface):
    """A tuple of members as one slot: one vector of observations and one of actions, so that one model plays a team.

    Actions of Boxes join to a Box, discrete ones to a MultiDiscrete, member after member.
    """

    def _spaces(self, obs_space: spaces.Space, act_space: spaces.Space) -> tuple[spaces.Space, spaces.Space]:
        if not isinstance(obs_space, spaces.Tuple) or not isinstance(act_space, spaces.Tuple):
            raise UserError(
                f"ConcatObsAct: it joins tuples of members, not {obs_space} and {act_space}; group players first (MakeTeam)"
            )
        self._flatten, self._inside = Flattener(obs_space), act_space
        self._leaves = [leaf for _, leaf in leaves(act_space)]
        self._joined = _join(self._leaves)
        return self._flatten.space, self._joined

    def _observe(self, obs: Nest) -> Nest:
        return self._flatten(obs)

    def _act(self, action: Nest) -> Nest:
        sizes = [int(np.prod(leaf.shape or ())) for leaf in self._leaves]
        split = iter(np.split(action, np.cumsum(sizes)[:-1], axis=1))
        return map_nest(
            lambda leaf: next(split).reshape(len(action), *(leaf.shape or ())).astype(leaf.dtype),
            self._inside,
        )

    def _mask(self, mask: Nest) -> Nest:
        if isinstance(self._joined, spaces.Box):
            return None
        given = flat(self._inside, mask)
        rows = next((len(part) for part in given if part is not None), None)
        if rows is None:
            return None
        legal = [
            np.ones((rows, sum(action_choices(leaf))), bool) if part is None else part
            for leaf, part in zip(self._leaves, given, strict=True)
        ]
        return np.concatenate(legal, axis=1)


def _join(parts: list[Any]) -> spaces.Space:
    """One space for the numbers of several."""
    boxes = [isinstance(leaf, spaces.Box) for leaf in parts]
    if all(boxes):
        low, high = (
            np.concatenate([np.ravel(side) for side in sides])
            for sides in zip(*((b.low, b.high) for b in parts), strict=True)
        )
        return box(low, high, low.dtype)
    if any(boxes):
        raise UserError("ConcatObsAct: some actions are discrete and some are not; join them yourself")
    choices = [count for leaf in parts for count in action_choices(leaf)]
    starts = [np.broadcast_to(getattr(leaf, "start", 0), leaf.shape or ()).reshape(-1) for leaf in parts]
    return spaces.MultiDiscrete(choices, start=np.concatenate(starts).astype(np.int64))


class RemoveTuple(Interface):
    """Takes the entry out of every tuple of one: of observation, action or both."""

    def _spaces(self, obs_space: spaces.Space, act_space: spaces.Space) -> tuple[spaces.Space, spaces.Space]:
        self._opens, self._closes = (
            isinstance(space, spaces.Tuple) and len(space.spaces) == 1 for space in (obs_space, act_space)
        )
        if not (self._opens or self._closes):
            raise UserError(f"RemoveTuple: neither {obs_space} nor {act_space} is a tuple of one")
        return obs_space[0] if self._opens else obs_space, act_space[0] if self._closes else act_space  # type: ignore[index]

    def _observe(self, obs: Nest) -> Nest:
        return obs[0] if self._opens else obs

    def _act(self, action: Nest) -> Nest:
        return (action,) if self._closes else action

    def _mask(self, mask: Nest) -> Nest:
        return mask[0] if self._closes else mask
