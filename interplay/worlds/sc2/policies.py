"""Scripted players of full matches."""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.core.errors import UserError
from interplay.core.policy import Policy, RandomPolicy, by_name
from interplay.core.world import TimeStep, World
from interplay.worlds.sc2.config import WAITS
from interplay.worlds.sc2.features import BUILT, COUNTED
from interplay.worlds.sc2.regions import REGIONS

WAIT = 32  # game loops, where an action holds its waiting time
_BEFORE = ("make spawning pool", "nothing")
_AFTER = ("make zergling", "make overlord", "0 attacks 0", "nothing")


class Still(Policy):
    """Does nothing."""

    name = "still"
    no_memory = (*Policy.no_memory, "_world")

    def start(self, world: World, seed: int = 0) -> None:
        super().start(world, seed)
        self._world: Any = world
        if "macro" not in (world.action_names or {}):
            raise UserError(
                f'{self.name}: {world.id} has no macro actions; make sc2/zvz with control = "macro"'
            )

    def act(self, timestep: TimeStep) -> np.ndarray:
        macro = self._choose(timestep)
        if not self._world.settings.chosen_waits:
            return macro
        return np.stack([macro, np.full_like(macro, WAITS.index(WAIT))], axis=-1)

    def _choose(self, timestep: TimeStep) -> np.ndarray:
        return np.zeros(timestep.acting.shape, np.int64)


class Rush(Still):
    """A spawning pool as soon as it can be paid for, then Zerglings, of which three or more attack the enemy's start."""

    name = "rush"

    def _choose(self, timestep: TimeStep) -> np.ndarray:
        vector = timestep.observation["vector"]
        units = 4 * len(COUNTED) * (REGIONS if self._world.settings.regions else 1)
        has_pool = vector[..., units + BUILT.index("spawning_pool")] > 0
        return np.where(has_pool, self._first_legal(timestep, _AFTER), self._first_legal(timestep, _BEFORE))

    def _first_legal(self, timestep: TimeStep, names: tuple[str, ...]) -> np.ndarray:
        macros = self._world.action_names["macro"]
        choices = np.array([macros.index(name) for name in names])
        assert timestep.action_mask is not None
        chosen: np.ndarray = choices[timestep.action_mask["action"][..., choices].argmax(axis=-1)]
        return chosen


POLICIES = by_name(RandomPolicy, Still, Rush)
