"""Whether views agree with the state, by comparing all pairs of agents."""

from __future__ import annotations

import numpy as np

from interplay.core.world import TimeStep
from interplay.worlds.mmo.config import MmoSettings
from interplay.worlds.mmo.state import MmoState
from interplay.worlds.mmo.tiles import PASSABLE, TILES

DOWN, RIGHT = (0, 1, 0, -1), (1, 0, -1, 0)  # east, south, west, north


def wrong_sight(
    settings: MmoSettings, state: MmoState, timestep: TimeStep, w: int, slots: np.ndarray
) -> tuple[int, str] | None:
    """The first slot of world `w` with a wrong view, and the fault, or None."""
    agent, seen = state.agent[w], timestep.observation
    alive = np.asarray(agent["alive"])
    count, entities = seen["count"][w, slots], seen["entities"][w, slots]
    used = np.arange(settings.rows) < count[:, None]
    free = slots[~alive[slots]]
    questions = {
        "a view's count is not the living in view": count != _in_view(settings, agent, slots),
        "a view's entities are not finite": ~np.isfinite(entities).all(axis=(1, 2)),
        "a view has numbers in rows that are not used": (entities.any(axis=2) & ~used).any(axis=1),
        "a view's first row is not the observer's own": entities[:, 0, 6:8].any(axis=1),
        "a free slot's view is not empty": np.isin(slots, free) & seen["tiles"][w, slots].any(axis=(1, 2)),
    }
    living = slots[alive[slots]]
    for law, wrong in questions.items():
        if wrong.any():
            return int(slots[np.argmax(wrong)]), law
    for law, wrong in _crops(settings, state, timestep, w, living).items():
        if wrong.any():
            return int(living[np.argmax(wrong)]), law
    return None


def _in_view(settings: MmoSettings, agent: np.ndarray, slots: np.ndarray) -> np.ndarray:
    """Number of entity rows of each slot: the living in its square, itself included; 0 for free slots."""
    row, col, alive = agent["row"].astype(np.int32), agent["col"].astype(np.int32), agent["alive"]
    near = np.abs(row[slots, None] - row) <= settings.vision
    near &= (np.abs(col[slots, None] - col) <= settings.vision) & alive
    return np.where(alive[slots], np.minimum(near.sum(axis=1), settings.rows), 0)


def _crops(
    settings: MmoSettings, state: MmoState, timestep: TimeStep, w: int, living: np.ndarray
) -> dict[str, np.ndarray]:
    """Compares tiles, heads and legal moves of living slots with the map."""
    agent, around = state.agent[w, living], np.arange(-settings.vision, settings.vision + 1)
    row, col = agent["row"].astype(np.int64), agent["col"].astype(np.int64)
    rows, cols = row[:, None, None] + around[:, None], col[:, None, None] + around
    seen = timestep.observation
    found = {
        "a view's tiles are not those of the map": (
            seen["tiles"][w, living] != state.tiles[w][rows, cols]
        ).any(axis=(1, 2))
    }
    if settings.occupancy:
        found["a view's heads are not those of the map"] = (
            seen["occupancy"][w, living] != state.heads[w][rows, cols]
        ).any(axis=(1, 2))
    passable = np.array(PASSABLE)
    passable[0] = not settings.mask_lava
    legal = passable[
        np.minimum(state.tiles[w][row[:, None] + np.array(DOWN), col[:, None] + np.array(RIGHT)], TILES - 1)
    ]
    legal &= (agent["freeze"] <= 1)[:, None]
    mask = (timestep.action_mask or {})["action"][w, living]
    found["a mask of moves is not what the map allows"] = ~mask[:, 0] | (mask[:, 1:5] != legal).any(axis=1)
    return found
