"""Scripted players of the navigation worlds. They read only observations, as a learner does."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from interplay.core.policy import Policy, RandomPolicy
from interplay.core.world import TimeStep
from interplay.worlds.navigation.config import REACH
from interplay.worlds.navigation.policies import ShortestWay
from interplay.worlds.navigation.proxy import neighbours, proxy_map, steps_to_target


class Guide(Policy):
    """Walks a shortest path of the grid, along one axis at a time, so that it is free in the town, too."""

    name = "guide"

    def __init__(self) -> None:
        self._steps = steps_to_target(proxy_map())

    def act(self, timestep: TimeStep) -> dict[str, np.ndarray]:
        position = timestep.observation["position"]
        moves = np.zeros(position.shape, np.int64)
        for place in np.ndindex(position.shape[:-1]):
            row, column = (int(part) for part in position[place])
            nearer = [near for near in neighbours((row, column)) if near in self._steps]
            if nearer:
                moves[place] = np.subtract(min(nearer, key=self._steps.__getitem__), (row, column))
        return {"move": moves}


class Walker(Policy):
    """Plans on the proxy and walks in the town; see `ShortestWay`."""

    name = "walker"

    def __init__(self) -> None:
        self._walker = ShortestWay()

    def act(self, timestep: TimeStep) -> np.ndarray:
        position = timestep.observation["observation"]
        vectors = np.zeros(position.shape)
        for place in zip(*np.nonzero(timestep.acting), strict=True):
            vectors[place] = np.clip(self._walker.compute_action(position[place]), -REACH, REACH)  # rounding
        return vectors


Makers = dict[str, Callable[[], Policy]]
# By observation: surroundings, row and column, the place in the town.
REGIONAL: Makers = {"random": RandomPolicy}
POSITION: Makers = {"random": RandomPolicy, "guide": Guide}
TOWN: Makers = {"random": RandomPolicy, "walker": Walker}
