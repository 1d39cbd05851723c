"""The global state of the survival world for critics: every body, the zone and the time.

Metres, radians, hit points and steps, as in observations. Bodies that are not in the room are zeros. Numbers of modules that are off
are left out.
"""

from __future__ import annotations

import numpy as np
from gymnasium import spaces

from interplay.worlds.survival.state import Rules, SurvivalState

# Of each solid body, agents before boxes: present, x, y, cosine, sine, vx, vy, spin, health, and half extents (0 for a circle).
_SOLID = 11
_ITEM = 3  # present, x, y


def space_of(state: SurvivalState, rules: Rules) -> spaces.Box:
    """Unbounded, as the fields of observations are."""
    solid = rules.physics.num_solid
    items, phases = rules.num_bodies - solid, state.zone_centres.shape[1]
    size = solid * _SOLID + rules.agents * len(_of_agents(rules)) + items * _ITEM + len(_of_rooms(rules))
    size += 2 * phases * rules.zone
    return spaces.Box(-np.inf, np.inf, (size,), np.float32)


def global_state(state: SurvivalState, rules: Rules) -> np.ndarray:
    """(W, n) float32: solid bodies, inventories, items, the zone now and its future centres, the time."""
    bodies, agent, room = state.bodies, state.agent, state.room
    present = bodies.present[:, :, None].astype(np.float64)
    solid = rules.physics.num_solid
    health = np.asarray(state.body["health"])[:, :, None].astype(np.float64)
    moving = np.concatenate(
        [bodies.position, bodies.turn, bodies.velocity, bodies.spin[:, :, None], health, bodies.half], axis=2
    )
    kept = _of_agents(rules)
    parts = [
        np.concatenate([present, moving * present], axis=2)[:, :solid],
        *([np.stack([agent[name] for name in kept], axis=2)] if kept else []),
        np.concatenate([present, bodies.position * present], axis=2)[:, solid:],
        np.stack([room[name] for name in _of_rooms(rules)], axis=1),
    ]
    if rules.zone:
        parts.append(state.zone_centres)
    return np.concatenate([part.reshape(len(part), -1) for part in parts], axis=1).astype(np.float32)


def _of_agents(rules: Rules) -> list[str]:
    """Items held, steps until the melee is ready."""
    return ["held"] * rules.inventory + ["cooldown"] * rules.melee


def _of_rooms(rules: Rules) -> list[str]:
    """The zone's centre and radius, and the steps of this episode."""
    return ["zone_x", "zone_y", "zone_r"] * rules.zone + ["steps"]
