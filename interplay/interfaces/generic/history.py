"""What was done last (specification interfaces 10: PrevActObs)."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from interplay.core.errors import UserError
from interplay.core.ranges import FLAG, of_space
from interplay.core.spaces import action_choices
from interplay.interfaces.generic.adding import Feature
from interplay.interfaces.interface import Interface
from interplay.interfaces.nests import Array, Layout, Nest, leaves


class PrevActObs(Feature):
    """Adds the last n decisions: one-hots of all discrete choices, the oldest first, zeros before the first.

    Held actions are no decisions, see `Interface.act_trans`.

    Args:
        raw: instead, the last action itself, in its own space; before the first one, the action nearest to 0.
    """

    name = "previous_action"
    heeds_moving = True

    def __init__(
        self,
        inner: Interface | None = None,
        n: int = 1,
        raw: bool = False,
        mode: str = "append",
        key: str | None = None,
    ) -> None:
        super().__init__(inner, mode, key)
        if n < 1 or (raw and n > 1):
            raise UserError(
                f"PrevActObs: n = {n}{' of raw actions' if raw else ''}; keep one at least, and raw ones one at most"
            )
        self.n, self.raw = int(n), raw

    def _feature_space(self, obs_space: spaces.Space, act_space: spaces.Space) -> spaces.Space:
        self._layout = Layout(act_space)
        if self.raw:
            self._last = [
                self.keep(
                    f"last/{path}", leaf.shape or (), leaf.dtype, of_space(leaf), _nearest_to_zero(leaf)
                )
                for path, leaf in leaves(act_space)
            ]
            return act_space
        discrete = [leaf for leaf in self._layout.leaves if not isinstance(leaf, spaces.Box)]
        choices = [count for leaf in discrete for count in action_choices(leaf)]
        width = sum(choices)
        if not width:
            raise UserError(f"PrevActObs: no part of {act_space} is discrete; use raw=True")
        firsts = np.concatenate([_firsts(leaf) for leaf in discrete])
        self._columns = (
            np.cumsum([0, *choices[:-1]]) - firsts
        )  # of a head: where a choice of it is, less the choice
        self._history = self.keep("history", (self.n, width), np.float32, FLAG)
        return spaces.Box(0, 1, (self.n * width,), np.float32)

    def _note_action(self, action: Nest) -> None:
        moving = self.ctx.moving
        rows = np.flatnonzero(moving)
        parts = self._layout.flat(action)
        if self.raw:
            for kept, array in zip(self._last, parts, strict=True):
                kept[rows] = array[rows]
            return
        history = self._history
        at: Any = slice(None) if len(rows) == len(moving) else rows
        for decision in range(self.n - 1):
            history[at, decision] = history[at, decision + 1]
        history[at, -1] = 0
        chosen = [
            part.reshape(len(part), -1)
            for leaf, part in zip(self._layout.leaves, parts, strict=True)
            if not isinstance(leaf, spaces.Box)
        ]
        heads = chosen[0] if len(chosen) == 1 else np.concatenate(chosen, axis=1)
        last = rows[:, None] * history[0].size + (self.n - 1) * history.shape[-1]
        history.reshape(-1)[last + (heads[at] + self._columns)] = 1

    def _feature(self, obs: Nest) -> Any:
        if self.raw:
            return self._layout.nest(self._last)
        return self._history.reshape(self.ctx.rows, -1)


def _firsts(leaf: spaces.Space) -> Array:
    """The first choice of each head."""
    return np.broadcast_to(np.ravel(getattr(leaf, "start", 0)), len(action_choices(leaf)))


def _nearest_to_zero(leaf: spaces.Space) -> Any:
    if isinstance(leaf, spaces.Box):
        return np.clip(np.zeros(leaf.shape, leaf.dtype), leaf.low, leaf.high)
    low = np.asarray(getattr(leaf, "start", 0))
    count = np.asarray(
        getattr(leaf, "nvec", 2 if isinstance(leaf, spaces.MultiBinary) else getattr(leaf, "n", 2))
    )
    return np.broadcast_to(np.clip(0, low, low + count - 1), leaf.shape or ()).astype(leaf.dtype)
