"""What wrappers of matches share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gymnasium

from interplay.core.errors import UserError
from interplay.interfaces.match import (
    ALIVE,
    MASK,
    MEMBERS,
    OUTCOME,
    MatchStart,
    MatchStep,
    as_rewards,
    match,
    resets_itself,
    slots_of,
    with_outcome,
)

PER_SLOT = (
    ALIVE,
    MASK,
    OUTCOME,
    "acting",
    "due",
    MEMBERS,
    "sides",
    "shared_cells",
)  # keys of infos with an entry for each slot


class MatchWrapper(gymnasium.Wrapper[Any, Any, Any, Any]):
    """A match around a match; subclasses write `_begin`, `_inward`, `_shown` and `_info`, or more of `step`.

    Args:
        env: whatever `match` takes.

    Attributes:
        slots: how many there are below.
    """

    def __init__(self, env: Any) -> None:
        super().__init__(match(env))
        if resets_itself(self.env):
            raise UserError(f"{type(self).__name__}: Autoreset below it hides resets; put it around")
        self.slots = len(slots_of(self.env)[0])

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> MatchStart:
        self._begin(seed)
        seen, info = self.env.reset(seed=seed, options=options)
        info = self._info(info)
        return self._shown(seen), info

    def step(self, action: Sequence[Any]) -> MatchStep:  # type: ignore[override]
        """Steps with one action per slot; rewards are always a tuple."""
        seen, rewards, terminated, truncated, info = self.env.step(self._inward(action))
        earned = as_rewards(rewards, self.slots)
        info = self._info(with_outcome(self.env, bool(terminated or truncated), info))
        return self._shown(seen), earned, bool(terminated), bool(truncated), info

    @property
    def sides(self) -> tuple[Any, ...]:
        """A label for each slot, equal for slots that win together."""
        return self._info({"sides": self.env.get_wrapper_attr("sides")})["sides"]

    def outcome_so_far(self) -> tuple[float, ...] | None:
        """The outcome if the match ended now."""
        return self._info({OUTCOME: self.env.get_wrapper_attr("outcome_so_far")()})[OUTCOME]

    def _begin(self, seed: int | None) -> None:
        """Prepares for an episode, before its reset."""

    def _inward(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """Values of the slots outside, actions or bools, for the slots below."""
        return tuple(values)

    def _shown(self, seen: Sequence[Any]) -> tuple[Any, ...]:
        """The slots' observations outside."""
        return tuple(seen)

    def _info(self, info: dict[str, Any]) -> dict[str, Any]:
        """The info outside."""
        return info


def regrouped(info: Mapping[str, Any], place: Callable[[Any], Any]) -> dict[str, Any]:
    """An info with its entries for each slot rearranged, also in `RecordEpisodeStatistics`'; None stays None."""
    found = {
        name: place(value) if name in PER_SLOT and value is not None else value
        for name, value in info.items()
    }
    if isinstance(info.get("episode", {}).get("r"), tuple):
        found["episode"] = {**info["episode"], "r": place(info["episode"]["r"])}
    return found
