"""The phases of the general planar modules: one world's rows at a time, compiled.

A phase reads and writes the state of a simulation: any NamedTuple with the fields that its first lines read.
`first` and `end` are the body rows of the group it serves.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from interplay.core.jit import kernel, phase
from interplay.kernels.philox import integer_below
from interplay.planar.contacts import apply_impulses, step_bodies
from interplay.planar.sight import cast_lidar, look

# Phase numbers of the general modules; a world's own begin at 100.
CLEAR_ROOM, SHUFFLE_CELLS, SPAWN_ON_CELLS, INDEX_BODIES, FORGET_INDICES = range(5)
FILL_HEALTH, BURY_DEAD, CLEAR_DEATHS, RECORD_DEATHS, LOOK_AROUND, DRIVE_MOTORS, MOVE_BODIES = range(5, 12)
FIRST_OWN_PHASE = 100


def names_of(numbers: Mapping[str, Any]) -> dict[int, str]:
    """Number -> name of the phases among a module's constants."""
    return {value: name.lower() for name, value in numbers.items() if type(value) is int and name.isupper()}


NAMES = {number: name for number, name in names_of(globals()).items() if number < FIRST_OWN_PHASE}


@phase
def clear_room(state, w):
    """Clears all bodies: the state before spawning."""
    bodies = state.body
    for i in range(bodies.shape[1]):
        body = bodies[w, i]
        body.present = False
        body.x = 0.0
        body.y = 0.0
        body.index = -1
        body.came = False
        body.left = False
        rest_body(body)


@phase
def rest_body(body):
    """The body faces +x and does not move."""
    body.angle = 0.0
    body.cosine = 1.0
    body.sine = 0.0
    body.vx = 0.0
    body.vy = 0.0
    body.spin = 0.0


@phase
def spawn_body(body, x, y):
    """Places the body at (x, y), facing +x, at rest."""
    body.present = True
    body.x = x
    body.y = y
    body.came = True
    rest_body(body)


@phase
def despawn_body(body):
    """Removes the body; its last position, angle and velocity remain in its row."""
    body.present = False
    body.left = True


@phase
def shuffle_cells(state, w):
    """SpawnGrid: Fisher-Yates over the cells of the room, one draw for each swap."""
    cells, stream = state.cells[w], state.stream[w]
    for i in range(cells.shape[0]):
        cells[i] = i
    for i in range(cells.shape[0] - 1, 0, -1):
        j = integer_below(stream[0], stream[1], stream[2], i + 1)
        stream[2] += np.uint64(1)
        cells[i], cells[j] = cells[j], cells[i]
    state.room[w].next_cell = 0


@phase
def spawn_on_cells(state, rules, w, first, end):
    """ResetSpawns: places every body of the group in the centre of the next unused cell."""
    side = rules.room / rules.grid
    for i in range(first, end):
        cell = state.cells[w, state.room[w].next_cell]
        state.room[w].next_cell += 1
        x = (cell % rules.grid + 0.5) * side - 0.5 * rules.room
        y = (cell // rules.grid + 0.5) * side - 0.5 * rules.room
        spawn_body(state.body[w, i], x, y)


@phase
def index_bodies(state, w, first, end):
    """IndexBodies: the row of a body present after reset becomes its number."""
    for i in range(first, end):
        state.body[w, i].index = i if state.body[w, i].present else -1


@phase
def forget_indices(state, w, first, end):
    """IndexBodies: clears the number of a despawned body, which is never reused."""
    for i in range(first, end):
        if state.body[w, i].left:
            state.body[w, i].index = -1


@phase
def bury_dead(state, w, first, end):
    """Health: removes bodies of the group at 0 or less."""
    body = state.body[w]
    for i in range(first, end):
        body[i].left = False
        if body[i].present and body[i].health <= 0:
            body[i].present = False
            body[i].left = True


@phase
def record_deaths(state, w, first, end):
    """TrackDeaths: marks the bodies of the group that despawned in this step."""
    for i in range(first, end):
        if state.body[w, i].left:
            state.agent[w, i - first].died = True


@phase
def clear_deaths(state, w):
    """TrackDeaths: a new step has no deaths yet."""
    for i in range(state.agent.shape[1]):
        state.agent[w, i].died = False


@phase
def fill_health(state, rules, w, first, end):
    """Health: sets every body of the group to full health."""
    for i in range(first, end):
        state.body[w, i].health = state.full_health[i]
        state.body[w, i].cause = -1


@phase
def look_around(state, rules, w, first, end):
    """Cameras: the bodies that each present body of the group sees."""
    look(
        state.body,
        state.visible,
        first,
        end,
        rules.view_depth,
        rules.view_cosine,
        rules.view_sine,
        rules.items_block_rays,
        rules.physics.num_solid,
        rules.physics.wall,
        w,
    )


@kernel
def cast_lidars(bodies, hit, distance, active, first, end, field, depth, last, wall):
    """Lidars: the rays of every present body of the group, in all active worlds."""
    for w in range(active.shape[0]):
        if not active[w]:
            continue
        for i in range(first, end):
            if bodies[w, i].present:
                cast_lidar(bodies, hit[w, i - first], distance[w, i - first], i, field, depth, last, wall, w)


@phase
def move_bodies(state, rules, scratch, thread, w):
    """The physics of one environment step; counts contacts beyond capacity."""
    state.room[w].dropped += step_bodies(state.body, rules.physics, scratch, thread, w)


@phase
def drive_motors(state, first, w):
    """DynamicMotors: one impulse per body."""
    apply_impulses(state.body, state.control, first, w)
