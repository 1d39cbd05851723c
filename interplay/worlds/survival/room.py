"""Free places for an agent."""

from __future__ import annotations

import numpy as np

from interplay.worlds.survival.state import Rules, SurvivalState


def has_room(state: SurvivalState, rules: Rules, w: int, slot: int, x: float, y: float) -> bool:
    """Whether a living agent at a place would touch neither the walls nor another solid body of world w."""
    rows = state.body[w, : rules.physics.num_solid]
    own = rows[slot]
    if not own["present"] or max(abs(x), abs(y)) + own["radius"] > rules.physics.wall:
        return False
    others = rows["present"].copy()
    others[slot] = False
    dx, dy = x - rows["x"], y - rows["y"]
    # In the body's frame: from a box to its nearest edge, from a disc to its centre.
    along = np.abs(dx * rows["cosine"] + dy * rows["sine"]) - rows["half_x"]
    across = np.abs(dy * rows["cosine"] - dx * rows["sine"]) - rows["half_y"]
    gap = np.hypot(np.maximum(along, 0.0), np.maximum(across, 0.0))
    return not (others & (gap < own["radius"] + rows["radius"])).any()
