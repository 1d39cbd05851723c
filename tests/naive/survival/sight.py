"""Rays and vision (sections 4.2 and 5). A hit is a fraction of the ray from 0 to 1; None is no hit."""

from __future__ import annotations

import math
from collections.abc import Iterable

from .settings import Settings
from .things import Body

WALL = "wall"
STRETCH = 1.0 + 1e-6


def ray_circle(x0: float, y0: float, x1: float, y1: float, body: Body) -> float | None:
    ox, oy, dx, dy = x0 - body.x, y0 - body.y, x1 - x0, y1 - y0
    inside = ox * ox + oy * oy - body.radius**2
    if inside < 0.0:
        return None
    a, b = dx * dx + dy * dy, ox * dx + oy * dy
    root = b * b - a * inside
    if a == 0.0 or root < 0.0:
        return None
    fraction = (-b - math.sqrt(root)) / a
    return fraction if 0.0 <= fraction <= 1.0 else None


def ray_box(x0: float, y0: float, x1: float, y1: float, body: Body) -> float | None:
    c, s = math.cos(body.angle), math.sin(body.angle)
    start = (c * (x0 - body.x) + s * (y0 - body.y), c * (y0 - body.y) - s * (x0 - body.x))
    along = (c * (x1 - x0) + s * (y1 - y0), c * (y1 - y0) - s * (x1 - x0))
    if all(abs(p) <= h for p, h in zip(start, body.half, strict=True)):
        return None
    enter, leave = -math.inf, math.inf
    for p, d, h in zip(start, along, body.half, strict=True):
        if d == 0.0:
            if abs(p) > h:
                return None
            continue
        first, last = sorted(((-h - p) / d, (h - p) / d))
        enter, leave = max(enter, first), min(leave, last)
    return enter if enter <= leave and 0.0 <= enter <= 1.0 else None


def ray_walls(x0: float, y0: float, x1: float, y1: float, wall: float) -> float | None:
    hits = []
    for start, end in ((x0, x1), (y0, y1), (-x0, -x1), (-y0, -y1)):
        if start < wall <= end:
            hits.append((wall - start) / (end - start))
    return min(hits, default=None)


def ray_body(x0: float, y0: float, x1: float, y1: float, body: Body) -> float | None:
    size = body.radius if body.half is None else body.half[0] + body.half[1]
    if passes_by(x1 - x0, y1 - y0, body.x - x0, body.y - y0, size):
        return None
    return (ray_circle if body.half is None else ray_box)(x0, y0, x1, y1, body)


def passes_by(dx: float, dy: float, x: float, y: float, size: float) -> bool:
    """The whole line along (dx, dy) stays farther than `size` from (x, y); spares most exact tests."""
    return abs(dx * y - dy * x) > 1.001 * size * math.hypot(dx, dy)


def first_hit(x0: float, y0: float, x1: float, y1: float, bodies: Iterable[Body], wall: float) -> object:
    """The first body hit, WALL, or None; bodies in index order, and of equal hits the first counts."""
    best, found = math.inf, None
    for body in bodies:
        fraction = ray_body(x0, y0, x1, y1, body) if body.present else None
        if fraction is not None and fraction < best:
            best, found = fraction, body
    fraction = ray_walls(x0, y0, x1, y1, wall)
    if fraction is not None and fraction < best:
        return WALL
    return found


def in_cone(observer: Body, target: Body, settings: Settings) -> bool:
    """Whether the target's centre lies in the quadrilateral of section 5, boundary included."""
    dx, dy = target.x - observer.x, target.y - observer.y
    c, s = math.cos(observer.angle), math.sin(observer.angle)
    ahead, aside = c * dx + s * dy, abs(c * dy - s * dx)
    half = settings.view_angle / 2
    corner_x, corner_y = settings.view_depth * math.cos(half), settings.view_depth * math.sin(half)
    beside_the_side = ahead * corner_y - aside * corner_x >= 0.0
    before_the_front = (settings.view_depth - ahead) * corner_y >= aside * (settings.view_depth - corner_x)
    return beside_the_side and before_the_front


def sees(observer: Body, target: Body, obstacles: list[Body], settings: Settings) -> bool:
    """Rule (a) and (b) of section 5. `obstacles` in index order; observer and target may be among them."""
    if (observer.x, observer.y) == (target.x, target.y):
        return True
    if not in_cone(observer, target, settings):
        return False
    x1 = observer.x + STRETCH * (target.x - observer.x)
    y1 = observer.y + STRETCH * (target.y - observer.y)
    bodies = [body for body in obstacles if body is not observer]
    if not any(body is target for body in bodies):
        bodies.append(target)  # an item that blocks nothing is still looked at
    return first_hit(observer.x, observer.y, x1, y1, bodies, settings.wall) is target
