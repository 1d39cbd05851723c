"""The global state of the persistent world: every agent's place and condition, without the ground."""

from __future__ import annotations

import numpy as np
from gymnasium import spaces

from interplay.worlds.mmo.config import MmoSettings
from interplay.worlds.mmo.state import MmoState

_FIELDS = 7  # of each slot: alive; row, column, health, food and water, each over its maximum; population


def space_of(settings: MmoSettings) -> spaces.Box:
    """Seven numbers per slot."""
    return spaces.Box(0.0, np.inf, (settings.slots * _FIELDS,), np.float32)


def global_state(state: MmoState, settings: MmoSettings) -> np.ndarray:
    """(W, 7 N) float32; zeros for empty slots. Populations are counted from 1."""
    agent, side = state.agent, settings.side
    most = {
        "row": side,
        "col": side,
        "health": settings.health,
        "food": settings.food,
        "water": settings.water,
    }
    shares = [agent[name] / size for name, size in most.items()]
    rows = np.stack([np.ones(agent.shape), *shares, agent["population"] + 1.0], axis=2)
    return np.where(state.acting[:, :, None], rows, 0.0).reshape(len(rows), -1).astype(np.float32)
