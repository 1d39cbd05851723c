"""Seats of players, drawn for each episode (specification interfaces 8: RandPlayer)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from interplay.core import seeding
from interplay.core.errors import UserError
from interplay.interfaces.match import MatchStep, slots_of
from interplay.interfaces.wrappers.wrapper import MatchWrapper, regrouped


class RandPlayer(MatchWrapper):
    """Gives players other seats in each episode: observations, actions, rewards and entries of infos move with the player.

    ``info["seats"]`` has the seat of each player.

    Args:
        seed: of the draws; ``reset(seed=...)`` replaces it.
    """

    def __init__(self, env: Any, seed: int = 0) -> None:
        super().__init__(env)
        for group in slots_of(self.env):
            if any(space != group[0] for space in group):
                raise UserError(f"RandPlayer: seats of {self.env} have different spaces, so none can change")
        self._seed, self._episode = seed, -1

    def _begin(self, seed: int | None) -> None:
        """Draws the seats."""
        self._seed, self._episode = (self._seed, self._episode + 1) if seed is None else (seed, 0)
        draw = seeding.generator(self._seed, 0x5EA7, self._episode)
        self._seats = tuple(draw.permutation(self.slots).tolist())

    def step(self, action: Sequence[Any]) -> MatchStep:  # type: ignore[override]
        """Every player's action."""
        seen, rewards, *rest = super().step(action)
        return (seen, self._shown(rewards), *rest)  # type: ignore[return-value]

    def _inward(self, values: Sequence[Any]) -> tuple[Any, ...]:
        seated: list[Any] = [None] * self.slots
        for seat, one in zip(self._seats, values, strict=True):
            seated[seat] = one
        return tuple(seated)

    def _shown(self, seen: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(seen[seat] for seat in self._seats)

    def _info(self, info: dict[str, Any]) -> dict[str, Any]:
        return {**regrouped(info, self._shown), "seats": self._seats}
