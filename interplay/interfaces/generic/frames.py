"""The last observations together (specification interfaces 10: FrameStack)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from gymnasium import spaces

from interplay.core.errors import UserError
from interplay.core.ranges import Range, of_space
from interplay.interfaces.interface import Interface
from interplay.interfaces.nests import Array, Layout, Nest, box, map_space


class FrameStack(Interface):
    """The last k observations: each leaf of shape S becomes (k, *S), the newest last.

    The first one of an episode is repeated for those before it.
    """

    heeds_moving = True

    def __init__(self, inner: Interface | None = None, k: int = 4) -> None:
        super().__init__(inner)
        if k < 1:
            raise UserError(f"FrameStack: k = {k}; stack one frame at least")
        self.k = int(k)

    def _spaces(self, obs_space: spaces.Space, act_space: spaces.Space) -> tuple[spaces.Space, spaces.Space]:
        self._layout = Layout(obs_space)
        # Frames of equal numbers lie in one array, each a row of all leaves: they are shifted in a few copies.
        dtypes = dict.fromkeys(np.dtype(leaf.dtype) for leaf in self._layout.leaves)
        self._frames = [self._kept_frames(dtype) for dtype in dtypes]
        return map_space(lambda leaf: repeated(leaf, self.k), obs_space), act_space

    def _kept_frames(self, dtype: np.dtype) -> tuple[Array, list[tuple[int, slice]]]:
        """An array (B, k, n) for the leaves of one dtype, and their positions in it."""
        ranges, places, end = [], [], 0
        for number, leaf in enumerate(self._layout.leaves):
            if leaf.dtype == dtype:
                shape = leaf.shape or ()
                allowed = of_space(leaf)
                ranges.append(
                    [np.broadcast_to(bound, shape).ravel() for bound in (allowed.low, allowed.high)]
                )
                places.append((number, slice(end, end + ranges[-1][0].size)))
                end = places[-1][1].stop
        low, high = (np.concatenate(side) for side in zip(*ranges, strict=True))
        return self.keep(f"frames/{dtype}", (self.k, end), dtype, Range(low, high, (0,))), places

    def _begin(self, which: Array, obs: Nest) -> None:
        rows = np.flatnonzero(which)
        for frames, newest in self._newest(obs, rows):
            frames[rows] = newest[:, None]

    def _note_observation(self, obs: Nest) -> None:
        moving = self.ctx.moving & ~self.ctx.fresh  # `_begin` has filled the fresh ones
        if not moving.any():
            return
        rows: Any = slice(None) if moving.all() else np.flatnonzero(moving)
        for frames, newest in self._newest(obs, rows):
            frames[rows, :-1] = frames[rows, 1:]
            frames[rows, -1] = newest

    def _newest(self, obs: Nest, rows: Any) -> Iterator[tuple[Array, Array]]:
        """Each array of frames with what some rows show now, (rows, n)."""
        arrays = self._layout.flat(obs)
        for frames, places in self._frames:
            yield frames, np.concatenate([_wide(arrays[leaf])[rows] for leaf, _ in places], axis=1)

    def _observe(self, obs: Nest) -> Nest:
        shown: list[Any] = [None] * len(self._layout.leaves)
        for frames, places in self._frames:
            for leaf, at in places:
                shape = self._layout.leaves[leaf].shape or ()
                shown[leaf] = frames[:, :, at].reshape(*frames.shape[:2], *shape)
        return self._layout.nest(shown)


def _wide(array: Array) -> Array:
    """(B, numbers)."""
    return array.reshape(len(array), -1)


def repeated(leaf: Any, k: int) -> spaces.Space:
    """The space of k values of a leaf."""
    if isinstance(leaf, spaces.Box):
        return box(np.stack([leaf.low] * k), np.stack([leaf.high] * k), leaf.dtype)
    if isinstance(leaf, spaces.MultiBinary):
        return spaces.MultiBinary((k, *leaf.shape))
    count = leaf.n if isinstance(leaf, spaces.Discrete) else leaf.nvec
    start = leaf.start
    return spaces.MultiDiscrete(np.stack([count] * k), leaf.dtype.type, start=np.stack([start] * k))
