"""Spaces as flat rows of numbers: observations one float32 Box, actions numbered from 0.

CleanRL's scripts, Tianshou, EPyMARL, SuperSuit and TorchRL's mixing networks need them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces

from interplay.connect.choices import by_row
from interplay.core.errors import UserError
from interplay.core.masks import length
from interplay.core.spaces import action_choices
from interplay.sim.leaves import bounds

MOST = 4096  # choices of one number

FORMS = (False, True, "discrete")


def flat_observation_space(space: spaces.Dict) -> spaces.Box:
    """One float32 Box: the fields in order, each row by row, without one-hots.

    Example:
        >>> flat_observation_space(spaces.Dict(day=spaces.Discrete(5), map=spaces.Box(-1, 1, (2, 3)))).shape
        (7,)
    """
    sides = [bounds(part) for part in space.spaces.values()]
    low, high = (np.concatenate([side[k] for side in sides]).astype(np.float32) for k in range(2))
    return spaces.Box(low, high, low.shape, np.float32)


def flat_rows(space: spaces.Dict, fields: Mapping[str, np.ndarray]) -> np.ndarray:
    """World 0's observations of all agents of a kind, (A, numbers) float32, a copy."""
    parts = [fields[name][0].reshape(len(fields[name][0]), -1) for name in space.spaces]
    return np.concatenate(parts, axis=1, dtype=np.float32, casting="unsafe")


class Part(NamedTuple):
    """One part of an action.

    Attributes:
        key: in a Dict; None: the action is this part.
        counts: choices of each of its numbers.
        start: the first choice of each.
        masked: whether the world's mask covers it.
    """

    key: str | None
    space: spaces.Space[Any]
    counts: tuple[int, ...]
    start: np.ndarray
    masked: bool


class FlatActions:
    """An action space as a Discrete or MultiDiscrete from 0, or a flat float32 Box.

    Args:
        owner: named in errors.
        space: of one agent.
        single: one number for all choices together, the last head counting fastest.

    Attributes:
        space: the flat one; its ``sample`` takes a mask row.
        choices: length of a mask row; 0 for a Box.

    Raises:
        UserError: for real numbers beside choices, unbounded whole numbers, or too many choices for one number.
    """

    def __init__(self, owner: str, space: spaces.Space[Any], single: bool = False) -> None:
        self.given, self._single = space, single
        self._real = isinstance(space, spaces.Box) and np.dtype(space.dtype).kind == "f"
        self.parts = [] if self._real else _parts_of(owner, space)
        self.counts = [count for part in self.parts for count in part.counts]
        if self._real:
            assert isinstance(space, spaces.Box)
            size = math.prod(space.shape)
            low, high = (side.reshape(size).astype(np.float32) for side in (space.low, space.high))
            self.space = by_row(spaces.Box(low, high, (size,), np.float32))
        elif single and math.prod(self.counts) > MOST:
            raise UserError(
                f"{owner}: its actions make {math.prod(self.counts):,} choices, one number has {MOST:,} at most; use flat=True"
            )
        elif single or len(self.counts) == 1:
            self.space = by_row(spaces.Discrete(math.prod(self.counts)))
        else:
            self.space = by_row(spaces.MultiDiscrete(self.counts))
        self.choices = length(self.space)

    def batch(self, rows: list[Any]) -> Any:
        """The world's (1, A, ...) actions of flat ones.

        Raises:
            TypeError, ValueError: for anything but numbers of the space's kind.
        """
        given = np.array(rows).reshape(len(rows), -1)
        if self._real:
            assert isinstance(self.given, spaces.Box)
            if given.dtype.kind in "fiu":
                # A bound in float32 may lie beyond the world's own in float64; what is beyond both is the world's to refuse.
                inside = (given >= self.space.low) & (given <= self.space.high)
                low, high = self.given.low.ravel(), self.given.high.ravel()
                given = np.where(inside, np.clip(given.astype(self.given.dtype), low, high), given)
            return given.reshape(1, len(rows), *self.given.shape)
        if given.dtype.kind not in "iu":
            raise TypeError(f"actions of dtype {given.dtype}; whole numbers are needed")
        counts = [math.prod(self.counts)] if self._single else self.counts
        if given.shape[1] != len(counts) or (given < 0).any() or (given >= counts).any():
            # Looked at here, as what follows casts to small types, in which large numbers are others.
            raise ValueError("actions out of range")
        if self._single:
            given = np.stack(np.unravel_index(given[:, 0], self.counts), axis=1)
        found, at = {}, 0
        for part in self.parts:
            size = len(part.counts)
            numbers = (given[:, at : at + size] + part.start).astype(part.space.dtype)
            found[part.key] = numbers.reshape(1, len(rows), *(part.space.shape or ()))
            at += size
        return found.get(None, found)

    def masks(self, mask: Mapping[str, Any], agents: int) -> np.ndarray:
        """World 0's rows of a `TimeStep.action_mask`, (A, choices) bool, a copy."""
        rows = []
        for part in self.parts:
            key = "action" if part.key is None else part.key
            legal = part.masked and key in mask
            rows.append(mask[key][0] if legal else np.ones((agents, sum(part.counts)), bool))
        heads = np.concatenate(rows, axis=1)
        return self._joint(heads) if self._single else heads

    def _joint(self, heads: np.ndarray) -> np.ndarray:
        """The masks of heads as masks of a single number."""
        found, at = np.ones((len(heads), 1), bool), 0
        for count in self.counts:
            one = heads[:, np.newaxis, at : at + count]
            found = (found[:, :, np.newaxis] & one).reshape(len(heads), -1)
            at += count
        return found


def _parts_of(owner: str, space: spaces.Space[Any]) -> list[Part]:
    if isinstance(space, spaces.Dict):
        return [_part(owner, key, part) for key, part in space.spaces.items()]
    return [_part(owner, None, space)]


def _part(owner: str, key: str | None, space: spaces.Space[Any]) -> Part:
    if not isinstance(space, spaces.Box):
        counts = action_choices(space)
        start = np.broadcast_to(getattr(space, "start", 0), space.shape or ()).ravel()
        return Part(key, space, counts, start.astype(np.int64), True)
    if np.dtype(space.dtype).kind == "f":
        raise UserError(f"{owner}: action {key} has real numbers beside choices; leave flat out")
    if not space.is_bounded("both"):
        raise UserError(f"{owner}: action {key or ''} has no bounds to number it by; leave flat out")
    low, high = space.low.ravel().astype(np.int64), space.high.ravel().astype(np.int64)
    return Part(key, space, tuple((high - low + 1).tolist()), low, False)
