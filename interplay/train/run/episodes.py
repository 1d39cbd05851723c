"""What the episodes that ended during an update were like: length, return and the world's own metrics."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from interplay.core.world import TimeStep, World


class EpisodeStatistics:
    """Adds up episodes as they end, in float64 sums that shards can add.

    Length and return are counted here, so that every world has them; a world's own metrics of the same name give way.
    An episode in which a metric is NaN (a share without a case) does not count for that metric.

    Args:
        world: a batch, reset.

    Attributes:
        names: metric -> how many numbers it has, 1 per world or A.
        returns: (W, A) float64, of the episodes under way.
        lengths: (W,) int64, steps of the episodes under way.
    """

    def __init__(self, world: World) -> None:
        agents = len(world.agents)
        own = {
            name: values
            for name, values in world.metrics.items()
            if name not in ("episode_length", "episode_return")
        }
        self.names = {"episode_length": 1, "episode_return": agents}
        self.names |= {name: int(np.prod(np.shape(values)[1:])) for name, values in own.items()}
        self.returns = np.zeros((world.num_worlds, agents))
        self.lengths = np.zeros(world.num_worlds, np.int64)
        self._world = world
        self._sums = np.zeros(1 + 2 * sum(self.names.values()))

    def add(self, timestep: TimeStep) -> None:
        """Counts one step of every world; call it before worlds that are over are restarted."""
        self.returns += timestep.reward
        self.lengths += 1
        over = timestep.over
        if not over.any():
            return
        metrics = self._world.metrics
        values = [self.lengths[over, None], self.returns[over]]
        values += [np.asarray(metrics[name])[over].reshape(over.sum(), -1) for name in list(self.names)[2:]]
        told = np.concatenate(values, axis=1)
        counts = ~np.isnan(told)
        sums = np.where(counts, told, 0.0).sum(axis=0)
        self._sums += np.concatenate([[over.sum()], sums, counts.sum(axis=0)])
        self.returns[over] = 0.0
        self.lengths[over] = 0

    def take(self) -> np.ndarray:
        """Number of episodes, each metric's sums, and how many episodes each sum is over, since the last call."""
        sums, self._sums = self._sums, np.zeros_like(self._sums)
        return sums


def read_sums(names: Mapping[str, int], sums: np.ndarray) -> dict[str, Any]:
    """Means over episodes, as they are logged: one number per metric and, per agent, a list under ``by_agent``.

    A mean is over the episodes, and then the agents, that have a number; NaN where none has.

    Example:
        >>> read_sums({"episode_length": 1, "kills": 2}, np.array([2.0, 30.0, 1.0, 3.0, 2.0, 2.0, 1.0]))
        {'episodes': 2, 'episode_length': 15.0, 'kills': 1.75, 'by_agent': {'kills': [0.5, 3.0]}}
    """
    episodes = int(sums[0])
    logged: dict[str, Any] = {"episodes": episodes}
    if not episodes:
        return logged
    by_agent, at, count = {}, 1, (len(sums) - 1) // 2
    for name, size in names.items():
        cases = sums[count + at : count + at + size]
        means = np.divide(sums[at : at + size], cases, out=np.full(size, np.nan), where=cases > 0)
        logged[name] = float(means[cases > 0].mean()) if cases.any() else math.nan
        if size > 1:
            by_agent[name] = means.tolist()
        at += size
    return {**logged, "by_agent": by_agent} if by_agent else logged
