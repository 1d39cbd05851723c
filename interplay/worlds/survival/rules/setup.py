"""Reset: places of agents, shapes of boxes, the path of the zone (specification 3, 4.1, 4.3, 4.5)."""

import numpy as np

from interplay.core.jit import phase
from interplay.kernels.philox import normal, uniform
from interplay.worlds.survival.state import EMPTY, NO_SIDE


@phase
def begin_episode(state, w):
    """Empty inventories, no clock, no score."""
    for i in range(state.body.shape[1]):
        state.body[w, i].health = 0
        state.body[w, i].cause = NO_SIDE
        state.body[w, i].owner = NO_SIDE
        state.body[w, i].placed = False
        state.body[w, i].due = False
        state.body[w, i].broken = False
    state.inventory[w] = EMPTY
    state.visible[w] = False
    for a in range(state.agent.shape[1]):
        state.agent[w, a].used = EMPTY
        state.agent[w, a].held = 0
        state.agent[w, a].cooldown = 0
        state.agent[w, a].died = False
        state.agent[w, a].kills = 0
        state.agent[w, a].kill_count = 0
        state.agent[w, a].returns = 0.0
    state.action[w] = 0
    state.control[w] = 0.0
    state.room[w].steps = 0
    state.room[w].heals_used = 0
    state.room[w].boxes_placed = 0
    state.room[w].dropped = 0


@phase
def shape_boxes(state, rules, w):
    """RandomizeBoxShapes: sides from normals, at least `box_least`; mass from the area if boxes are dynamic."""
    stream = state.stream[w]
    bodies = state.body
    for i in range(rules.first_box, rules.first_box + rules.boxes):
        wide = rules.box_width + rules.box_width_spread * normal(stream[0], stream[1], stream[2])
        stream[2] += np.uint64(1)
        high = rules.box_height + rules.box_height_spread * normal(stream[0], stream[1], stream[2])
        stream[2] += np.uint64(1)
        wide, high = max(wide, rules.box_least), max(high, rules.box_least)
        bodies[w, i].half_x = 0.5 * wide
        bodies[w, i].half_y = 0.5 * high
        if rules.boxes_dynamic:
            mass = rules.density * wide * high
            bodies[w, i].inverse_mass = 1.0 / mass
            bodies[w, i].inverse_inertia = 12.0 / (mass * (wide * wide + high * high))


@phase
def place_zone(state, rules, w):
    """SafeZone: a centre for each phase, uniform where the circle fits the room; phase 0 does not move."""
    stream, centres = state.stream[w], state.zone_centres[w]
    for p in range(centres.shape[0]):
        free = 0.5 * rules.room - state.zone_radii[p]
        for axis in range(2):
            centres[p, axis] = (2.0 * uniform(stream[0], stream[1], stream[2]) - 1.0) * free
            stream[2] += np.uint64(1)
            if not np.isnan(state.zone_fixed[p, axis]):
                centres[p, axis] = state.zone_fixed[p, axis]
    state.room[w].zone_x = centres[0, 0]
    state.room[w].zone_y = centres[0, 1]
    state.room[w].zone_r = state.zone_radii[0]
