"""Motion without contacts: motor impulses, damping, and the integration of velocities."""

from __future__ import annotations

import numpy as np

from interplay.core.jit import kernel, phase


@phase
def apply_impulses(bodies, impulse, first, w):
    """Applies motor impulses to the bodies from row `first` on, at the centre of mass.

    Args:
        impulse: (W, M, 3) forward N s, leftward N s (both turned by the body's heading), and N m s.
        first: the row of the first of the M bodies.
    """
    rows = bodies[w]
    for m in range(impulse.shape[1]):
        i = first + m
        body = rows[i]
        if not body.present:
            continue
        forward, leftward = impulse[w, m, 0], impulse[w, m, 1]
        c, s = body.cosine, body.sine
        body.vx += body.inverse_mass * (c * forward - s * leftward)
        body.vy += body.inverse_mass * (s * forward + c * leftward)
        body.spin += body.inverse_inertia * impulse[w, m, 2]


@kernel
def damping_factor(damping, h, pade):
    """The share of its velocity that a body keeps in one substep."""
    if pade:
        return 1.0 / (1.0 + h * damping)
    return 1.0 - h * damping


@phase
def count_movers(bodies, num_solid, w):
    """The number of leading rows that hold every body that can move."""
    rows = bodies[w]
    movers = np.int64(0)  # not the literal 0, which would compile solve_contacts a second time
    for i in range(num_solid):
        body = rows[i]
        if body.present and body.inverse_mass > 0.0:
            movers = i + 1
    return movers


@phase
def damp_bodies(bodies, factor, movers, w):
    """Scales the velocities of the bodies that can move."""
    rows = bodies[w]
    for i in range(movers):
        body = rows[i]
        if body.inverse_mass > 0.0:
            body.vx *= factor
            body.vy *= factor
            body.spin *= factor


@phase
def integrate_bodies(bodies, h, movers, last, w):
    """Moves and turns the bodies; cosine and sine follow the angle.

    A circle's cosine and sine are not read within a step, so they wait for its last substep (`last`).
    """
    rows = bodies[w]
    for i in range(movers):
        body = rows[i]
        if not body.present or body.inverse_mass == 0.0:
            continue
        body.x += h * body.vx
        body.y += h * body.vy
        if body.spin != 0.0:
            body.angle += h * body.spin
            if last or body.radius == 0.0:
                body.cosine = np.cos(body.angle)
                body.sine = np.sin(body.angle)
