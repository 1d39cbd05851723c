"""Scripted players. They read only observations, as a learner does, and act for all agents of the batch."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np

from interplay.core.policy import Policy, RandomPolicy, by_name
from interplay.core.world import TimeStep, World
from interplay.worlds.maze_navigation.config import MazeSettings
from interplay.worlds.maze_navigation.simulation import TARGETS, WALLS, maze

_KEY = "position_centered_encoding"
_STEPS = tuple((down, right) for down in (-1, 0, 1) for right in (-1, 0, 1) if down or right)


class Guide(Policy):
    """Has the map: finds its place on it by its view, and takes a shortest path from there."""

    name = "guide"

    def start(self, world: World, seed: int = 0) -> None:
        super().start(world, seed)
        space: Any = world.observation_space
        self._step_by_view = step_by_view(view_range=space[_KEY].shape[0] // 2)

    def act(self, timestep: TimeStep) -> dict[str, np.ndarray]:
        seen = timestep.observation[_KEY]
        move = np.zeros((*seen.shape[:2], 2), np.int64)
        for place in np.ndindex(*seen.shape[:2]):
            move[place] = self._step_by_view.get(seen[place].tobytes(), (0, 0))
        return {"move": move}


class Seeker(Policy):
    """Takes the shortest visible path to the target; without one it wanders and keeps its direction."""

    name = "seeker"
    turning = 0.15  # chance of a new direction at each step

    def start(self, world: World, seed: int = 0) -> None:
        super().start(world, seed)
        self._heading = self.rng.integers(-1, 2, (world.num_worlds, len(world.agents), 2))

    def act(self, timestep: TimeStep) -> dict[str, np.ndarray]:
        seen = timestep.observation[_KEY]
        move = np.zeros((*seen.shape[:2], 2), np.int64)
        for place in zip(*np.nonzero(timestep.acting), strict=True):
            move[place] = self._step(seen[place], place)
        return {"move": move}

    def _step(self, window: np.ndarray, place: Any) -> Any:
        middle = window.shape[0] // 2
        goals = np.argwhere(window == TARGETS)
        if len(goals):
            distance = distances((window != WALLS) & (window >= 0), tuple(goals[0]))
            step = downhill(distance, (middle, middle))
            if step is not None:
                return step
        heading = self._heading[place]
        if not heading.any() or self.rng.random() < self.turning or not self._is_open(window, heading):
            heading = self._heading[place] = self.rng.integers(-1, 2, 2)
        return heading if self._is_open(window, heading) else (0, 0)

    @staticmethod
    def _is_open(window: np.ndarray, heading: np.ndarray) -> bool:
        ahead = window[tuple(window.shape[0] // 2 + heading)]
        return bool(ahead >= 0 and ahead != WALLS)


def step_by_view(view_range: int) -> dict[bytes, tuple[int, int]]:
    """View from each cell of the maze -> a step of a shortest path; the first cell in reading order counts."""
    sim = maze(MazeSettings(view_range=view_range))
    sim.reset()
    walls = [agent.position for agent in sim.agents.values() if agent.encoding == WALLS]
    is_open = np.ones((sim.grid.rows, sim.grid.cols), bool)
    is_open[tuple(np.array(walls).T)] = False
    distance = distances(is_open, tuple(sim.target.position))
    found: dict[bytes, tuple[int, int]] = {}
    for cell in np.argwhere(is_open & (distance > 0)).tolist():
        step = downhill(distance, (cell[0], cell[1]))
        if step is not None:
            sim.grid.place(sim.navigator, (cell[0], cell[1]))
            found.setdefault(sim.get_obs(sim.navigator.id)[_KEY].tobytes(), step)
    return found


def distances(is_open: np.ndarray, goal: tuple[int, ...]) -> np.ndarray:
    """Steps from each cell to a goal, -1 without a path; a step goes to any of eight neighbours.

    Args:
        is_open: (R, C) bool.
        goal: a cell.
    """
    steps = np.full(is_open.shape, -1)
    steps[goal] = 0
    waiting = deque([(int(goal[0]), int(goal[1]))])
    while waiting:
        cell = waiting.popleft()
        for _, near in _neighbours(cell, is_open.shape):
            if is_open[near] and steps[near] < 0:
                steps[near] = steps[cell] + 1
                waiting.append(near)
    return steps


def downhill(distance: np.ndarray, cell: tuple[int, int]) -> tuple[int, int] | None:
    """The first step, in reading order, that leads nearer; None if none does."""
    here = distance[cell]
    for step, near in _neighbours(cell, distance.shape):
        if 0 <= distance[near] < here:
            return step
    return None


def _neighbours(
    cell: tuple[int, int], shape: tuple[int, ...]
) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Steps from a cell and their destinations inside the grid."""
    for down, right in _STEPS:
        row, col = cell[0] + down, cell[1] + right
        if 0 <= row < shape[0] and 0 <= col < shape[1]:
            yield (down, right), (row, col)


POLICIES = by_name(RandomPolicy, Seeker, Guide)
MULTI_POLICIES = by_name(RandomPolicy, Seeker)
