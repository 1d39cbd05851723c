"""What wrappers of matches share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gymnasium

from interplay.core.errors import UserError
from interplay.interfaces.match import (
    ALIVE,
    MASK,
    OUTCOME,
    MatchStart,
    MatchStep,
    as_rewards,
    match,
    resets_itself,
    slots_of,
)

PER_SLOT = (
    ALIVE,
    MASK,
    OUTCOME,
    "acting",
    "due",
    "member_rewards",
    "shared_cells",
)  # keys of infos with an entry for each slot


class MatchWrapper(gymnasium.Wrapper[Any, Any, Any, Any]):
    """A match around a match; subclasses write `_begin`, `_shown` and `_info`, or more of `step`.

    Args:
        env: whatever `match` takes.

    Attributes:
        slots: how many there are below.
    """

    def __init__(self, env: Any) -> None:
        super().__init__(match(env))
        if resets_itself(self.env):
            raise UserError(
                f"{type(self).__name__}: Autoreset below it begins episodes unseen; put Autoreset around it instead"
            )
        self.slots = len(slots_of(self.env)[0])

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> MatchStart:
        self._begin(seed)
        seen, info = self.env.reset(seed=seed, options=options)
        info = self._info(info)
        return self._shown(seen), info

    def step(self, action: Sequence[Any]) -> MatchStep:  # type: ignore[override]
        """Steps with one action per slot; rewards are always a tuple."""
        seen, rewards, terminated, truncated, info = self.env.step(action)
        earned = as_rewards(rewards, self.slots)
        return self._shown(seen), earned, bool(terminated), bool(truncated), self._info(info)

    def _begin(self, seed: int | None) -> None:
        """Prepares for an episode, before its reset."""

    def _shown(self, seen: Sequence[Any]) -> tuple[Any, ...]:
        """The slots' observations outside."""
        return tuple(seen)

    def _info(self, info: dict[str, Any]) -> dict[str, Any]:
        """The info outside."""
        return info


def regrouped(info: Mapping[str, Any], place: Callable[[Any], Any]) -> dict[str, Any]:
    """An info with its entries for each slot rearranged; None stays None."""
    return {
        name: place(value) if name in PER_SLOT and value is not None else value
        for name, value in info.items()
    }
