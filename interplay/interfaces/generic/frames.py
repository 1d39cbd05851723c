"""The last observations together (specification interfaces 10: FrameStack)."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from interplay.core.errors import UserError
from interplay.core.ranges import of_space
from interplay.interfaces.interface import Interface
from interplay.interfaces.nests import Array, Layout, Nest, leaves, map_space


class FrameStack(Interface):
    """Shows the last k observations: each leaf of shape S becomes (k, *S), the newest last.

    The first one of an episode stands for those before it.

    Args:
        inner: the stack below.
        k: how many.

    Raises:
        UserError: for k below 1.
    """

    heeds_moving = True

    def __init__(self, inner: Interface | None = None, k: int = 4) -> None:
        super().__init__(inner)
        if k < 1:
            raise UserError(f"FrameStack: k = {k}; stack one frame at least")
        self.k = int(k)

    def _spaces(self, obs_space: spaces.Space, act_space: spaces.Space) -> tuple[spaces.Space, spaces.Space]:
        self._layout = Layout(obs_space)
        self._frames = [
            self.keep(
                f"frames/{path}", (self.k, *(leaf.shape or ())), leaf.dtype, of_space(_repeated(leaf, self.k))
            )
            for path, leaf in leaves(obs_space)
        ]
        return map_space(lambda leaf: _repeated(leaf, self.k), obs_space), act_space

    def _begin(self, which: Array, obs: Nest) -> None:
        for frames, array in zip(self._frames, self._layout.flat(obs), strict=True):
            frames[which] = array[which, None]

    def _note_observation(self, obs: Nest) -> None:
        moving = self.ctx.moving
        rows: Any = slice(None) if moving.all() else np.flatnonzero(moving)
        for frames, array in zip(self._frames, self._layout.flat(obs), strict=True):
            for frame in range(self.k - 1):
                frames[rows, frame] = frames[rows, frame + 1]
            frames[rows, -1] = array[rows]

    def _observe(self, obs: Nest) -> Nest:
        return self._layout.nest(self._frames)


def _repeated(leaf: spaces.Space, k: int) -> spaces.Space:
    """The space of k values of a leaf."""
    if isinstance(leaf, spaces.Box):
        return spaces.Box(np.stack([leaf.low] * k), np.stack([leaf.high] * k), dtype=leaf.dtype.type)
    if isinstance(leaf, spaces.MultiBinary):
        return spaces.MultiBinary((k, *leaf.shape))
    count = leaf.n if isinstance(leaf, spaces.Discrete) else leaf.nvec  # type: ignore[attr-defined]
    start = leaf.start  # type: ignore[attr-defined]
    return spaces.MultiDiscrete(np.stack([count] * k), leaf.dtype.type, start=np.stack([start] * k))  # type: ignore[union-attr]
