"""Slow, obvious geometry: how deep shapes overlap, from corners and edges. The twin of `planar/narrow.py`.

A shape is ``("circle", x, y, radius)`` or ``("box", x, y, angle, half_width, half_height)``.
"""

from __future__ import annotations

import math

Point = tuple[float, float]


def corners(box: tuple) -> list[Point]:
    """The four corners, counter-clockwise."""
    _, x, y, angle, hx, hy = box
    c, s = math.cos(angle), math.sin(angle)
    local = [(-hx, -hy), (hx, -hy), (hx, hy), (-hx, hy)]
    return [(x + c * u - s * v, y + s * u + c * v) for u, v in local]


def edges(box: tuple) -> list[tuple[Point, Point]]:
    points = corners(box)
    return list(zip(points, points[1:] + points[:1], strict=True))


def distance_to_edge(p: Point, edge: tuple[Point, Point]) -> float:
    (ax, ay), (bx, by) = edge
    dx, dy = bx - ax, by - ay
    along = ((p[0] - ax) * dx + (p[1] - ay) * dy) / (dx * dx + dy * dy)
    along = min(max(along, 0.0), 1.0)
    return math.hypot(p[0] - ax - along * dx, p[1] - ay - along * dy)


def inside(p: Point, box: tuple) -> bool:
    """Left of every edge of the counter-clockwise corners."""
    return all((bx - ax) * (p[1] - ay) - (by - ay) * (p[0] - ax) > 0.0 for (ax, ay), (bx, by) in edges(box))


def gap_circle_box(circle: tuple, box: tuple) -> float:
    _, x, y, radius = circle
    nearest = min(distance_to_edge((x, y), edge) for edge in edges(box))
    return (-nearest if inside((x, y), box) else nearest) - radius


def spread(points: list[Point], ux: float, uy: float) -> tuple[float, float]:
    values = [x * ux + y * uy for x, y in points]
    return min(values), max(values)


def gap_boxes(a: tuple, b: tuple) -> float:
    """The widest gap along the four face normals; its negative is the depth of the overlap."""
    best = -math.inf
    for box in (a, b):
        for (ax, ay), (bx, by) in edges(box)[:2]:
            length = math.hypot(bx - ax, by - ay)
            ux, uy = (by - ay) / length, -(bx - ax) / length
            low_a, high_a = spread(corners(a), ux, uy)
            low_b, high_b = spread(corners(b), ux, uy)
            best = max(best, low_b - high_a, low_a - high_b)
    return best


def gap(a: tuple, b: tuple) -> float:
    """Separation of two shapes in metres; negative = depth of the overlap."""
    if a[0] == "circle" and b[0] == "circle":
        return math.hypot(b[1] - a[1], b[2] - a[2]) - a[3] - b[3]
    if a[0] == "circle":
        return gap_circle_box(a, b)
    if b[0] == "circle":
        return gap_circle_box(b, a)
    return gap_boxes(a, b)


def gap_to_walls(shape: tuple, wall: float) -> float:
    """Separation of a shape from the nearest of four walls at +-wall."""
    if shape[0] == "circle":
        return wall - max(abs(shape[1]), abs(shape[2])) - shape[3]
    return wall - max(max(abs(x), abs(y)) for x, y in corners(shape))
