"""How far an episode is (specification interfaces 10: MultiBinObs)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from interplay.core.errors import UserError
from interplay.interfaces.generic.adding import Feature
from interplay.interfaces.interface import Interface
from interplay.interfaces.nests import Nest


class MultiBinObs(Feature):
    """Adds the number of steps so far as one-hots at several resolutions.

    Args:
        max: the largest number; later steps count as this one.
        bins: length of each one-hot; a bin is ``max // bins`` steps wide, the last one takes the rest.
    """

    name = "step_bins"

    def __init__(
        self,
        inner: Interface | None = None,
        max: int = 800,
        bins: Sequence[int] = (80, 16, 4),
        mode: str = "append",
        key: str | None = None,
    ) -> None:
        super().__init__(inner, mode, key)
        self.max, self.bins = int(max), tuple(map(int, bins))
        wrong = [count for count in self.bins if not 1 <= count <= self.max]
        if wrong or not self.bins:
            raise UserError(f"MultiBinObs: bins = {list(self.bins)}; give numbers from 1 to max = {self.max}")

    def _feature_space(self, obs_space: spaces.Space, act_space: spaces.Space) -> spaces.Space:
        return spaces.Box(0, 1, (sum(self.bins),), np.float32)

    def _feature(self, obs: Nest) -> Any:
        shown = np.zeros((self.ctx.rows, sum(self.bins)), np.float32)
        rows, start = np.arange(self.ctx.rows), 0
        for count in self.bins:
            width = self.max // count
            shown[rows, start + np.minimum(self.ctx.step // width, count - 1)] = 1
            start += count
        return shown
