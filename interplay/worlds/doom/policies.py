"""Scripted players. They read only the observation and act for all agents of the batch."""

from __future__ import annotations

import numpy as np

from interplay.core.policy import Policy, RandomPolicy, by_name
from interplay.core.world import TimeStep, World
from interplay.worlds.doom.buttons import ACTION_SETS
from interplay.worlds.doom.config import DoomSettings


class Turret(Policy):
    """Turns by single steps and shoots after each; in `doom/basic`, which has no turns, moves to the side instead."""

    name = "turret"

    def start(self, world: World, seed: int = 0) -> None:
        super().start(world, seed)
        settings: DoomSettings = world.settings  # type: ignore[attr-defined]
        self._shots = _shots(settings)
        self._step = np.zeros((world.num_worlds, len(world.agents)), np.int64)  # memory

    def forget(self, which: np.ndarray) -> None:
        self._step[which] = 0

    def act(self, timestep: TimeStep) -> np.ndarray:
        action = self._shots[self._step % len(self._shots)]
        self._step += 1
        return action


def _shots(settings: DoomSettings) -> np.ndarray:
    """(2, ...) a turn or side move, and a shot."""
    if settings.actions == "buttons":
        names = settings.buttons
        turn, shot = np.zeros((2, len(names)), np.int8)
        if "turn_left" in names:
            turn[names.index("turn_left")] = 1
        if "attack" in names:
            shot[names.index("attack")] = 1
        return np.stack([turn, shot])
    choices = ACTION_SETS[settings.actions]
    turning = [n for n, held in enumerate(choices) if "turn_left" in held or held == ("move_left",)]
    return np.array([turning[0], choices.index(("attack",))])


POLICIES = by_name(RandomPolicy, Turret)
