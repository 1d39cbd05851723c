"""Rooms to try physics and sight in: shapes in, `Bodies` out, and compiled loops over worlds and steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from interplay.core.jit import kernel
from interplay.planar.bodies import Bodies, Physics, allocate_bodies, view_bodies
from interplay.planar.contacts import allocate_scratch, apply_impulses, step_bodies
from interplay.planar.sight import cast_lidar, first_hit, in_cone, look, unobstructed

HALF_VIEW = 0.2 * np.pi  # 36 degrees, half the field of view
DEPTH = 10.0
AGENT_RADIUS = 0.5
ITEM_RADIUS = 0.25
DENSITY = 1.0


@dataclass(frozen=True)
class Disc:
    """A circle; `moving` or static."""

    x: float
    y: float
    vx: float = 0.0
    vy: float = 0.0
    angle: float = 0.0
    spin: float = 0.0
    radius: float = AGENT_RADIUS
    moving: bool = True


@dataclass(frozen=True)
class Slab:
    """A rectangle, `width` along its own x axis; static unless `moving`."""

    x: float
    y: float
    width: float
    height: float
    angle: float = 0.0
    vx: float = 0.0
    vy: float = 0.0
    spin: float = 0.0
    moving: bool = False


Shape = Disc | Slab


def place(bodies: Bodies, w: int, row: int, shape: Shape) -> None:
    """Writes one shape into a row of world w."""
    bodies.present[w, row] = True
    bodies.position[w, row] = shape.x, shape.y
    bodies.angle[w, row] = shape.angle
    bodies.turn[w, row] = np.cos(shape.angle), np.sin(shape.angle)
    bodies.velocity[w, row] = shape.vx, shape.vy
    bodies.spin[w, row] = shape.spin
    if isinstance(shape, Disc):
        bodies.radius[w, row] = shape.radius
        mass = DENSITY * np.pi * shape.radius**2
        inertia = 0.5 * mass * shape.radius**2
    else:
        bodies.half[w, row] = shape.width / 2, shape.height / 2
        mass = DENSITY * shape.width * shape.height
        inertia = mass * (shape.width**2 + shape.height**2) / 12
    bodies.inverse_mass[w, row] = 1 / mass if shape.moving else 0.0
    bodies.inverse_inertia[w, row] = 1 / inertia if shape.moving else 0.0


class Room:
    """W worlds of shapes. Worlds may differ, but row i is solid in all of them or in none.

    Args:
        worlds: one list of shapes per world, moving ones first, all of the same length.
        items: one list of sensors per world (rows after the solid ones).
        physics: fields of `Physics` that differ from the preset's.
    """

    def __init__(
        self, worlds: list[list[Shape]], items: list[list[Disc]] | None = None, **physics: Any
    ) -> None:
        items = items or [[] for _ in worlds]
        rows = [list(solid) + list(loose) for solid, loose in zip(worlds, items, strict=True)]
        self.table = allocate_bodies(len(worlds), len(rows[0]))
        for w, shapes in enumerate(rows):
            for row, shape in enumerate(shapes):
                place(self.bodies, w, row, shape)
        values = {
            "num_solid": len(worlds[0]),
            "wall": np.inf,
            "substeps": 2,
            "h": 1 / 60,
            "damping": 0.8,
            "pade": False,
            "friction": 0.2,
            "restitution": 0.0,
        }
        self.physics = Physics(**(values | physics))
        self.scratch = allocate_scratch(1, self.physics.num_solid)
        self.dropped = 0

    @property
    def bodies(self) -> Bodies:
        """The table's arrays, as views."""
        return view_bodies(self.table)

    @property
    def shape(self) -> tuple[int, int]:
        return self.table.shape

    def step(self, impulse: np.ndarray | None = None, steps: int = 1) -> None:
        """Steps all worlds; `impulse` (W, M, 3) drives the first M bodies in every step."""
        if impulse is None:
            impulse = np.zeros((self.shape[0], 0, 3))
        self.dropped += run(self.table, self.physics, self.scratch, np.asarray(impulse, float), steps)

    def drive(self, pushes: np.ndarray) -> None:
        """One step with impulses (W, M, 2) N s in world axes on the first M bodies."""
        m = pushes.shape[1]
        c, s = self.bodies.turn[:, :m, 0], self.bodies.turn[:, :m, 1]
        x, y = pushes[..., 0], pushes[..., 1]
        self.step(np.stack([c * x + s * y, c * y - s * x, np.zeros_like(x)], axis=-1))

    def masses(self) -> tuple[np.ndarray, np.ndarray]:
        """(W, N) masses and moments of inertia; 0 for static bodies, so that sums run over what moves."""
        with np.errstate(divide="ignore"):
            m = np.where(self.bodies.inverse_mass > 0, 1 / self.bodies.inverse_mass, 0.0)
            i = np.where(self.bodies.inverse_inertia > 0, 1 / self.bodies.inverse_inertia, 0.0)
        return m, i

    def energy(self) -> np.ndarray:
        """(W,) kinetic energy in J."""
        m, i = self.masses()
        return 0.5 * (m * (self.bodies.velocity**2).sum(-1) + i * self.bodies.spin**2).sum(-1)

    def momentum(self) -> np.ndarray:
        """(W, 2) linear momentum in N s."""
        return (self.masses()[0][..., None] * self.bodies.velocity).sum(1)

    def angular_momentum(self) -> np.ndarray:
        """(W,) angular momentum about the origin in N m s."""
        m, i = self.masses()
        x, v = self.bodies.position, self.bodies.velocity
        orbit = m * (x[..., 0] * v[..., 1] - x[..., 1] * v[..., 0])
        return (orbit + i * self.bodies.spin).sum(-1)

    def visible(self, observers: int, items_block: bool = True) -> np.ndarray:
        """(W, observers, N) bool by `look`."""
        seen = np.ones((self.shape[0], observers, self.shape[1]), bool)
        look_all(self.table, seen, DEPTH, np.cos(HALF_VIEW), np.sin(HALF_VIEW), items_block, self.physics)
        return seen


@kernel
def run(bodies, physics, scratch, impulse, steps):
    """Steps every world; returns the contacts dropped."""
    dropped = 0
    for w in range(bodies.shape[0]):
        for _ in range(steps):
            apply_impulses(bodies, impulse, 0, w)
            dropped += step_bodies(bodies, physics, scratch, 0, w)
    return dropped


@kernel
def run_chunk(bodies, physics, scratch, thread, first, end):
    """One step of the worlds first .. end - 1 on one thread's scratch."""
    for w in range(first, end):
        step_bodies(bodies, physics, scratch, thread, w)


@kernel
def look_all(bodies, seen, depth, cosine, sine, items_block, physics):
    """Vision of the first bodies in every world."""
    for w in range(seen.shape[0]):
        look(
            bodies,
            seen,
            0,
            seen.shape[1],
            depth,
            cosine,
            sine,
            items_block,
            physics.num_solid,
            physics.wall,
            w,
        )


@kernel
def sees(bodies, i, j, depth, cosine, sine, last, wall):
    """Whether body i of world 0 sees body j: its centre lies in the cone, and nothing before it blocks the ray to it."""
    observer, other = bodies[0, i], bodies[0, j]
    dx, dy = other.x - observer.x, other.y - observer.y
    c, s = observer.cosine, observer.sine
    if not in_cone(c * dx + s * dy, c * dy - s * dx, depth, cosine, sine):
        return False
    return (dx == 0.0 and dy == 0.0) or unobstructed(bodies[0], i, j, last, wall)


@kernel
def hit(bodies, x0, y0, x1, y1, ignore, last, wall):
    """`first_hit` in world 0."""
    return first_hit(bodies, 0, x0, y0, x1, y1, ignore, last, wall)


@kernel
def aim_all(bodies, length, hits, last, wall):
    """What every observer's ray along its heading meets first: hits (W, observers), written."""
    for w in range(hits.shape[0]):
        for i in range(hits.shape[1]):
            x, y = bodies[w, i].x, bodies[w, i].y
            x1, y1 = x + length * bodies[w, i].cosine, y + length * bodies[w, i].sine
            what, _ = first_hit(bodies, w, x, y, x1, y1, i, last, wall)
            hits[w, i] = what


@kernel
def scan(bodies, hits, distance, i, field, depth, last, wall):
    """`cast_lidar` in world 0."""
    cast_lidar(bodies, hits, distance, i, field, depth, last, wall, 0)
