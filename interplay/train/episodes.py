"""What the episodes that ended during an update were like: length, return and the world's own metrics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from interplay.core.world import TimeStep, World


class EpisodeStatistics:
    """Adds up episodes as they end, in float64 sums that shards can add.

    Length and return are counted here, so that every world has them; a world's own metrics of the same name give way.

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
        self._sums = np.zeros(1 + sum(self.names.values()))

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
        self._sums[0] += over.sum()
        self._sums[1:] += np.concatenate(values, axis=1).sum(axis=0)
        self.returns[over] = 0.0
        self.lengths[over] = 0

    def take(self) -> np.ndarray:
        """Number of episodes, then each metric's sums, since the last call."""
        sums, self._sums = self._sums, np.zeros_like(self._sums)
        return sums


def read_sums(names: Mapping[str, int], sums: np.ndarray) -> dict[str, Any]:
    """Means over episodes, as they are logged: one number per metric and, per agent, a list under ``by_agent``.

    Example:
        >>> read_sums({"episode_length": 1, "kills": 2}, np.array([2.0, 30.0, 1.0, 3.0]))
        {'episodes': 2, 'episode_length': 15.0, 'kills': 1.0, 'by_agent': {'kills': [0.5, 1.5]}}
    """
    episodes = int(sums[0])
    logged: dict[str, Any] = {"episodes": episodes}
    if not episodes:
        return logged
    by_agent, at = {}, 1
    for name, size in names.items():
        means = sums[at : at + size] / episodes
        logged[name] = float(means.mean())
        if size > 1:
            by_agent[name] = means.tolist()
        at += size
    return {**logged, "by_agent": by_agent} if by_agent else logged
