"""Exact tests whether a walk touches a wall.

Points are pairs of floats, walls line segments. Signs come from float arithmetic where it is certain and from fractions elsewhere,
so rounding never lets a walker through a wall.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from interplay.worlds.navigation.config import GAP

Point = tuple[float, float]
Segment = tuple[float, float, float, float]  # x and y of one end, x and y of the other

# Float error of a cross product of differences of coordinates up to 1e4: 8 roundings of at most (2e4)^2 * 2^-53.
_DOUBT = 1e-6
_PARALLEL = 1e-12  # sine of the angle between walk and wall under which they count as parallel


def touches(walk: Segment, wall: Segment) -> bool:
    """Whether two closed segments have a point in common; either may be a single point.

    Args:
        walk: within 10,000 units of the origin.
        wall: the same.

    Example:
        >>> touches((0, 0, 2, 2), (0, 2, 2, 0)), touches((0, 0, 2, 2), (3, 3, 4, 0))
        (True, False)
    """
    ax, ay, bx, by = walk
    cx, cy, dx, dy = wall
    if max(ax, bx) < min(cx, dx) or max(cx, dx) < min(ax, bx):
        return False
    if max(ay, by) < min(cy, dy) or max(cy, dy) < min(ay, by):
        return False
    return (
        side(ax, ay, bx, by, cx, cy) * side(ax, ay, bx, by, dx, dy) <= 0
        and side(cx, cy, dx, dy, ax, ay) * side(cx, cy, dx, dy, bx, by) <= 0
    )


def side(ax: float, ay: float, bx: float, by: float, px: float, py: float) -> int:
    """Side of the line from a to b on which p lies: 1 left, -1 right, 0 on it, exactly.

    Example:
        >>> side(0, 0, 1, 0, 0.5, 1e-300), side(0, 0, 1, 1, 0.5, 0.5)
        (1, 0)
    """
    cross = (bx - ax) * (py - ay) - (by - ay) * (px - ax)
    if abs(cross) > _DOUBT:
        return 1 if cross > 0 else -1
    ax, ay, bx, by, px, py = map(Fraction, (ax, ay, bx, by, px, py))  # type: ignore[assignment]
    exact = (bx - ax) * (py - ay) - (by - ay) * (px - ax)
    return (exact > 0) - (exact < 0)


def walk(start: Point, vector: Point, walls: Sequence[Segment]) -> tuple[Point, bool]:
    """Walks along a vector until a wall stops it, `GAP` short of the wall. There is no sliding.

    Args:
        start: touches no wall.

    Returns:
        End of the walk, and whether a wall stopped it. The straight line to that end touches no wall.

    Example:
        >>> walk((0.0, 0.0), (10.0, 0.0), [(5, -1, 5, 1)])
        ((4.99, 0.0), True)
    """
    end = (start[0] + vector[0], start[1] + vector[1])
    hit = [wall for wall in walls if touches((*start, *end), wall)]
    if not hit:
        return end, False
    length = math.hypot(*vector)
    contact = min(_share(start, vector, wall) for wall in hit) * length
    short = GAP
    # Where the walk grazes a wall, GAP along the walk may be tiny across it: then it ends a little earlier.
    while contact > short:
        part = (contact - short) / length
        end = (start[0] + vector[0] * part, start[1] + vector[1] * part)
        if not any(touches((*start, *end), wall) for wall in hit):
            return end, True
        short *= 2
    return start, True


def _share(start: Point, vector: Point, wall: Segment) -> float:
    """The share of the vector at which it meets a touched wall, up to rounding."""
    (px, py), (vx, vy) = start, vector
    cx, cy, dx, dy = wall
    across = vx * (dy - cy) - vy * (dx - cx)
    if abs(across) > _PARALLEL * math.hypot(vx, vy) * math.hypot(dx - cx, dy - cy):
        return ((cx - px) * (dy - cy) - (cy - py) * (dx - cx)) / across
    square = vx * vx + vy * vy  # the wall is parallel to the walk: its nearer end stops it
    return min(((x - px) * vx + (y - py) * vy) / square for x, y in ((cx, cy), (dx, dy)))


def sort_by_place(walls: Sequence[Segment], size: float, places: int) -> list[list[list[Segment]]]:
    """Walls within reach of each place of a square grid, for walks no longer than a place is wide.

    Args:
        size: width of a place, in units.
        places: rows and columns of places; place (i, j) covers x from ``i * size`` and y from ``j * size``.

    Returns:
        (places, places) lists of walls: those near the place and its eight neighbours.
    """
    near: list[list[list[Segment]]] = [[[] for _ in range(places)] for _ in range(places)]
    for wall in walls:
        west, east = sorted((wall[0], wall[2]))
        south, north = sorted((wall[1], wall[3]))
        for i in range(places):
            for j in range(places):
                across = (i - 1) * size <= east and west <= (i + 2) * size
                if across and (j - 1) * size <= north and south <= (j + 2) * size:
                    near[i][j].append(wall)
    return near


def distance_to(point: Point, path: Segment) -> float:
    """Least distance of a point from a segment."""
    ax, ay, bx, by = path
    vx, vy = bx - ax, by - ay
    square = vx * vx + vy * vy
    share = 0.0 if square == 0 else ((point[0] - ax) * vx + (point[1] - ay) * vy) / square
    share = min(1.0, max(0.0, share))
    return math.hypot(ax + share * vx - point[0], ay + share * vy - point[1])
