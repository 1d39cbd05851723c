"""Scripted players of the navigation worlds. They read only observations, as a learner does."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from interplay.core.errors import UserError
from interplay.core.policy import Policy, RandomPolicy, by_name
from interplay.core.world import TimeStep
from interplay.worlds.navigation.config import REACH
from interplay.worlds.navigation.proxy import cell_of, centre_of, neighbours, proxy_map, steps_to_target
from interplay.worlds.navigation.town import Town, load_town


class ShortestWay:
    """Plans on the proxy grid and walks in the town, from the middle of one cell to the middle of the next.

    It proves that the town can be crossed.

    Args:
        town: by default the one of `map.json`.
    """

    def __init__(self, town: Town | None = None) -> None:
        self.town = town or load_town()
        self._steps = steps_to_target(proxy_map(self.town))

    def compute_action(self, obs: Sequence[float] | np.ndarray) -> np.ndarray:
        """The vector to walk along.

        Args:
            obs: (2,) the position, in units.

        Returns:
            (2,) float64, along each axis at most `REACH`.

        Raises:
            UserError: in a cell without a path to the waypoint.
        """
        here = float(obs[0]), float(obs[1])
        cell = cell_of(here)
        if cell not in self._steps:
            raise UserError(f"position {here} is in cell {cell}, from which the proxy grid has no path")
        nearer = [near for near in neighbours(cell) if near in self._steps]
        best = min(nearer, key=self._steps.__getitem__, default=cell)
        goal = self.town.waypoint if self._steps[cell] <= 1 else centre_of(best)
        vector = np.subtract(goal, here)
        # Scaled as a whole: clipping one axis would change the direction.
        furthest = float(np.abs(vector).max())
        return vector if furthest <= REACH else vector * (REACH / furthest)


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


# By observation: surroundings, row and column, the place in the town.
REGIONAL = by_name(RandomPolicy)
POSITION = by_name(RandomPolicy, Guide)
TOWN = by_name(RandomPolicy, Walker)
