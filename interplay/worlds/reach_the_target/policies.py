"""Scripted players. They read only observations, as a learner does, and act for all agents of the batch."""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.core.policy import Policy, RandomPolicy, by_name
from interplay.core.world import TimeStep, World
from interplay.gridworld.board import Array
from interplay.worlds.reach_the_target.simulation import RUNNERS, TARGETS

_KEY = "position_centered_encoding"


class Leaper(Policy):
    """Runners approach a visible target to exactly two cells, then leap; without one in sight they run at random.

    The target shoots at all agents near it.
    """

    name = "leaper"

    def start(self, world: World, seed: int = 0) -> None:
        super().start(world, seed)
        self._spaces: dict[str, Any] = {kind.name: kind.action_space for kind in world.kinds}

    def act(self, timestep: TimeStep) -> dict[str, dict[str, Array]]:
        seen = self.world.by_kind(timestep.observation)
        return {
            kind: {"attack": self._shoot(seen[kind][_KEY], space["attack"])}
            if "attack" in space.spaces
            else {"move": self._run(seen[kind][_KEY], space["move"])}
            for kind, space in self._spaces.items()
        }

    def _shoot(self, seen: Array, space: Any) -> Array:
        middle, reach = seen.shape[-1] // 2, space.shape[0] // 2
        near = slice(middle - reach, middle + reach + 1)
        return (seen[..., near, near] == RUNNERS).astype(np.int64)

    def _run(self, seen: Array, space: Any) -> Array:
        most, side = int(space.nvec[0]) // 2, seen.shape[-1]
        found = (seen == TARGETS).reshape(*seen.shape[:2], -1)
        down, right = np.divmod(found.argmax(axis=-1), side)
        offset = np.stack([down, right], axis=-1) - side // 2
        distance = np.abs(offset).max(axis=-1, keepdims=True)
        step = np.where(distance <= most, most, np.clip(distance - 2, 1, most))
        anywhere = self.rng.integers(-most, most + 1, offset.shape)
        return np.where(found.any(axis=-1)[..., None], offset.clip(-step, step), anywhere)


POLICIES = by_name(RandomPolicy, Leaper)
