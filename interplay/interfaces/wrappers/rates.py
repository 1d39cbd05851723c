"""Slots that act at rates of their own (specification interfaces 3.1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from interplay.core.errors import UserError
from interplay.interfaces.environment import EnvItfWrapper
from interplay.interfaces.match import (
    MASK,
    MEMBERS,
    MatchStart,
    MatchStep,
    flags,
    legal_action,
    slots_of,
    wrappers_of,
)
from interplay.interfaces.wrappers.wrapper import MatchWrapper

Wait = Callable[[Any], int]


class ActingRates(MatchWrapper):
    """A slot's action sets how long it waits; the match runs on until the first of the slots is due again.

    Actions are held meanwhile, and rewards are summed. A slot that is not due gets its last observation again, has ``info["due"][slot]`` false,
    and its action is ignored. In the last step all slots get the final observation. For interfaces below, a held action is no decision. Held choices
    that have become illegal are played as the first legal one of their head.

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
        self._all = (True,) * self.slots
        self.decided: Sequence[Any] = self._all  # as of `EnvItfWrapper`

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> MatchStart:
        """Begins an episode; all slots are due."""
        seen, info = self.env.reset(seed=seed, options=options)
        self._left = np.zeros(self.slots, np.int64)
        self._held: list[Any] = [None] * self.slots
        self._seen, self._legal = list(seen), info.get(MASK)
        return tuple(seen), {**info, "due": (True,) * self.slots}

    def step(self, action: Sequence[Any]) -> MatchStep:  # type: ignore[override]
        """Steps with the actions of due slots; other entries are ignored."""
        due = self._left == 0
        decided, self.decided = due & flags(self.decided), self._all
        for slot in np.flatnonzero(due).tolist():
            wait = int(self._waits[slot](action[slot]))
            if wait < 1:
                raise UserError(f"ActingRates: slot {slot} waits {wait} steps; an action takes one at least")
            self._held[slot], self._left[slot] = action[slot], wait
        earned: Any = None
        for passed in range(int(self._left.min())):
            fresh = due & (passed == 0)
            seen, rewards, terminated, truncated, info = self._once(fresh, decided & fresh)
            sums = rewards, info.get(MEMBERS, ())
            earned = sums if earned is None else _added(earned, sums)
            self._left -= 1
            if terminated or truncated:
                self._left[:] = 0
                break
        now = self._left == 0
        self._seen = [new if ready else old for new, old, ready in zip(seen, self._seen, now, strict=True)]
        info = {**info, "due": tuple(now.tolist()), **({MEMBERS: earned[1]} if MEMBERS in info else {})}
        return tuple(self._seen), earned[0], terminated, truncated, info

    def _once(self, fresh: Any, decided: Any) -> MatchStep:
        _mark(self.env, decided.tolist())
        legal = zip(slots_of(self.env)[1], self._held, self._legal or [None] * self.slots, fresh, strict=True)
        action = [one if new else legal_action(space, one, mask) for space, one, mask, new in legal]
        found = super().step(action)
        self._legal = found[-1].get(MASK)
        return found


def _mark(env: Any, decided: Sequence[Any]) -> None:
    """Sets which actions of the next step are decisions, for the interfaces below."""
    for one in wrappers_of(env):
        if isinstance(one, EnvItfWrapper | ActingRates):
            one.decided = decided
        if isinstance(one, ActingRates):
            return  # marks what is below it
        if isinstance(one, MatchWrapper):
            decided = one._inward(decided)


def _added(one: Any, other: Any) -> Any:
    return tuple(map(_added, one, other)) if isinstance(one, tuple) else one + other


class StepMul(ActingRates):
    """All slots act in every k-th environment step; rewards are summed."""

    def __init__(self, env: Any, k: int) -> None:
        if k < 1:
            raise UserError(f"StepMul: k = {k}; an action takes one step at least")
        super().__init__(env, lambda _: k)
