"""Scripted players. They read only observations, as a learner does, and act for all agents of the batch."""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.core.policy import Policy, RandomPolicy, by_name
from interplay.core.world import TimeStep, World


class Hunter(Policy):
    """Attacks an adjacent agent of another team, else walks towards the nearest one, or at random."""

    name = "hunter"

    def start(self, world: World, seed: int = 0) -> None:
        super().start(world, seed)
        seen: Any = world.observation_space
        acts: Any = world.action_space
        side = seen["position_centered_encoding"].shape[0]
        steps = np.arange(side) - side // 2
        self._down, self._right = (grid.ravel() for grid in np.meshgrid(steps, steps, indexing="ij"))
        self._distance = np.maximum(np.abs(self._down), np.abs(self._right))
        self._reach = int(acts["move"].nvec[0]) // 2

    def act(self, timestep: TimeStep) -> dict[str, np.ndarray]:
        seen = timestep.observation["position_centered_encoding"]
        seen = seen.reshape(*seen.shape[:2], -1)
        # Only its own team can share its cell, so that cell always shows its team.
        own = seen[..., seen.shape[-1] // 2, None]
        far = np.where((seen > 0) & (seen != own), self._distance, 99)
        nearest = far.argmin(axis=-1)
        distance = np.take_along_axis(far, nearest[..., None], axis=-1)[..., 0]
        towards = np.stack([self._down[nearest], self._right[nearest]], axis=-1).clip(-1, 1)
        wander = self.rng.integers(-1, 2, towards.shape)
        move = np.where((distance < 99)[..., None], towards, wander)
        return {"attack": (distance <= 1).astype(np.int64), "move": move.clip(-self._reach, self._reach)}


POLICIES = by_name(RandomPolicy, Hunter)
