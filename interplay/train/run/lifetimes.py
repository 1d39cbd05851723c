"""Statistics of lives by population: number, length, return, and the world's own metrics.

Usually lives are parts of an episode and are counted with it, when the window of the episode's beginning is complete (decision 16).
A world with ``world.ended`` has slots that respawn in possibly endless episodes; there a life counts when it ends. With
``World.dead_stay`` a life's length is its acting steps, and its return includes rewards after death.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from interplay.core.world import World
from interplay.train.populations import Populations

OWN = ("life", "life_return")
NOT_MEANS = ("life", "cause", "population", "id")  # of `world.ended`: counted here, or not to be averaged


class LifeStatistics:
    """Sums over lives, float64, so that sums of shards can be added.

    Args:
        world: a batch, reset.
        others: other players take part: the learner's lives get an additional row behind those of the populations.

    Attributes:
        names: metrics of a life.
        with_episodes: lives are counted with their episode.
        in_episode: (W, rows * (1 + names)) float64, sums over lives ended in the current episodes; no columns where lives
            count when they end.
        steps: (W, A) int64, of the current lives, until death.
        earned: (W, A) float64, return of the current lives.
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
            over: (W, A) bool, lives that ended.
            population: (W, A), of these lives; larger numbers than the last population's are not counted.
            learner: (W, A) bool, lives of the learner; read where they have a row.
        """
        ours = over & (population < self._count)
        own = population[ours]
        columns = [np.ones(len(own)), self.steps[ours], self.earned[ours]]
        counted = getattr(self._world, "ended", {})
        columns += [np.asarray(counted[name])[ours] for name in self.names[len(OWN) :]]
        rows = np.stack(columns, axis=1)
        self._add_up(np.nonzero(ours)[0], own, rows)
        if learner is not None and len(self._sums) > self._count:
            mine = learner[ours]
            self._add_up(np.nonzero(ours)[0][mine], np.full(mine.sum(), self._count), rows[mine])
        self.steps[over] = 0
        self.earned[over] = 0.0

    def _add_up(self, world: np.ndarray, row: np.ndarray, numbers: np.ndarray) -> None:
        """Adds (n, 1 + names) numbers of n lives to their rows, per episode or in total."""
        if self.with_episodes:
            np.add.at(self.in_episode.reshape(len(self.steps), *self._sums.shape), (world, row), numbers)
            return
        for at, column in enumerate(numbers.T):
            self._sums[:, at] += np.bincount(row, np.asarray(column, np.float64), len(self._sums))

    def begin(self, over: np.ndarray) -> None:
        """Begins new episodes in some worlds, (W,) bool."""
        self.in_episode[over] = 0.0

    def take(self) -> np.ndarray:
        """Per row the number of lives and each metric's sum since the last call, flat; only of lives counted when they end."""
        sums, self._sums = self._sums, np.zeros_like(self._sums)
        return sums.ravel()


def read_lives(names: Sequence[str], populations: Sequence[str], sums: np.ndarray) -> dict[str, Any]:
    """Means over lives for the log: the learner's, and ``name[population]`` where there are several populations.

    Without a row of the learner, its means are those of all populations together.

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
