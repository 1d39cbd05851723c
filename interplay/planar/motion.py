"""Motion without contacts: motor impulses, damping, and the integration of velocities."""

from __future__ import annotations

import numpy as np

from interplay.core.jit import kernel, phase


@phase
def apply_impulses(bodies, impulse, first, w):
    """Gives the bodies from row `first` on their motor impulses, at the centre of mass.

    Args:
        impulse: (W, M, 3) forward N s, leftward N s (both turned by the body's heading), and N m s.
        first: the row of the first of the M bodies.
    """
    present = bodies.present[w]
    turn = bodies.turn[w]
    velocity = bodies.velocity[w]
    spin = bodies.spin[w]
    inverse_mass = bodies.inverse_mass[w]
    inverse_inertia = bodies.inverse_inertia[w]
    for m in range(impulse.shape[1]):
        i = first + m
        if not present[i]:
            continue
        forward, leftward = impulse[w, m, 0], impulse[w, m, 1]
        c, s = turn[i, 0], turn[i, 1]
        velocity[i, 0] += inverse_mass[i] * (c * forward - s * leftward)
        velocity[i, 1] += inverse_mass[i] * (s * forward + c * leftward)
        spin[i] += inverse_inertia[i] * impulse[w, m, 2]


@kernel
def damping_factor(damping, h, pade):
    """The share of its velocity that a body keeps in one substep."""
    if pade:
        return 1.0 / (1.0 + h * damping)
    return 1.0 - h * damping


@phase
def count_movers(bodies, num_solid, w):
    """The number of leading rows that hold every body that can move."""
    present = bodies.present[w]
    inverse_mass = bodies.inverse_mass[w]
    movers = np.int64(0)  # not the literal 0, for which solve_contacts would be compiled a second time
    for i in range(num_solid):
        if present[i] and inverse_mass[i] > 0.0:
            movers = i + 1
    return movers


@phase
def damp_bodies(bodies, factor, movers, w):
    """Scales the velocities of the bodies that can move."""
    velocity = bodies.velocity[w]
    spin = bodies.spin[w]
    inverse_mass = bodies.inverse_mass[w]
    for i in range(movers):
        if inverse_mass[i] > 0.0:
            velocity[i, 0] *= factor
            velocity[i, 1] *= factor
            spin[i] *= factor


@phase
def integrate_bodies(bodies, h, movers, last, w):
    """Moves and turns the bodies; cosine and sine follow the angle.

    A circle's cosine and sine are not read within a step, so they wait for its last substep (`last`).
    """
    present = bodies.present[w]
    position = bodies.position[w]
    angle = bodies.angle[w]
    turn = bodies.turn[w]
    velocity = bodies.velocity[w]
    spin = bodies.spin[w]
    radius = bodies.radius[w]
    inverse_mass = bodies.inverse_mass[w]
    for i in range(movers):
        if not present[i] or inverse_mass[i] == 0.0:
            continue
        position[i, 0] += h * velocity[i, 0]
        position[i, 1] += h * velocity[i, 1]
        if spin[i] != 0.0:
            angle[i] += h * spin[i]
            if last or radius[i] == 0.0:
                turn[i, 0] = np.cos(angle[i])
                turn[i, 1] = np.sin(angle[i])
