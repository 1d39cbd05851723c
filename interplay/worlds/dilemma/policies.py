"""Scripted players. They read only the observation and act for all agents of the batch."""

from __future__ import annotations

import numpy as np

from interplay.core.policy import Policy, RandomPolicy, by_name
from interplay.core.world import TimeStep, World
from interplay.worlds.dilemma.rules import COOPERATE, DEFECT


class Cooperate(Policy):
    """Always cooperates."""

    name = "cooperate"

    def act(self, timestep: TimeStep) -> np.ndarray:
        return np.full(timestep.acting.shape, COOPERATE, np.int64)


class Defect(Policy):
    """Always defects."""

    name = "defect"

    def act(self, timestep: TimeStep) -> np.ndarray:
        return np.full(timestep.acting.shape, DEFECT, np.int64)


class TitForTat(Policy):
    """Cooperates first, then repeats the other's last move."""

    name = "tit_for_tat"

    def act(self, timestep: TimeStep) -> np.ndarray:
        return np.where(_other_defected(timestep), DEFECT, COOPERATE)


class Grim(Policy):
    """Cooperates until the other defects once, then always defects."""

    name = "grim"

    def start(self, world: World, seed: int = 0) -> None:
        super().start(world, seed)
        self._betrayed = np.zeros(
            (world.num_worlds, len(world.agents)), bool
        )  # memory, saved with the policy

    def forget(self, which: np.ndarray) -> None:
        self._betrayed[which] = False

    def act(self, timestep: TimeStep) -> np.ndarray:
        self._betrayed |= _other_defected(timestep)
        return np.where(self._betrayed, DEFECT, COOPERATE)


def _other_defected(timestep: TimeStep) -> np.ndarray:
    """(W, A) bool: the other defected in the last round; False before the first."""
    seen: np.ndarray = timestep.observation["other"][..., 1 + DEFECT] > 0
    return seen


POLICIES = by_name(RandomPolicy, Cooperate, Defect, TitForTat, Grim)
