"""Scripted players. They read only the window, as a learner does, and act for all agents of the batch."""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.core.policy import Policy, RandomPolicy, by_name
from interplay.core.world import TimeStep
from interplay.gridworld.board import Array
from interplay.worlds.pacman.config import BADDIE, FOOD, PACMAN, WALL

_FAR = 1_000  # longer than any path inside a window
_STEPS = ((0, 0), (0, -1), (1, 0), (0, 1), (-1, 0))  # codes 0 stay, 1 left, 2 down, 3 right, 4 up


class Hungry(Policy):
    """Pacman goes to the nearest food and avoids baddies, baddies go to pacman; without a goal in sight they wander."""

    name = "hungry"

    def act(self, timestep: TimeStep) -> Any:
        seen = self.world.by_kind(timestep.observation)
        chosen = {
            name: {"move": self._choose(np.asarray(view["position_centered_encoding"]), name == "baddie")}
            for name, view in seen.items()
        }
        return chosen if len(chosen) > 1 else next(iter(chosen.values()))

    def _choose(self, seen: Array, hunts: bool) -> Array:
        """Codes (W, K) for windows (W, K, side, side)."""
        middle = seen.shape[-1] // 2
        closed = (seen == WALL) | (seen == -1)
        if not hunts:
            closed |= _spread(seen == BADDIE)
        far = _distances(seen == (PACMAN if hunts else FOOD), closed)
        around = np.stack([far[..., middle + down, middle + right] for down, right in _STEPS[1:]], axis=-1)
        code = 1 + (around + self.rng.random(around.shape) / 2).argmin(axis=-1)
        return np.where(around.min(axis=-1) < _FAR, code, self.rng.integers(0, 5, code.shape))


def _spread(cells: Array) -> Array:
    """The cells and their four neighbours."""
    wide = cells.copy()
    wide[..., 1:, :] |= cells[..., :-1, :]
    wide[..., :-1, :] |= cells[..., 1:, :]
    wide[..., :, 1:] |= cells[..., :, :-1]
    wide[..., :, :-1] |= cells[..., :, 1:]
    return wide


def _distances(goals: Array, closed: Array) -> Array:
    """Steps from each cell to the nearest goal around closed cells; `_FAR` without a path."""
    steps = np.where(goals & ~closed, 0, _FAR)
    for _ in range(3 * goals.shape[-1]):
        near = np.full_like(steps, _FAR)
        near[..., 1:, :] = steps[..., :-1, :]
        near[..., :-1, :] = np.minimum(near[..., :-1, :], steps[..., 1:, :])
        near[..., :, 1:] = np.minimum(near[..., :, 1:], steps[..., :, :-1])
        near[..., :, :-1] = np.minimum(near[..., :, :-1], steps[..., :, 1:])
        steps = np.where(closed, _FAR, np.minimum(steps, near + 1))
    return np.minimum(steps, _FAR)


POLICIES = by_name(RandomPolicy, Hungry)
