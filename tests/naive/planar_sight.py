"""Slow, obvious sight: segments against edges and circles, the cone as a polygon. The twin of `planar/sight.py`.

Shapes as in `planar_shapes`. A shape that holds the ray's origin is ignored.
"""

from __future__ import annotations

import math

from tests.naive.planar_shapes import Point, edges, inside

STRETCH = 1.0 + 1e-6


def cross(ax: float, ay: float, bx: float, by: float) -> float:
    return ax * by - ay * bx


def ray_edge(p: Point, q: Point, edge: tuple[Point, Point]) -> float:
    """Fraction of p..q at which it crosses an edge, or infinity."""
    (ax, ay), (bx, by) = edge
    rx, ry = q[0] - p[0], q[1] - p[1]
    ex, ey = bx - ax, by - ay
    turn = cross(rx, ry, ex, ey)
    if turn == 0.0:
        return math.inf
    along_ray = cross(ax - p[0], ay - p[1], ex, ey) / turn
    along_edge = cross(ax - p[0], ay - p[1], rx, ry) / turn
    if 0.0 <= along_ray <= 1.0 and 0.0 <= along_edge <= 1.0:
        return along_ray
    return math.inf


def ray_circle(p: Point, q: Point, circle: tuple) -> float:
    """Fraction at which |p + t (q - p) - centre| = radius for the first time, by the quadratic formula."""
    _, x, y, radius = circle
    rx, ry = q[0] - p[0], q[1] - p[1]
    a = rx * rx + ry * ry
    b = 2.0 * (rx * (p[0] - x) + ry * (p[1] - y))
    c = (p[0] - x) ** 2 + (p[1] - y) ** 2 - radius**2
    if c < 0.0 or a == 0.0 or b * b - 4.0 * a * c < 0.0:
        return math.inf
    t = (-b - math.sqrt(b * b - 4.0 * a * c)) / (2.0 * a)
    return t if 0.0 <= t <= 1.0 else math.inf


def ray_shape(p: Point, q: Point, shape: tuple) -> float:
    if shape[0] == "circle":
        return ray_circle(p, q, shape)
    if inside(p, shape):
        return math.inf
    return min(ray_edge(p, q, edge) for edge in edges(shape))


def ray_walls(p: Point, q: Point, wall: float) -> float:
    """The walls are half-planes; the one that holds the origin is ignored."""
    best = math.inf
    for nx, ny in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        start = p[0] * nx + p[1] * ny
        end = q[0] * nx + q[1] * ny
        if start <= wall < end:
            best = min(best, (wall - start) / (end - start))
    return best


def first_hit(p: Point, q: Point, shapes: dict[int, tuple], wall: float) -> tuple[int | str, float]:
    """(row, fraction), ("wall", fraction) or ("nobody", inf)."""
    hits = [(ray_shape(p, q, shape), row) for row, shape in shapes.items()]
    best, row = min(hits, default=(math.inf, -1))
    at_wall = ray_walls(p, q, wall)
    if at_wall < best:
        return "wall", at_wall
    return ("nobody", math.inf) if best == math.inf else (row, best)


def in_cone(observer: Point, heading: float, target: Point, depth: float, half_view: float) -> bool:
    """Left of every edge of the quadrilateral (0, 0), right corner, tip, left corner, boundary included."""

    def corner(distance: float, angle: float) -> Point:
        return observer[0] + distance * math.cos(angle), observer[1] + distance * math.sin(angle)

    polygon = [
        observer,
        corner(depth, heading - half_view),
        corner(depth, heading),
        corner(depth, heading + half_view),
    ]
    return all(
        cross(bx - ax, by - ay, target[0] - ax, target[1] - ay) >= 0.0
        for (ax, ay), (bx, by) in zip(polygon, polygon[1:] + polygon[:1], strict=True)
    )


def sees(
    i: int, j: int, heading: float, shapes: dict[int, tuple], wall: float, depth: float, half_view: float
) -> bool:
    """Whether i sees j: shapes holds both and everything that blocks the view."""
    p, centre = shapes[i][1:3], shapes[j][1:3]
    if not in_cone(p, heading, centre, depth, half_view):
        return False
    if p == centre:
        return True
    q = tuple(a + STRETCH * (b - a) for a, b in zip(p, centre, strict=True))
    others = {row: shape for row, shape in shapes.items() if row != i}
    return first_hit(p, q, others, wall)[0] == j
