"""Slots that act at rates of their own (specification interfaces 3.1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from interplay.core.errors import UserError
from interplay.interfaces.environment import EnvItfWrapper
from interplay.interfaces.match import MatchStart, MatchStep
from interplay.interfaces.wrappers.wrapper import MatchWrapper

Wait = Callable[[Any], int]


class ActingRates(MatchWrapper):
    """A slot's action sets how long it waits; the match runs on until the first of the slots is due again.

    Actions are held meanwhile, and rewards are summed. A slot that is not due gets its last observation again, has ``info["due"][slot]`` false,
    and its action is ignored. In the last step all slots get the final observation. Above an `EnvItfWrapper` a held action is no decision.

    Args:
        waits: action -> environment steps, at least 1; one function for all slots, or one for each.
    """

    def __init__(self, env: Any, waits: Wait | Sequence[Wait]) -> None:
        super().__init__(env)
        self._waits = [waits] * self.slots if callable(waits) else list(waits)
        if len(self._waits) != self.slots:
            raise UserError(
                f"ActingRates: {len(self._waits)} waiting functions for {self.slots} slots; give one, or one for each"
            )

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> MatchStart:
        """Begins an episode; all slots are due."""
        seen, info = self.env.reset(seed=seed, options=options)
        self._left = np.zeros(self.slots, np.int64)
        self._held: list[Any] = [None] * self.slots
        self._seen = list(seen)
        return tuple(seen), {**info, "due": (True,) * self.slots}

    def step(self, action: Sequence[Any]) -> MatchStep:  # type: ignore[override]
        """Steps with the actions of due slots; other entries are ignored."""
        due = self._left == 0
        for slot in np.flatnonzero(due).tolist():
            wait = int(self._waits[slot](action[slot]))
            if wait < 1:
                raise UserError(f"ActingRates: slot {slot} waits {wait} steps; an action takes one at least")
            self._held[slot], self._left[slot] = action[slot], wait
        earned: list[Any] = [0.0] * self.slots
        for passed in range(int(self._left.min())):
            seen, rewards, terminated, truncated, info = self._once(due & (passed == 0))
            earned = [one + other for one, other in zip(earned, rewards, strict=True)]
            self._left -= 1
            if terminated or truncated:
                self._left[:] = 0
                break
        now = self._left == 0
        self._seen = [new if ready else old for new, old, ready in zip(seen, self._seen, now, strict=True)]
        return tuple(self._seen), tuple(earned), terminated, truncated, {**info, "due": tuple(now.tolist())}

    def _once(self, decided: Any) -> MatchStep:
        if isinstance(self.env, EnvItfWrapper):
            return self.env.step(tuple(self._held), decided=tuple(decided.tolist()))
        return super().step(tuple(self._held))


class StepMul(ActingRates):
    """All slots act in every k-th environment step; rewards are summed."""

    def __init__(self, env: Any, k: int) -> None:
        if k < 1:
            raise UserError(f"StepMul: k = {k}; an action takes one step at least")
        super().__init__(env, lambda _: k)
