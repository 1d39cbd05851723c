"""The actions of every world's current episode, which with its seed determine the state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from interplay.core.errors import UserError
from interplay.core.hashing import hash_rows, mix64
from interplay.sim.batch.layout import Buffers, KindLayout, Leaf

FIRST = 64  # capacity in steps at first


class History:
    """The actions since each world's last reset, in the smallest integer types.

    Actions of agents that were not to act are not kept: a fixed legal action takes their place.

    Args:
        num_worlds: W.
        kinds: of the agents.
    """

    def __init__(self, num_worlds: int, kinds: Sequence[KindLayout]) -> None:
        self._kinds = tuple(kinds)
        self._actions: dict[str, np.ndarray] = {}  # (W, capacity, A of the kind, ...)
        for kind, leaf in self._leaves():
            shape = (num_worlds, FIRST, len(kind.kind.slots), *(leaf.space.shape or ()))
            self._actions[kind.key("action", leaf)] = np.zeros(shape, compact_dtype(leaf.space))

    @property
    def names(self) -> tuple[str, ...]:
        """Of the arrays that `save` gives."""
        return tuple(self._actions)

    def add(self, buffers: Buffers, at: np.ndarray) -> None:
        """Adds the actions in the buffers, for worlds that are not over.

        Args:
            buffers: of the batch, before its step.
            at: (W,) steps that each world has made in its episode.
        """
        going = np.flatnonzero(~buffers["over"])
        self._make_room(int(at.max()) + 1)
        for kind, leaf in self._leaves():
            key = kind.key("action", leaf)
            queried = buffers["acting"][:, list(kind.kind.slots)]
            given = buffers[key]
            queried = queried.reshape(*queried.shape, *[1] * (given.ndim - 2))
            self._actions[key][going, at[going]] = np.where(queried, given, resting(leaf.space))[going]

    def show(self, buffers: Buffers, t: int) -> None:
        """Puts every world's actions of step t into the buffers."""
        for key, actions in self._actions.items():
            buffers[key][:] = actions[:, t]

    def save(self, lengths: np.ndarray) -> dict[str, np.ndarray]:
        """Buffer name -> (W, longest, A of the kind, ...), zeros after each world's end.

        Args:
            lengths: (W,) steps of each world's episode.
        """
        longest = int(lengths.max())
        saved = {}
        for key, actions in self._actions.items():
            saved[key] = actions[:, :longest].copy()
            saved[key][~_played(lengths, longest)] = 0
        return saved

    def load(self, saved: Mapping[str, np.ndarray], longest: int) -> None:
        """Takes over a result of `save` that `check` has accepted."""
        self._make_room(longest)
        for key, actions in self._actions.items():
            actions[:, :longest] = saved[key]

    def check(self, owner: str, saved: Mapping[str, np.ndarray], lengths: np.ndarray) -> None:
        """Checks a snapshot's actions against the spaces.

        Raises:
            UserError: if a shape, a dtype or an action does not fit.
        """
        longest = int(lengths.max())
        for kind, leaf in self._leaves():
            key = kind.key("action", leaf)
            mine, given = self._actions[key], np.asarray(saved[key])
            shape = (len(mine), longest, *mine.shape[2:])
            if given.shape != shape or given.dtype != mine.dtype:
                raise UserError(
                    f"{owner}: snapshot field {key} is {given.dtype}{given.shape}, this batch needs {mine.dtype}{shape}; "
                    "load it into a simulation with the same options and num_worlds"
                )
            played = given[_played(lengths, longest)]
            low, high = _bounds(leaf.space)
            if not ((played >= low) & (played <= high)).all():
                raise UserError(
                    f"{owner}: snapshot field {key} holds actions outside {leaf.space}; save it anew"
                )

    def digest(self, lengths: np.ndarray) -> np.ndarray:
        """(W,) uint64, equal for equal histories, independent of the batch's longest one."""
        longest, worlds = int(lengths.max()), len(lengths)
        if not longest:
            return np.zeros(worlds, np.uint64)
        rows = {
            key: actions[:, :longest].reshape(worlds * longest, *actions.shape[2:])
            for key, actions in self._actions.items()
        }
        with np.errstate(over="ignore"):
            steps = mix64(np.arange(1, longest + 1, dtype=np.uint64))
            words = mix64(hash_rows(rows).reshape(worlds, longest) + steps)
            return np.where(_played(lengths, longest), words, 0).sum(axis=1, dtype=np.uint64)

    def _leaves(self) -> Iterator[tuple[KindLayout, Leaf]]:
        for kind in self._kinds:
            for leaf in kind.action:
                yield kind, leaf

    def _make_room(self, steps: int) -> None:
        for key, actions in self._actions.items():
            if actions.shape[1] < steps:
                wider = np.zeros(
                    (len(actions), max(steps, 2 * actions.shape[1]), *actions.shape[2:]), actions.dtype
                )
                wider[:, : actions.shape[1]] = actions
                self._actions[key] = wider


def compact_dtype(space: spaces.Space[Any]) -> np.dtype[Any]:
    """The smallest integer type that holds a space's actions; floats stay what they are.

    Example:
        >>> compact_dtype(spaces.Discrete(3)), compact_dtype(spaces.Discrete(300, start=-1))
        (dtype('uint8'), dtype('int16'))
    """
    own = np.dtype(space.dtype)
    if own.kind == "f":
        return own
    low, high = (np.asarray(bound) for bound in _bounds(space))
    least, most = int(low.min()), int(high.max())
    return np.min_scalar_type(most if least >= 0 else min(least, -most - 1))


def resting(space: spaces.Space[Any]) -> Any:
    """The action that stands for idle agents: as near to 0 as the space allows."""
    low, high = _bounds(space)
    return np.clip(0, low, high)


def _bounds(space: spaces.Space[Any]) -> tuple[Any, Any]:
    """Least and greatest value of each element."""
    if isinstance(space, spaces.Box):
        return space.low, space.high
    if isinstance(space, spaces.Discrete):
        return int(space.start), int(space.start) + int(space.n) - 1
    if isinstance(space, spaces.MultiDiscrete):
        return space.start, space.start + space.nvec - 1
    return 0, 1


def _played(lengths: np.ndarray, longest: int) -> np.ndarray:
    """(W, longest) bool, the steps that each world has made."""
    return np.arange(longest) < lengths[:, None]
