"""Sequential impulses: the velocity solve, the re-anchoring of contacts, relaxation and restitution.

Velocities are in `scratch.motion` during the solve. Its last row stands for the walls, at rest and infinitely heavy, so that no loop
needs to distinguish the partners of a contact.
Source: specification survival 2.1, steps 4 and 6 to 8 (sequential impulses: E. Catto, Iterative Dynamics with
Temporal Coherence, 2005; relaxation: Solver2D, 2024).
"""

from __future__ import annotations

import numpy as np

from interplay.core.jit import phase
from interplay.planar.scratch import BOX_FLAT, CIRCLE_PAIR

ITERATIONS = 10
RELAX_ITERATIONS = 4
SLOP = 0.005  # m, overlap that is not corrected
PUSH_SHARE = 0.2  # of the overlap beyond the slop is removed in a substep ...
PUSH_SPEED = 3.0  # m/s ... but never faster than this
BOUNCE_SPEED = 0.5  # m/s, slower approaches do not bounce


@phase
def effective_mass(ax, ay, bx, by, ux, uy, mass, inertia_a, inertia_b):
    """Mass that two bodies oppose to an impulse along (ux, uy); `mass` is the sum of their inverse masses."""
    arm_a = ax * uy - ay * ux
    arm_b = bx * uy - by * ux
    return 1.0 / (mass + inertia_a * arm_a * arm_a + inertia_b * arm_b * arm_b)


@phase
def speed_x(body, arm_y):
    """Velocity along x of the point of a body at lever arm (any, arm_y)."""
    return body.vx - body.spin * arm_y


@phase
def speed_y(body, arm_x):
    """Velocity along y of the point of a body at lever arm (arm_x, any)."""
    return body.vy + body.spin * arm_x


@phase
def push(body, arm_x, arm_y, jx, jy):
    """Applies the impulse (jx, jy) at a lever arm."""
    body.vx += body.inverse_mass * jx
    body.vy += body.inverse_mass * jy
    body.spin += body.inverse_inertia * (arm_x * jy - arm_y * jx)


@phase
def push_both(contact, a, b, jx, jy):
    """Applies an impulse to b and its opposite to a, at their common point."""
    push(a, contact.ax, contact.ay, -jx, -jy)
    push(b, contact.bx, contact.by, jx, jy)


@phase
def weigh_contact(contact, a, b):
    """Sets the effective masses from the lever arms and the normal."""
    ax, ay, bx, by, nx, ny = contact.ax, contact.ay, contact.bx, contact.by, contact.nx, contact.ny
    mass = a.inverse_mass + b.inverse_mass
    contact.mass_n = effective_mass(ax, ay, bx, by, nx, ny, mass, a.inverse_inertia, b.inverse_inertia)
    contact.mass_t = effective_mass(ax, ay, bx, by, -ny, nx, mass, a.inverse_inertia, b.inverse_inertia)


@phase
def push_bias(separation, h):
    """Bias on a contact's normal velocity: a gap may just close, an overlap is pushed out (m/s)."""
    if separation > 0.0:
        return separation / h
    if separation < -SLOP:
        return max(PUSH_SHARE * (separation + SLOP) / h, -PUSH_SPEED)
    return 0.0


@phase
def load_motion(bodies, physics, scratch, thread, w):
    """Copies the velocities and inverse masses of the solid bodies into the scratch."""
    rows = bodies[w]
    motion = scratch.motion[thread]
    for i in range(physics.num_solid):
        row, body = rows[i], motion[i]
        moves = row.inverse_mass > 0.0  # a static body is at rest, whatever its row holds
        body.vx = row.vx if moves else 0.0
        body.vy = row.vy if moves else 0.0
        body.spin = row.spin if moves else 0.0
        body.inverse_mass = row.inverse_mass
        body.inverse_inertia = row.inverse_inertia if moves else 0.0


@phase
def store_motion(bodies, scratch, thread, movers, w):
    """Copies the velocities back."""
    rows = bodies[w]
    motion = scratch.motion[thread]
    for i in range(movers):
        row, body = rows[i], motion[i]
        if body.inverse_mass > 0.0:
            row.vx = body.vx
            row.vy = body.vy
            row.spin = body.spin


@phase
def prepare_contacts(physics, scratch, thread, count):
    """Sets biases, effective masses and approach velocities.

    Returns:
        True if some contact needs an impulse. If none does, the solver would change nothing.
    """
    contacts = scratch.contacts[thread]
    motion = scratch.motion[thread]
    needed = False
    for k in range(count):
        contact = contacts[k]
        a, b = motion[contact.a], motion[contact.b]
        contact.bias = push_bias(contact.separation, physics.h)
        contact.impulse_n = 0.0
        contact.impulse_t = 0.0
        contact.regain = 0.0
        contact.approach_x = speed_x(b, contact.by) - speed_x(a, contact.ay)
        contact.approach_y = speed_y(b, contact.bx) - speed_y(a, contact.ax)
        weigh_contact(contact, a, b)
        needed |= contact.approach_x * contact.nx + contact.approach_y * contact.ny + contact.bias < 0.0
    return needed


@phase
def solve_velocities(scratch, thread, count, friction, iterations):
    """Iterates over the contacts: friction within the cone of the normal impulse so far, then the normal."""
    contacts = scratch.contacts[thread]
    motion = scratch.motion[thread]
    for _ in range(iterations):
        for k in range(count):
            contact = contacts[k]
            a, b = motion[contact.a], motion[contact.b]
            nx, ny = contact.nx, contact.ny
            vx = speed_x(b, contact.by) - speed_x(a, contact.ay)
            vy = speed_y(b, contact.bx) - speed_y(a, contact.ax)
            limit = friction * contact.impulse_n
            wanted = contact.impulse_t - contact.mass_t * (vy * nx - vx * ny)
            total = min(max(wanted, -limit), limit)
            change = total - contact.impulse_t
            contact.impulse_t = total
            push_both(contact, a, b, -change * ny, change * nx)
            vx = speed_x(b, contact.by) - speed_x(a, contact.ay)
            vy = speed_y(b, contact.bx) - speed_y(a, contact.ax)
            wanted = contact.impulse_n - contact.mass_n * (vx * nx + vy * ny + contact.bias)
            total = max(wanted, 0.0)
            change = total - contact.impulse_n
            contact.impulse_n = total
            push_both(contact, a, b, change * nx, change * ny)


@phase
def turn_pair(contact, dx, dy, reach, mass):
    """Re-anchors a pair of circles whose centres now differ by (dx, dy): new normal, gap and regain.

    The impulse so far went along the old normal. Its part along the new tangent changed the square of the tangential velocity; `regain` is
    what the bounce returns along the new normal. So an elastic bounce off the line of centres keeps its energy and its angular momentum.
    `mass` sums the inverse masses.
    """
    distance = np.sqrt(dx * dx + dy * dy)
    if distance == 0.0:
        return
    nx, ny = dx / distance, dy / distance
    before = contact.approach_y * nx - contact.approach_x * ny
    after = before + contact.impulse_n * mass * (contact.ny * nx - contact.nx * ny)
    contact.regain = before * before - after * after
    contact.nx, contact.ny = nx, ny
    contact.separation = distance - reach


@phase
def anchored(x, y, near_x, near_y, cosine, sine):
    """World point of an anchor in the frame at (x, y)."""
    return x + cosine * near_x - sine * near_y, y + sine * near_x + cosine * near_y


@phase
def anchor_contacts(bodies, physics, scratch, thread, count, w):
    """Before the bodies move: stores each contact point in the frames of its two bodies.

    A circle's frame does not turn: only the touching point counts, whichever of its points that is.
    """
    rows = bodies[w]
    contacts = scratch.contacts[thread]
    for k in range(count):
        contact = contacts[k]
        a, b = contact.a, contact.b
        contact.near_x, contact.near_y = contact.ax, contact.ay
        contact.far_x, contact.far_y = contact.bx, contact.by
        if contact.kind == BOX_FLAT:
            c, s = rows[a].cosine, rows[a].sine
            contact.near_x, contact.near_y = anchored(0.0, 0.0, contact.ax, contact.ay, c, -s)
        if b < physics.num_solid and rows[b].radius == 0.0:
            c, s = rows[b].cosine, rows[b].sine
            contact.far_x, contact.far_y = anchored(0.0, 0.0, contact.bx, contact.by, c, -s)
        # A wall has no centre: its anchor is the contact point in the world.
        if b == physics.num_solid:
            contact.far_x = bodies[w, a].x + contact.ax
            contact.far_y = bodies[w, a].y + contact.ay


@phase
def reanchor_contacts(bodies, physics, scratch, thread, count, w):
    """After the bodies moved: one common point for both bodies of a contact, its gap, levers and masses.

    Without it the impulses of relaxation and restitution would act at stale levers, and angular momentum would
    not be conserved.
    """
    rows = bodies[w]
    contacts = scratch.contacts[thread]
    motion = scratch.motion[thread]
    for k in range(count):
        contact = contacts[k]
        i, j = contact.a, contact.b
        a, b = motion[i], motion[j]
        xi, yi = rows[i].x, rows[i].y
        xj, yj, cj, sj = 0.0, 0.0, 1.0, 0.0
        if j < physics.num_solid:
            xj, yj = rows[j].x, rows[j].y
            if rows[j].radius == 0.0:
                cj, sj = rows[j].cosine, rows[j].sine
        if contact.kind == CIRCLE_PAIR:
            mass = a.inverse_mass + b.inverse_mass
            turn_pair(contact, xj - xi, yj - yi, rows[i].radius + rows[j].radius, mass)
        else:
            ci, si = 1.0, 0.0
            if contact.kind == BOX_FLAT:
                ci, si = rows[i].cosine, rows[i].sine
            ux, uy = anchored(xi, yi, contact.near_x, contact.near_y, ci, si)
            vx, vy = anchored(xj, yj, contact.far_x, contact.far_y, cj, sj)
            contact.separation += (vx - ux) * contact.nx + (vy - uy) * contact.ny
        if contact.kind == BOX_FLAT:
            # Midway between two moving boxes, else on the one that moves.
            share = 0.5 if a.inverse_mass > 0.0 and b.inverse_mass > 0.0 else 0.0
            if a.inverse_mass == 0.0:
                share = 1.0
            contact.ax = ux + share * (vx - ux) - xi
            contact.ay = uy + share * (vy - uy) - yi
        else:
            middle = rows[i].radius + 0.5 * contact.separation
            contact.ax, contact.ay = contact.nx * middle, contact.ny * middle
        contact.bx = contact.ax + xi - xj
        contact.by = contact.ay + yi - yj
        weigh_contact(contact, a, b)


@phase
def relax_contacts(physics, scratch, thread, count):
    """Removes the speed that pushed overlapping bodies apart."""
    contacts = scratch.contacts[thread]
    for k in range(count):
        contacts[k].bias = max(contacts[k].separation, 0.0) / physics.h
    solve_velocities(scratch, thread, count, physics.friction, np.int64(RELAX_ITERATIONS))


@phase
def restore_bounces(physics, scratch, thread, count):
    """Restitution: drives every fast contact that carries an impulse to its rebound speed."""
    contacts = scratch.contacts[thread]
    motion = scratch.motion[thread]
    e = physics.restitution
    for k in range(count):
        contact = contacts[k]
        nx, ny = contact.nx, contact.ny
        approach = contact.approach_x * nx + contact.approach_y * ny
        if approach > -BOUNCE_SPEED or contact.impulse_n == 0.0:
            continue
        rebound = np.sqrt(max(e * e * approach * approach + contact.regain, 0.0))
        a, b = motion[contact.a], motion[contact.b]
        vx = speed_x(b, contact.by) - speed_x(a, contact.ay)
        vy = speed_y(b, contact.bx) - speed_y(a, contact.ax)
        wanted = contact.impulse_n - contact.mass_n * (vx * nx + vy * ny - rebound)
        change = max(wanted, 0.0) - contact.impulse_n
        contact.impulse_n += change
        push_both(contact, a, b, change * nx, change * ny)
