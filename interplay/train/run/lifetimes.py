"""What lives were like, by population: how many, how long, what they earned, and what the world counted of them.

In most worlds lives are parts of an episode, and are counted with it: when the window in which the episode began is complete
(decision 16). A world that counts lives itself (``world.ended``) has slots that are born again, in episodes that may never end;
there a life counts when it ends. Where the dead keep their slots (``World.dead_stay``) a life's length is the steps in which it acted,
and what it earned is what the slot was paid, after its death too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from interplay.core.world import TimeStep, World
from interplay.train.populations import Populations

OWN = ("life", "life_return")
NOT_MEANS = ("life", "cause", "population", "id")  # of `world.ended`: counted here, or no number to average


class LifeStatistics:
    """Adds up lives, in float64 sums that shards can add.

    Args:
        world: a batch, reset.
        populations: of the run.

    Attributes:
        names: what is counted of each life.
        with_episodes: lives are counted with the episode that they are part of.
        in_episode: (W, Q * (1 + names)) float64, sums over the lives that ended in the episodes under way; without columns where
            lives count when they end.
        steps: (W, A) int64, of the lives under way, until their deaths.
        earned: (W, A) float64, by the lives under way.
    """

    def __init__(self, world: World, populations: Populations) -> None:
        ended: Mapping[str, np.ndarray] = getattr(world, "ended", {})
        self.with_episodes = not ended
        self.names = [*OWN, *(name for name in ended if name not in (*OWN, *NOT_MEANS))]
        shape = (world.num_worlds, len(world.agents))
        self.steps = np.zeros(shape, np.int64)
        self.earned = np.zeros(shape)
        self._living = np.ones(shape, bool)
        self._world, self._count = world, len(populations.names)
        self._sums = np.zeros((self._count, 1 + len(self.names)))
        self.in_episode = np.zeros((len(self.steps), self._sums.size if self.with_episodes else 0))

    def look(self, acting: np.ndarray) -> None:
        """Notes who lives before a step, where the slots do not say it; `acting` (W, A) bool as of the world."""
        if self._world.dead_stay:
            self._living = acting.copy()  # the world's own buffer, which the step writes

    def add(self, timestep: TimeStep, present: np.ndarray, ended: np.ndarray, population: np.ndarray) -> None:
        """Counts one step.

        Args:
            timestep: that the step gave.
            present: (W, A) bool, slots that held a life in the step.
            ended: (W, A) bool, slots whose life ended in it.
            population: (W, A), of these lives; those of numbers that no population has are not counted.
        """
        self.steps += present & self._living
        self.earned += present * timestep.reward
        over = ended & present
        if not over.any():
            return
        ours = over & (population < self._count)
        own = population[ours]
        columns = [np.ones(len(own)), self.steps[ours], self.earned[ours]]
        counted = getattr(self._world, "ended", {})
        columns += [np.asarray(counted[name])[ours] for name in self.names[len(OWN) :]]
        if self.with_episodes:
            sums = self.in_episode.reshape(len(self.steps), *self._sums.shape)
            np.add.at(sums, (np.nonzero(ours)[0], own), np.stack(columns, axis=1))
        else:
            for at, column in enumerate(columns):
                self._sums[:, at] += np.bincount(own, np.asarray(column, np.float64), self._count)
        self.steps[over] = 0
        self.earned[over] = 0.0

    def begin(self, over: np.ndarray) -> None:
        """New episodes begin in some worlds, (W,) bool."""
        self.in_episode[over] = 0.0

    def take(self) -> np.ndarray:
        """Per population the number of lives, then each metric's sums, since the last call, flat; of lives that count when they end."""
        sums, self._sums = self._sums, np.zeros_like(self._sums)
        return sums.ravel()


def read_lives(names: Sequence[str], populations: Sequence[str], sums: np.ndarray) -> dict[str, Any]:
    """Means over lives as they are logged: over all, and per population as ``name[population]`` where there are several.

    Example:
        >>> read_lives(["life"], ["pop0", "pop1"], np.array([1.0, 9.0, 0.0, 0.0]))
        {'lives': 1, 'life': 9.0, 'lives[pop0]': 1, 'life[pop0]': 9.0, 'lives[pop1]': 0}
    """
    table = sums.reshape(len(populations), -1)
    logged = _means("", names, table.sum(axis=0))
    if len(populations) > 1:
        for population, row in zip(populations, table, strict=True):
            logged |= _means(f"[{population}]", names, row)
    return logged


def _means(suffix: str, names: Sequence[str], row: np.ndarray) -> dict[str, Any]:
    logged: dict[str, Any] = {f"lives{suffix}": int(row[0])}
    if row[0]:
        logged |= {
            f"{name}{suffix}": float(total / row[0]) for name, total in zip(names, row[1:], strict=True)
        }
    return logged
