"""The depth of overlaps in a room, measured by the slow geometry and not by the solver itself."""

from __future__ import annotations

from itertools import combinations

from tests.naive.planar_shapes import gap, gap_to_walls
from tests.planar.rooms import Room


def shape_of(room: Room, w: int, row: int) -> tuple:
    """A row as the slow geometry wants it."""
    bodies = room.bodies
    x, y = bodies.position[w, row].tolist()
    radius = float(bodies.radius[w, row])
    if radius > 0.0:
        return "circle", x, y, radius
    return ("box", x, y, float(bodies.angle[w, row]), *bodies.half[w, row].tolist())


def solid_shapes(room: Room, w: int = 0) -> list[tuple]:
    return [shape_of(room, w, row) for row in range(room.physics.num_solid)]


def deepest_overlap(room: Room, w: int = 0) -> float:
    """Metres, 0 where nothing overlaps; pairs of static bodies do not count."""
    shapes = solid_shapes(room, w)
    moving = room.bodies.inverse_mass[w] > 0
    gaps = [gap(a, b) for (i, a), (j, b) in combinations(enumerate(shapes), 2) if moving[i] or moving[j]]
    gaps += [gap_to_walls(a, room.physics.wall) for i, a in enumerate(shapes) if moving[i]]
    return max(0.0, -min(gaps, default=0.0))
