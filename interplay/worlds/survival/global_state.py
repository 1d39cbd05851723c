"""The global state of the survival world: every body, the zone and the time; what a critic may see and no agent does.

Metres, radians, hit points and steps, as agents see them; bodies that do not stand in the room are zeros.
"""

from __future__ import annotations

import numpy as np
from gymnasium import spaces

from interplay.worlds.survival.state import Rules, SurvivalState

# Of each solid body, agents before boxes: present, x, y, cosine, sine, vx, vy, spin, health, and half extents (0 for a circle).
_SOLID = 11
_AGENT = 2  # items held, steps until the melee is ready
_ITEM = 3  # present, x, y
_ROOM = 4  # the zone's centre and radius, and the steps of this episode


def space_of(state: SurvivalState, rules: Rules) -> spaces.Box:
    """Unbounded, as the fields that agents see are."""
    solid = rules.physics.num_solid
    items, phases = rules.num_bodies - solid, state.zone_centres.shape[1]
    size = solid * _SOLID + rules.agents * _AGENT + items * _ITEM + _ROOM + 2 * phases
    return spaces.Box(-np.inf, np.inf, (size,), np.float32)


def global_state(state: SurvivalState, rules: Rules) -> np.ndarray:
    """(W, n) float32: solid bodies, what agents hold, items, the zone now and its centres to come, the time."""
    bodies, agent, room = state.bodies, state.agent, state.room
    present = bodies.present[:, :, None].astype(np.float64)
    solid = rules.physics.num_solid
    health = np.asarray(state.body["health"])[:, :, None].astype(np.float64)
    moving = np.concatenate(
        [bodies.position, bodies.turn, bodies.velocity, bodies.spin[:, :, None], health, bodies.half], axis=2
    )
    parts = [
        np.concatenate([present, moving * present], axis=2)[:, :solid],
        np.stack([agent["held"], agent["cooldown"]], axis=2),
        np.concatenate([present, bodies.position * present], axis=2)[:, solid:],
        np.stack([room[name] for name in ("zone_x", "zone_y", "zone_r", "steps")], axis=1),
        state.zone_centres,
    ]
    return np.concatenate([part.reshape(len(part), -1) for part in parts], axis=1).astype(np.float32)
