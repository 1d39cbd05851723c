"""Narrow phase: contact points of pairs of shapes that touch, or may touch within the next substep.

The helpers return plain scalars; `find_contacts` writes the contacts of one world in fixed order (row by row, then the walls), so that a
trajectory depends on its start alone.
Source: specification survival 2.1, steps 2 and 3.
"""

from __future__ import annotations

import numpy as np

from interplay.core.jit import kernel, phase
from interplay.planar.scratch import BOX_FLAT, CIRCLE_FLAT, CIRCLE_PAIR

MARGIN = 0.04  # m, contacts are kept up to this gap plus what both bodies can travel in a substep
FLICKER = 0.001  # m, minimal advantage of a later axis over an earlier one


@kernel
def gap_circles(dx, dy, reach):
    """Two circles with centres that differ by (dx, dy), radii summing to `reach`: (separation, nx, ny)."""
    distance = np.sqrt(dx * dx + dy * dy)
    if distance == 0.0:
        return -reach, 1.0, 0.0
    return distance - reach, dx / distance, dy / distance


@kernel
def gap_circle_box(dx, dy, radius, cosine, sine, hx, hy):
    """A circle and a box with its centre at (dx, dy) from the circle's: (separation, nx, ny), normal to the box.

    With the circle's centre inside the box the normal points against the nearest face.
    """
    x = -(cosine * dx + sine * dy)  # the circle's centre in the box frame
    y = sine * dx - cosine * dy
    ox = min(max(x, -hx), hx) - x
    oy = min(max(y, -hy), hy) - y
    distance = np.sqrt(ox * ox + oy * oy)
    if distance > 0.0:
        separation = distance - radius
        nx = ox / distance
        ny = oy / distance
    else:
        depth_x = hx - abs(x)
        depth_y = hy - abs(y)
        if depth_x <= depth_y:
            separation = -depth_x - radius
            nx = -1.0 if x >= 0.0 else 1.0
            ny = 0.0
        else:
            separation = -depth_y - radius
            nx = 0.0
            ny = -1.0 if y >= 0.0 else 1.0
    return separation, cosine * nx - sine * ny, sine * nx + cosine * ny


@kernel
def gap_along(dx, dy, ux, uy, reach, cosine, sine, hx, hy):
    """Separation of two boxes along the axis (ux, uy): one reaches `reach` along it, the other is given."""
    other = hx * abs(ux * cosine + uy * sine) + hy * abs(uy * cosine - ux * sine)
    return abs(dx * ux + dy * uy) - reach - other


@kernel
def touching_face(dx, dy, ca, sa, hax, hay, cb, sb, hbx, hby):
    """The face that separates two boxes best: (separation, face), 0 and 1 a's axes, 2 and 3 b's."""
    best = gap_along(dx, dy, ca, sa, hax, cb, sb, hbx, hby)
    face = 0
    gap = gap_along(dx, dy, -sa, ca, hay, cb, sb, hbx, hby)
    if gap > best + FLICKER:
        best = gap
        face = 1
    gap = gap_along(dx, dy, cb, sb, hbx, ca, sa, hax, hay)
    if gap > best + FLICKER:
        best = gap
        face = 2
    gap = gap_along(dx, dy, -sb, cb, hby, ca, sa, hax, hay)
    if gap > best + FLICKER:
        best = gap
        face = 3
    return best, face


@kernel
def facing_edge(x, y, nx, ny, cosine, sine, hx, hy):
    """The edge of a box at (x, y) that faces (nx, ny) most: its two ends."""
    along_x = nx * cosine + ny * sine
    along_y = ny * cosine - nx * sine
    if abs(along_x) >= abs(along_y):
        side = -hx if along_x > 0.0 else hx
        mx, my = x + cosine * side, y + sine * side
        ex, ey = -sine * hy, cosine * hy
    else:
        side = -hy if along_y > 0.0 else hy
        mx, my = x - sine * side, y + cosine * side
        ex, ey = cosine * hx, sine * hx
    return mx - ex, my - ey, mx + ex, my + ey


@kernel
def clip_edge(t0, t1, limit):
    """The part of an edge from t0 to t1 that lies within +-limit, as fractions (low, high) of the edge.

    An edge wholly outside leaves its nearest end: a corner that passes another one still meets the plane.
    """
    if max(t0, t1) < -limit or min(t0, t1) > limit:
        near = 0.0 if abs(t0) <= abs(t1) else 1.0
        return near, near
    span = t1 - t0
    if span == 0.0:
        return 0.0, 1.0
    first = (-limit - t0) / span
    last = (limit - t0) / span
    return max(min(first, last), 0.0), min(max(first, last), 1.0)


@kernel
def gap_boxes(dx, dy, ca, sa, hax, hay, cb, sb, hbx, hby, margin):
    """Two boxes, b's centre at (dx, dy) from a's: (points, nx, ny, s0, x0, y0, s1, x1, y1).

    Up to 2 points with separations s0 and s1, midway between the faces, relative to a's centre.
    """
    best, face = touching_face(dx, dy, ca, sa, hax, hay, cb, sb, hbx, hby)
    if best > margin:
        return 0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    if face < 2:  # reference face on a, looking at b; edge on b
        ux, uy = (ca, sa) if face == 0 else (-sa, ca)
        half, limit = (hax, hay) if face == 0 else (hay, hax)
        sign = 1.0 if dx * ux + dy * uy >= 0.0 else -1.0
        rx, ry = 0.0, 0.0
        nx, ny = sign * ux, sign * uy
        ex, ey, fx, fy = facing_edge(dx, dy, nx, ny, cb, sb, hbx, hby)
    else:  # the reverse
        ux, uy = (cb, sb) if face == 2 else (-sb, cb)
        half, limit = (hbx, hby) if face == 2 else (hby, hbx)
        sign = -1.0 if dx * ux + dy * uy >= 0.0 else 1.0
        rx, ry = dx, dy
        nx, ny = sign * ux, sign * uy
        ex, ey, fx, fy = facing_edge(0.0, 0.0, nx, ny, ca, sa, hax, hay)
    low, high = clip_edge(-(ex - rx) * ny + (ey - ry) * nx, -(fx - rx) * ny + (fy - ry) * nx, limit)
    x0, y0 = ex + low * (fx - ex), ey + low * (fy - ey)
    x1, y1 = ex + high * (fx - ex), ey + high * (fy - ey)
    s0 = (x0 - rx) * nx + (y0 - ry) * ny - half
    s1 = (x1 - rx) * nx + (y1 - ry) * ny - half
    x0, y0 = x0 - 0.5 * s0 * nx, y0 - 0.5 * s0 * ny
    x1, y1 = x1 - 0.5 * s1 * nx, y1 - 0.5 * s1 * ny
    points = 2
    if s1 > margin or high <= low:
        points = 1
    if s0 > margin:
        points -= 1
        s0, x0, y0 = s1, x1, y1
    if face >= 2:  # the normal of a contact points from a to b
        nx, ny = -nx, -ny
    return points, nx, ny, s0, x0, y0, s1, x1, y1


@phase
def add_contact(contacts, count, kind, a, b, nx, ny, separation, ax, ay, dx, dy):
    """Writes contact number `count`, if there is room for it; returns count + 1 either way.

    The point lies at (ax, ay) from a's centre, b's centre at (dx, dy) from a's.
    """
    if count < contacts.shape[0]:
        contact = contacts[count]
        contact.kind = kind
        contact.a = a
        contact.b = b
        contact.nx = nx
        contact.ny = ny
        contact.separation = separation
        contact.ax = ax
        contact.ay = ay
        contact.bx = ax - dx
        contact.by = ay - dy
    return count + 1


@phase
def add_circle_contact(contacts, count, i, j, dx, dy, ri, rj, cj, sj, hxj, hyj, margin):
    """Contact of circle i with circle or box j; returns the new count."""
    if rj > 0.0:
        kind = CIRCLE_PAIR
        s, nx, ny = gap_circles(dx, dy, ri + rj)
    else:
        kind = CIRCLE_FLAT
        s, nx, ny = gap_circle_box(dx, dy, ri, cj, sj, hxj, hyj)
    if s > margin:
        return count
    middle = ri + 0.5 * s
    return add_contact(contacts, count, kind, i, j, nx, ny, s, nx * middle, ny * middle, dx, dy)


@phase
def add_box_contacts(contacts, count, i, j, dx, dy, ci, si, hxi, hyi, cj, sj, hxj, hyj, margin):
    """Up to two contacts of box i with box j; returns the new count."""
    points, nx, ny, s0, x0, y0, s1, x1, y1 = gap_boxes(dx, dy, ci, si, hxi, hyi, cj, sj, hxj, hyj, margin)
    if points > 0:
        count = add_contact(contacts, count, BOX_FLAT, i, j, nx, ny, s0, x0, y0, dx, dy)
    if points > 1:
        count = add_contact(contacts, count, BOX_FLAT, i, j, nx, ny, s1, x1, y1, dx, dy)
    return count


@phase
def add_wall_contacts(contacts, count, i, wall_row, x, y, ri, ci, si, hxi, hyi, wall, margin):
    """Contacts of body i with the four half-planes: one point of a circle, every near vertex of a box."""
    for side in range(4):
        nx = 1.0 - side if side % 2 == 0 else 0.0  # +x, +y, -x, -y
        ny = 2.0 - side if side % 2 == 1 else 0.0
        room = wall - x * nx - y * ny
        if ri > 0.0:
            s = room - ri
            if s <= margin:
                vx, vy = nx * (ri + 0.5 * s), ny * (ri + 0.5 * s)
                count = add_contact(contacts, count, CIRCLE_FLAT, i, wall_row, nx, ny, s, vx, vy, vx, vy)
        elif room - hxi - hyi <= margin:
            for corner in range(4):
                lx = hxi if corner == 1 or corner == 2 else -hxi  # counter-clockwise
                ly = hyi if corner >= 2 else -hyi
                vx, vy = ci * lx - si * ly, si * lx + ci * ly
                s = room - vx * nx - vy * ny
                if s <= margin:
                    count = add_contact(contacts, count, BOX_FLAT, i, wall_row, nx, ny, s, vx, vy, vx, vy)
    return count


@phase
def find_contacts(bodies, physics, scratch, thread, movers, w):
    """Writes the contacts of world `w`; rows 0 .. movers - 1 hold every body that can move.

    Returns:
        The number of contacts found, which may exceed the room in `scratch`.
    """
    rows = bodies[w]
    contacts = scratch.contacts[thread]
    h = physics.h
    count = np.int64(0)  # not the literal 0, which would compile the helpers a second time
    for i in range(movers):
        one = rows[i]
        if not one.present:
            continue
        x, y = one.x, one.y
        ri, hxi, hyi = one.radius, one.half_x, one.half_y
        ci, si = one.cosine, one.sine
        moves = one.inverse_mass > 0.0
        pace = MARGIN + h * (abs(one.vx) + abs(one.vy))
        reach = ri + hxi + hyi
        for j in range(i + 1, physics.num_solid):
            other = rows[j]
            dx, dy = other.x - x, other.y - y
            rj, hxj, hyj = other.radius, other.half_x, other.half_y
            margin = pace + h * (abs(other.vx) + abs(other.vy))
            if max(abs(dx), abs(dy)) > reach + rj + hxj + hyj + margin:
                continue
            if not other.present or not (moves or other.inverse_mass > 0.0):
                continue
            cj, sj = other.cosine, other.sine
            if ri > 0.0:
                count = add_circle_contact(contacts, count, i, j, dx, dy, ri, rj, cj, sj, hxj, hyj, margin)
            elif rj > 0.0:  # the circle comes first in a contact
                count = add_circle_contact(contacts, count, j, i, -dx, -dy, rj, ri, ci, si, hxi, hyi, margin)
            else:
                count = add_box_contacts(
                    contacts, count, i, j, dx, dy, ci, si, hxi, hyi, cj, sj, hxj, hyj, margin
                )
        if moves and max(abs(x), abs(y)) + reach + pace > physics.wall:
            count = add_wall_contacts(
                contacts, count, i, physics.num_solid, x, y, ri, ci, si, hxi, hyi, physics.wall, pace
            )
    return count
