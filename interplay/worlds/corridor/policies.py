"""Scripted players. They read only the observation and act for all agents of the batch."""

from __future__ import annotations

import numpy as np

from interplay.core.policy import Policy, RandomPolicy, by_name
from interplay.core.world import TimeStep
from interplay.worlds.corridor.simulation import MultiCorridor


class Walker(Policy):
    """Walks right, and waits while the next cell is occupied."""

    name = "walker"

    def act(self, timestep: TimeStep) -> np.ndarray:
        blocked = timestep.observation["right"][..., 0].astype(bool)
        return np.where(blocked, MultiCorridor.Actions.STAY, MultiCorridor.Actions.RIGHT)


POLICIES = by_name(RandomPolicy, Walker)
