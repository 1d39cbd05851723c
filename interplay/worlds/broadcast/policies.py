"""Scripted players. They read only the observation and act for all agents of the batch."""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.core.policy import Policy, RandomPolicy, by_name
from interplay.core.world import TimeStep
from interplay.worlds.broadcast.config import BROADCASTER


class Talker(Policy):
    """Broadcasters always broadcast; blockers approach the nearest broadcaster in view, else walk at random."""

    name = "talker"

    def act(self, timestep: TimeStep) -> Any:
        seen = self.world.by_kind(timestep.observation)
        actions = {}
        for kind in self.world.kinds:
            if "broadcast" in kind.action_space.spaces:  # type: ignore[attr-defined]
                shape = (self.world.num_worlds, len(kind.slots))
                actions[kind.name] = {"broadcast": np.ones(shape, np.int64)}
            else:
                actions[kind.name] = {"move": self._approach(seen[kind.name], kind.action_space)}
        return actions if len(actions) > 1 else next(iter(actions.values()))

    def _approach(self, seen: Any, space: Any) -> np.ndarray:
        """Steps (W, K, 2)."""
        view = np.asarray(seen["position_centered_encoding"])
        half = view.shape[-1] // 2
        away = np.abs(np.arange(-half, half + 1))
        distance = np.maximum(away[:, None], away[None, :])
        ranked = np.where(view == BROADCASTER, distance, half + 1).reshape(*view.shape[:-2], -1)
        place = np.stack(np.divmod(ranked.argmin(axis=-1), view.shape[-1]), axis=-1)
        near = ranked.min(axis=-1)[..., None]
        most = int(space["move"].nvec[0]) // 2
        towards = np.sign(place - half) * min(most, 1)
        stray = self.rng.integers(-min(most, 1), min(most, 1) + 1, towards.shape)
        return np.where(near > half, stray, np.where(near <= 1, 0, towards))


POLICIES = by_name(RandomPolicy, Talker)
