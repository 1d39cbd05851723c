"""An environment whose observation has names among its numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import Env, spaces

SPACE = spaces.Dict(
    room=spaces.Discrete(5, start=2),
    speed=spaces.Box(-1, 1, (2,), np.float32),
    suits=spaces.MultiDiscrete([3, 4]),
    word=spaces.Discrete(1000),
)


class Named(Env):
    """Draws what is seen and pays nothing."""

    observation_space = SPACE
    action_space = spaces.Discrete(3)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        return SPACE.sample(), {}

    def step(self, action: Any) -> Any:
        return SPACE.sample(), 0.0, False, False, {}


class Table(Env):
    """Sixteen states with a right answer of its own each, which pays 1."""

    observation_space = spaces.Discrete(16)
    action_space = spaces.Discrete(4)
    answers = np.random.default_rng(3).integers(0, 4, 16)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self._steps = 0
        return self._draw(), {}

    def step(self, action: Any) -> Any:
        paid = float(action == self.answers[self._state])
        self._steps += 1
        return self._draw(), paid, False, self._steps == 10, {}

    def _draw(self) -> int:
        self._state = int(self.np_random.integers(16))
        return self._state
