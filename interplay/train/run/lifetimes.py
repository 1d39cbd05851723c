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

from interplay.core.world import World
from interplay.train.populations import Populations

OWN = ("life", "life_return")
NOT_MEANS = ("life", "cause", "population", "id")  # of `world.ended`: counted here, or no number to average


class LifeStatistics:
    """Adds up lives, in float64 sums that shards can add.

    Args:
        world: a batch, reset.
        populations: of the run.
        others: others than the learner take part: its lives are added up in a row of their own, behind those of the populations.

    Attributes:
        names: what is counted of each life.
        with_episodes: lives are counted with the episode that they are part of.
        in_episode: (W, rows * (1 + names)) float64, sums over the lives that ended in the episodes under way; without columns where
            lives count when they end.
        steps: (W, A) int64, of the lives under way, until their deaths.
        earned: (W, A) float64, by the lives under way.
        living: (W, A) bool, slots alive in the current step, for worlds with `dead_stay`; elsewhere all True.
    """

    def __init__(self, world: World, populations: Populations, others: bool = False) -> None:
        ended: Mapping[str, np.ndarray] = getattr(world, "ended", {})
        self.with_episodes = not ended
        self.names = [*OWN, *(name for name in ended if name not in (*OWN, *NOT_MEANS))]
        shape = (world.num_worlds, len(world.agents))
        self.steps = np.zeros(shape, np.int64)
        self.earned = np.zeros(shape)
        self.living = np.ones(shape, bool)
        self._world, self._count = world, len(populations.names)
        self._sums = np.zeros((self._count + others, 1 + len(self.names)))
        self.in_episode = np.zeros((len(self.steps), self._sums.size if self.with_episodes else 0))

    def end(self, over: np.ndarray, population: np.ndarray, learner: np.ndarray | None = None) -> None:
        """Counts lives that ended in a step.

        Args:
            over: (W, A) bool, which ones.
            population: (W, A), of these lives; those of numbers that no population has are not counted.
            learner: (W, A) bool, those that the learner lives; read where there is a row for them.
        """
        ours = over & (population < self._count)
        own = population[ours]
        columns = [np.ones(len(own)), self.steps[ours], self.earned[ours]]
        counted = getattr(self._world, "ended", {})
        columns += [np.asarray(counted[name])[ours] for name in self.names[len(OWN) :]]
        rows = np.stack(columns, axis=1)
        self._add_up(np.nonzero(ours)[0], own, rows)
        if learner is not None and len(self._sums) > self._count:
            hers = learner[ours]
            self._add_up(np.nonzero(ours)[0][hers], np.full(hers.sum(), self._count), rows[hers])
        self.steps[over] = 0
        self.earned[over] = 0.0

    def _add_up(self, world: np.ndarray, row: np.ndarray, numbers: np.ndarray) -> None:
        """Adds (n, 1 + names) numbers of n lives to their rows, of their worlds' episodes or of what ended."""
        if self.with_episodes:
            np.add.at(self.in_episode.reshape(len(self.steps), *self._sums.shape), (world, row), numbers)
            return
        for at, column in enumerate(numbers.T):
            self._sums[:, at] += np.bincount(row, np.asarray(column, np.float64), len(self._sums))

    def begin(self, over: np.ndarray) -> None:
        """New episodes begin in some worlds, (W,) bool."""
        self.in_episode[over] = 0.0

    def take(self) -> np.ndarray:
        """Per row the number of lives, then each metric's sums, since the last call, flat; of lives that count when they end."""
        sums, self._sums = self._sums, np.zeros_like(self._sums)
        return sums.ravel()


def read_lives(names: Sequence[str], populations: Sequence[str], sums: np.ndarray) -> dict[str, Any]:
    """Means over lives as they are logged: the learner's, and per population as ``name[population]`` where there are several.

    Those of all populations together are the learner's where no row behind the populations holds its own.

    Example:
        >>> read_lives(["life"], ["pop0", "pop1"], np.array([1.0, 9.0, 0.0, 0.0]))
        {'lives': 1, 'life': 9.0, 'lives[pop0]': 1, 'life[pop0]': 9.0, 'lives[pop1]': 0}
    """
    table, count = sums.reshape(-1, 1 + len(names)), len(populations)
    logged = _means("", names, table[count] if len(table) > count else table.sum(axis=0))
    if count > 1:
        for population, row in zip(populations, table[:count], strict=True):
            logged |= _means(f"[{population}]", names, row)
    return logged


def _means(suffix: str, names: Sequence[str], row: np.ndarray) -> dict[str, Any]:
    logged: dict[str, Any] = {f"lives{suffix}": int(row[0])}
    if row[0]:
        logged |= {
            f"{name}{suffix}": float(total / row[0]) for name, total in zip(names, row[1:], strict=True)
        }
    return logged
