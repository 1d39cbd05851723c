"""Sight: rays, the view cone, and visibility between bodies.

A ray runs from (x0, y0) to (x1, y1); a hit is a fraction of it, 0 .. 1, or infinity. A ray ignores every
shape whose inside holds its origin. Ties go to the lower body row, and to a body before a wall.
Source: specification survival 4.2 and 5.
"""

from __future__ import annotations

import numpy as np

from interplay.core.jit import kernel, phase

NOTHING = -1  # the ray hit nothing ...
WALL = -2  # ... or a wall; every other number is a body row
STRETCH = 1.0 + 1e-6  # a ray to a centre ends just behind it


@kernel
def ray_circle(ox, oy, dx, dy, radius):
    """Fraction at which the ray from (ox, oy), seen from the circle's centre, along (dx, dy) meets the circle."""
    toward = -(ox * dx + oy * dy)
    outside = ox * ox + oy * oy - radius * radius
    if toward <= 0.0 or outside < 0.0:
        return np.inf
    length2 = dx * dx + dy * dy
    under_root = toward * toward - length2 * outside
    if under_root < 0.0:
        return np.inf
    fraction = (toward - np.sqrt(under_root)) / length2
    return fraction if fraction <= 1.0 else np.inf


@kernel
def ray_slab(o, d, half):
    """Fractions at which the ray o + d t enters and leaves the slab -half .. half."""
    if d > 0.0:
        return (-half - o) / d, (half - o) / d
    if d < 0.0:
        return (half - o) / d, (-half - o) / d
    if abs(o) <= half:
        return -np.inf, np.inf
    return np.inf, np.inf


@kernel
def ray_box(ox, oy, dx, dy, cosine, sine, hx, hy):
    """Fraction at which the ray from (ox, oy), seen from the box's centre, along (dx, dy) meets the box."""
    enter_x, leave_x = ray_slab(cosine * ox + sine * oy, cosine * dx + sine * dy, hx)
    enter_y, leave_y = ray_slab(cosine * oy - sine * ox, cosine * dy - sine * dx, hy)
    enter = max(enter_x, enter_y)
    if 0.0 <= enter <= min(leave_x, leave_y, 1.0):
        return enter
    return np.inf


@kernel
def ray_wall_pair(start, end, wall):
    """Fraction at which start .. end leaves -wall .. wall."""
    if end > wall >= start:
        return (wall - start) / (end - start)
    if end < -wall <= start:
        return (wall + start) / (start - end)
    return np.inf


@kernel
def ray_walls(x0, y0, x1, y1, wall):
    """Fraction at which the ray meets one of the four walls at +-wall; a wall that holds the origin is ignored."""
    along_x = ray_wall_pair(x0, x1, wall)
    along_y = ray_wall_pair(y0, y1, wall)
    return min(along_x, along_y)


@kernel
def may_meet(ox, oy, dx, dy, bound2):
    """Whether a ray meets, or starts within, the circle of squared radius `bound2` if it never ends.

    It settles most pairs of ray and body. No branches: whether a body is hit is hard to predict.
    """
    toward = -(ox * dx + oy * dy)
    outside = ox * ox + oy * oy - bound2
    crosses = (toward > 0.0) & (toward * toward >= (dx * dx + dy * dy) * outside)
    return crosses | (outside <= 0.0)


@kernel
def ray_body(ox, oy, dx, dy, radius, cosine, sine, hx, hy):
    """Fraction at which a ray meets a circle (radius > 0) or a box; (ox, oy) is its origin seen from the centre."""
    if radius > 0.0:
        return ray_circle(ox, oy, dx, dy, radius)
    return ray_box(ox, oy, dx, dy, cosine, sine, hx, hy)


@kernel
def first_hit(bodies, w, x0, y0, x1, y1, ignore, last, wall):
    """The first hit of a ray among the present rows 0 .. last - 1 and the walls.

    Args:
        ignore: a body row that the ray passes through, or -1.
        wall: m, walls at +-wall; np.inf = none.

    Returns:
        (hit, fraction): a body row, `WALL`, or `NOTHING` with fraction infinity.
    """
    rows = bodies[w]
    dx, dy = x1 - x0, y1 - y0
    hit = NOTHING
    nearest = np.inf
    for k in range(last):
        body = rows[k]
        ox, oy = x0 - body.x, y0 - body.y
        r, hx, hy = body.radius, body.half_x, body.half_y
        if not may_meet(ox, oy, dx, dy, r * r + hx * hx + hy * hy):
            continue
        if not body.present or k == ignore:
            continue
        fraction = ray_body(ox, oy, dx, dy, r, body.cosine, body.sine, hx, hy)
        if fraction < nearest:
            nearest = fraction
            hit = k
    fraction = ray_walls(x0, y0, x1, y1, wall)
    if fraction < nearest:
        nearest = fraction
        hit = WALL
    return hit, nearest


@kernel
def in_cone(x, y, depth, cosine, sine):
    """Whether (x, y), in the observer's frame, lies in the cone's quadrilateral, boundary included.

    Its vertices are (0, 0), depth (cosine, sine), (depth, 0) and depth (cosine, -sine).
    """
    side = abs(y)
    return (side * cosine <= x * sine) & (side * (1.0 - cosine) <= (depth - x) * sine)


@phase
def unobstructed(rows, i, j, last, wall):
    """Whether the ray from i to j's centre, stretched a little, hits j before anything else."""
    target = rows[j]
    x0, y0 = rows[i].x, rows[i].y
    dx, dy = (target.x - x0) * STRETCH, (target.y - y0) * STRETCH
    goal = ray_body(
        x0 - target.x,
        y0 - target.y,
        dx,
        dy,
        target.radius,
        target.cosine,
        target.sine,
        target.half_x,
        target.half_y,
    )
    if goal == np.inf or ray_walls(x0, y0, x0 + dx, y0 + dy, wall) < goal:
        return False
    for k in range(last):
        body = rows[k]
        ox, oy = x0 - body.x, y0 - body.y
        r, hx, hy = body.radius, body.half_x, body.half_y
        if not may_meet(ox, oy, dx, dy, r * r + hx * hx + hy * hy):
            continue
        if not body.present or k in (i, j):
            continue
        fraction = ray_body(ox, oy, dx, dy, r, body.cosine, body.sine, hx, hy)
        if fraction < goal or (fraction == goal and k < j):
            return False
    return True


@kernel
def look(bodies, visible, first_observer, end_observer, depth, cosine, sine, items_block, num_solid, wall, w):
    """Fills in which bodies the observers first_observer .. end_observer - 1 of world `w` see.

    No body sees itself. Absent observers see nothing and absent bodies are not seen.

    Args:
        visible: (W, end_observer - first_observer, N) bool, written.
        items_block: whether the rows from num_solid on block the view too.
    """
    rows = bodies[w]
    num_bodies = rows.shape[0]
    last = num_bodies if items_block else num_solid
    for i in range(first_observer, end_observer):
        row = visible[w, i - first_observer]
        observer = rows[i]
        x0, y0 = observer.x, observer.y
        c, s = observer.cosine, observer.sine
        for j in range(num_bodies):
            body = rows[j]
            dx, dy = body.x - x0, body.y - y0
            row[j] = body.present & in_cone(c * dx + s * dy, c * dy - s * dx, depth, cosine, sine)
        row[i] = False
        for j in range(num_bodies):
            if not row[j]:
                continue
            if not observer.present:
                row[j] = False
            elif rows[j].x != x0 or rows[j].y != y0:
                row[j] = unobstructed(rows, i, j, last, wall)


@kernel
def cast_lidar(bodies, hit, distance, i, field, depth, last, wall, w):
    """Sends n rays from body i, spread evenly over a field of view around its heading.

    Args:
        hit: (n,) int64, written: body row, `WALL` or `NOTHING`.
        distance: (n,) float64 m, written: to the hit, or `depth` without one.
        field: rad, angle between the first ray (right) and the last (left); a single ray looks ahead.
        depth: m, length of the rays.
        last: rows 0 .. last - 1 are seen.
    """
    rays = hit.shape[0]
    body = bodies[w, i]
    for r in range(rays):
        angle = body.angle
        if rays > 1:
            angle += field * (r / (rays - 1) - 0.5)
        x1, y1 = body.x + depth * np.cos(angle), body.y + depth * np.sin(angle)
        what, fraction = first_hit(bodies, w, body.x, body.y, x1, y1, i, last, wall)
        hit[r] = what
        distance[r] = depth * min(fraction, 1.0)
