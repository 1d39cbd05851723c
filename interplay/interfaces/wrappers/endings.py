"""Episodes that end earlier than the environment's (specification interfaces 8)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from interplay.core.errors import UserError
from interplay.interfaces.match import ALIVE, OUTCOME, MatchStart, MatchStep, flags, outcomes, with_outcome
from interplay.interfaces.wrappers.wrapper import MatchWrapper


class LifeEnds(MatchWrapper):
    """Ends the episode (terminated) when one of the slots has lost its life; sides with fewer dead slots win.

    Args:
        slots: the slots that count; None: all.
    """

    def __init__(self, env: Any, slots: Sequence[int] | None = None) -> None:
        super().__init__(env)
        self._watched = list(range(self.slots)) if slots is None else list(slots)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> MatchStart:
        seen, info = super().reset(seed=seed, options=options)
        self._lived = flags(info[ALIVE])
        return seen, info

    def step(self, action: Sequence[Any]) -> MatchStep:  # type: ignore[override]
        seen, rewards, terminated, truncated, info = super().step(action)
        alive = flags(info[ALIVE])
        lost = any(self._lived[slot] and not alive[slot] for slot in self._watched)
        self._lived = alive
        if lost and not (terminated or truncated):
            sides = self.sides
            teams = [[slot for slot, own in enumerate(sides) if own == one] for one in dict.fromkeys(sides)]
            info = {**info, OUTCOME: outcomes(alive - 1.0, teams)}
            terminated = True
        return seen, rewards, terminated, truncated, info


class CutWithoutReward(MatchWrapper):
    """Cuts the episode (truncated) after a number of steps without any reward; the outcome is that of the match so far."""

    def __init__(self, env: Any, steps: int) -> None:
        super().__init__(env)
        if steps < 1:
            raise UserError(f"CutWithoutReward: steps = {steps}; let one pass at least")
        self._limit = int(steps)

    def _begin(self, seed: int | None) -> None:
        self._idle = 0

    def step(self, action: Sequence[Any]) -> MatchStep:  # type: ignore[override]
        seen, rewards, terminated, truncated, info = super().step(action)
        self._idle = 0 if any(np.any(reward) for reward in rewards) else self._idle + 1
        if self._idle >= self._limit and not (terminated or truncated):
            info, truncated = with_outcome(self, True, info), True
        return seen, rewards, terminated, truncated, info
