"""Scripted players (specification 3.8). They read only the observation and act for all agents."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from interplay.core import seeding
from interplay.core.policy import Policy, RandomPolicy, by_name
from interplay.core.ranges import ANYTHING, Range, index
from interplay.core.world import TimeStep, World
from interplay.worlds.pommerman.config import PommermanSettings
from interplay.worlds.pommerman.simple import REMEMBERED, Memory, Senses, allocate_scratch, play
from interplay.worlds.pommerman.state import LAY, NOWHERE, RIGHT, STOP


class PommermanPolicy(Policy):
    """Base of this world's players: the shape of the actions. They send no words."""

    def start(self, world: World, seed: int = 0) -> None:
        super().start(world, seed)
        self._heads = int(np.prod(world.action_space.shape or (1,)))

    def act(self, timestep: TimeStep) -> np.ndarray:
        """(W, A) choices, with radio (W, A, heads); 0 for idle agents."""
        action = np.zeros((*timestep.acting.shape, self._heads), np.int64)
        self.choose(timestep, action)
        return action if self._heads > 1 else action[:, :, 0]

    def choose(self, timestep: TimeStep, action: np.ndarray) -> None:
        """Writes the actions of acting agents into an array of zeros."""


class Still(PommermanPolicy):
    """Never moves."""

    name = "still"


class RandomNoBomb(PommermanPolicy):
    """Walks at random and never lays a bomb."""

    name = "random_no_bomb"

    def choose(self, timestep: TimeStep, action: np.ndarray) -> None:
        action[:, :, 0] = self.rng.integers(STOP, LAY, action.shape[:2])


class Simple(PommermanPolicy):
    """The playground's SimpleAgent: flees from bombs, bombs adjacent enemies and wood, collects items (`simple`)."""

    name = "simple"
    no_memory = (*PommermanPolicy.no_memory, "_scratch", "_short", "_heads", "_cells")

    def start(self, world: World, seed: int = 0) -> None:
        super().start(world, seed)
        settings: PommermanSettings = world.settings  # type: ignore[attr-defined]
        slots = (world.num_worlds, len(world.agents))
        self._short = settings.quirks.short_window
        self._scratch = allocate_scratch(settings.size)
        self._cells = (settings.size + 2) ** 2
        self._memory = Memory(
            seed=seeding.world_seeds(seed, world.num_worlds, world.first_world),
            episode=np.zeros(world.num_worlds, np.uint64),
            tick=np.zeros(world.num_worlds, np.uint64),
            idle=np.full((*slots, REMEMBERED), NOWHERE, np.int16),
            chased=np.full(slots, STOP, np.uint8),
        )

    def memory_ranges(self) -> Mapping[str, Range]:
        return {
            **{f"_memory/{name}": ANYTHING for name in ("seed", "episode", "tick")},
            "_memory/idle": index(self._cells, none=True),
            "_memory/chased": index(RIGHT + 1),
        }

    def forget(self, which: np.ndarray) -> None:
        self._memory.episode[which] += np.uint64(1)
        self._memory.tick[which] = 0
        self._memory.idle[which] = NOWHERE
        self._memory.chased[which] = STOP

    def choose(self, timestep: TimeStep, action: np.ndarray) -> None:
        seen = timestep.observation
        senses = Senses(
            board=seen["board"],
            strength=seen["bomb_blast_strength"],
            position=seen["position"],
            ammo=seen["ammo"],
            blast=seen["blast_strength"],
            enemies=seen["enemies"],
            acting=timestep.acting,
        )
        play(senses, self._memory, self._scratch, self._short, action)


POLICIES = by_name(RandomPolicy, Still, RandomNoBomb, Simple)
