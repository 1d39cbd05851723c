"""Walks and walls the slow way: every number a fraction, a building as a solid instead of four sides."""

from __future__ import annotations

from fractions import Fraction

Exact = tuple[Fraction, ...]


def exact(numbers) -> Exact:
    return tuple(Fraction(x) for x in numbers)


def contact_with_fence(walk, fence) -> Fraction | None:
    """The least t in 0..1 at which ``a + t (b - a)`` lies on a closed segment; None if it never does."""
    ax, ay, bx, by = exact(walk)
    cx, cy, dx, dy = exact(fence)
    ux, uy, wx, wy = bx - ax, by - ay, dx - cx, dy - cy
    across = ux * wy - uy * wx
    if across != 0:
        t = ((cx - ax) * wy - (cy - ay) * wx) / across
        s = ((cx - ax) * uy - (cy - ay) * ux) / across
        return t if 0 <= t <= 1 and 0 <= s <= 1 else None
    if (cx - ax) * uy != (cy - ay) * ux or (cx - ax) * wy != (cy - ay) * wx:
        return None  # parallel, side by side
    if (ux, uy) == (0, 0):  # a walk that stays where it is
        inside = min(cx, dx) <= ax <= max(cx, dx) and min(cy, dy) <= ay <= max(cy, dy)
        return Fraction(0) if inside else None
    ends = sorted(((x - ax) * ux + (y - ay) * uy) / (ux * ux + uy * uy) for x, y in ((cx, cy), (dx, dy)))
    if ends[1] < 0 or ends[0] > 1:
        return None
    return max(ends[0], Fraction(0))


def contact_with_building(walk, building) -> Fraction | None:
    """The least t in 0..1 at which ``a + t (b - a)`` lies in a closed rectangle (west, south, east, north)."""
    ax, ay, bx, by = exact(walk)
    west, south, east, north = exact(building)
    first, last = Fraction(0), Fraction(1)
    for at, way, low, high in ((ax, bx - ax, west, east), (ay, by - ay, south, north)):
        if way == 0:
            if not low <= at <= high:
                return None
            continue
        near, far = sorted(((low - at) / way, (high - at) / way))
        first, last = max(first, near), min(last, far)
    return first if first <= last else None


def contact(walk, buildings, fences, side) -> Fraction | None:
    """The least t at which a walk meets anything, the border of the square included."""
    border = [(0, 0, side, 0), (side, 0, side, side), (side, side, 0, side), (0, side, 0, 0)]
    met = [contact_with_building(walk, building) for building in buildings]
    met += [contact_with_fence(walk, fence) for fence in (*fences, *border)]
    return min((t for t in met if t is not None), default=None)
