"""One environment step of rigid-body physics for one world: all its substeps.

Circles, oriented boxes and four walls; speculative contacts instead of continuous collision detection; sequential
impulses; float64 throughout. The result depends on the world alone: not on the thread, the batch or its order.
Source: specification survival 2.1.
"""

from __future__ import annotations

import numpy as np

from interplay.core.jit import kernel
from interplay.planar.motion import (
    apply_impulses,
    count_movers,
    damp_bodies,
    damping_factor,
    integrate_bodies,
)
from interplay.planar.narrow import find_contacts
from interplay.planar.scratch import Scratch, allocate_scratch
from interplay.planar.solve import (
    ITERATIONS,
    SLOP,
    anchor_contacts,
    load_motion,
    prepare_contacts,
    reanchor_contacts,
    relax_contacts,
    restore_bounces,
    solve_velocities,
    store_motion,
)

__all__ = ["Scratch", "allocate_scratch", "apply_impulses", "step_bodies"]


@kernel
def solve_contacts(bodies, physics, scratch, thread, movers, count, last, w):
    """The substep of a world in which `count` contacts are near: solves, moves, relaxes and bounces."""
    load_motion(bodies, physics, scratch, thread, w)
    if not prepare_contacts(physics, scratch, thread, count):
        integrate_bodies(bodies, physics.h, movers, last, w)
        return
    overlap = False
    for k in range(count):
        overlap |= scratch.contacts[thread, k].separation < -SLOP
    solve_velocities(scratch, thread, count, physics.friction, np.int64(ITERATIONS))
    store_motion(bodies, scratch, thread, movers, w)
    if not overlap and physics.restitution == 0.0:
        integrate_bodies(bodies, physics.h, movers, last, w)
        return
    anchor_contacts(bodies, physics, scratch, thread, count, w)
    integrate_bodies(bodies, physics.h, movers, last, w)
    reanchor_contacts(bodies, physics, scratch, thread, count, w)
    if overlap:
        relax_contacts(physics, scratch, thread, count)
    if physics.restitution > 0.0:
        restore_bounces(physics, scratch, thread, count)
    store_motion(bodies, scratch, thread, movers, w)


@kernel
def step_bodies(bodies, physics, scratch, thread, w):
    """Steps world `w` by `physics.substeps` substeps; rows that are not present are skipped.

    Args:
        bodies: the table of the batch (`bodies.allocate_bodies`).
        scratch: `Scratch`; this call uses its row `thread`.

    Returns:
        The number of contacts beyond the capacity of the scratch, normally 0.
    """
    movers = count_movers(bodies, physics.num_solid, w)
    factor = damping_factor(physics.damping, physics.h, physics.pade)
    capacity = scratch.contacts.shape[1]
    dropped = 0
    for substep in range(physics.substeps):
        last = substep == physics.substeps - 1
        damp_bodies(bodies, factor, movers, w)
        count = find_contacts(bodies, physics, scratch, thread, movers, w)
        if count > capacity:
            dropped += count - capacity
            count = capacity
        if count > 0:
            solve_contacts(bodies, physics, scratch, thread, movers, count, last, w)
        else:
            integrate_bodies(bodies, physics.h, movers, last, w)
    return dropped
