"""Scripted players. They read only observations, as a learner does, and act for all agents of the batch."""

from __future__ import annotations

import numpy as np

from interplay.core.policy import Policy, RandomPolicy, by_name
from interplay.core.world import TimeStep, World
from interplay.worlds.traffic_corridor.simulation import LEFT, RIGHT

_KEY = "position_centered_encoding"


class Courteous(Policy):
    """The left team goes first; the other waits in its corners until it has seen them pass."""

    name = "courteous"

    def start(self, world: World, seed: int = 0) -> None:
        super().start(world, seed)
        self._came = np.zeros((world.num_worlds, len(world.agents)), bool)

    def forget(self, which: np.ndarray) -> None:
        self._came[which] = False

    def act(self, timestep: TimeStep) -> dict[str, np.ndarray]:
        seen = timestep.observation[_KEY]
        middle = seen.shape[-1] // 2
        # Only its own team can share its cell, so that cell always shows its team.
        team = seen[..., middle, middle]
        coming = (seen[..., :middle] == LEFT).any(axis=(-1, -2)) & (team == RIGHT)
        self._came |= coming
        waits = (team == RIGHT) & (coming | ~self._came)
        # Into the middle row: down where the grid ends above, up where it ends below.
        above, below = seen[..., middle - 1, middle] == -1, seen[..., middle + 1, middle] == -1
        move = np.stack([above.astype(int) - below, np.where(team == LEFT, 1, -1)], axis=-1)
        return {"move": np.where(waits[..., None], 0, move)}


POLICIES = by_name(RandomPolicy, Courteous)
