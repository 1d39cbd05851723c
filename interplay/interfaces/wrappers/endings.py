"""Episodes that end earlier than the environment's (specification interfaces 8)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from interplay.core.errors import UserError
from interplay.interfaces.match import ALIVE, OUTCOME, MatchStart, MatchStep, outcomes
from interplay.interfaces.wrappers.wrapper import MatchWrapper


class LifeEnds(MatchWrapper):
    """Ends the episode (terminated) when one of the slots has lost its life; living slots win against dead ones.

    Args:
        slots: the slots that count; None: all.
    """

    def __init__(self, env: Any, slots: Sequence[int] | None = None) -> None:
        super().__init__(env)
        self._watched = list(range(self.slots)) if slots is None else list(slots)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> MatchStart:
        seen, info = super().reset(seed=seed, options=options)
        self._lived = _living(info)
        return seen, info

    def step(self, action: Sequence[Any]) -> MatchStep:  # type: ignore[override]
        seen, rewards, terminated, truncated, info = super().step(action)
        alive = _living(info)
        lost = any(self._lived[slot] and not alive[slot] for slot in self._watched)
        self._lived = alive
        if lost and not (terminated or truncated):
            info = {**info, OUTCOME: outcomes([float(one) for one in alive])}
            terminated = True
        return seen, rewards, terminated, truncated, info


class CutWithoutReward(MatchWrapper):
    """Cuts the episode (truncated) after a number of steps without any reward; returns decide the outcome."""

    def __init__(self, env: Any, steps: int) -> None:
        super().__init__(env)
        if steps < 1:
            raise UserError(f"CutWithoutReward: steps = {steps}; let one pass at least")
        self._limit = int(steps)

    def _begin(self, seed: int | None) -> None:
        self._idle, self._returns = 0, np.zeros(self.slots)

    def step(self, action: Sequence[Any]) -> MatchStep:  # type: ignore[override]
        seen, rewards, terminated, truncated, info = super().step(action)
        self._returns += [float(np.sum(reward)) for reward in rewards]
        self._idle = 0 if any(np.any(reward) for reward in rewards) else self._idle + 1
        if self._idle >= self._limit and not (terminated or truncated):
            info = {OUTCOME: outcomes(self._returns.tolist()), **info}
            truncated = True
        return seen, rewards, terminated, truncated, info


def _living(info: dict[str, Any]) -> list[bool]:
    """Whether each slot is alive; for a team whether any member is."""
    return [any(one) if isinstance(one, tuple) else bool(one) for one in info[ALIVE]]
