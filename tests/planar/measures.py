"""The contact-accuracy measurements of specification survival 15.

Each function sets up a scene, runs it and returns figures. The tests hold them to the specification's bounds;
``bench/contacts.py`` prints them.
"""

from __future__ import annotations

import numpy as np

from tests.planar.overlaps import deepest_overlap
from tests.planar.rooms import AGENT_RADIUS, Disc, Room, Slab

FREE = {"damping": 0.0, "friction": 0.0}
THRUST = 0.25  # N s per step and axis
TORQUE = 0.0125  # N m s per step


# -- 1. momentum --------------------------------------------------------------------------------------


def pairs(restitution: float) -> Room:
    """Two circles that meet, with three offsets."""
    worlds = [[Disc(-2, 0, vx=5), Disc(2, y, vx=-3)] for y in (0.0, 0.3, 0.7)]
    return Room(worlds, restitution=restitution, damping=0.0)


def cluster(restitution: float, seed: int = 0) -> Room:
    """Twenty bodies on a grid that fly at each other: circles and boxes."""
    rng = np.random.default_rng(seed)
    bodies: list = []
    for k in range(20):
        x, y = 1.6 * (k % 5) - 3.2, 1.6 * (k // 5) - 2.4
        vx, vy = -x + rng.normal(), -y + rng.normal()
        if k < 12:
            bodies.append(Disc(x, y, vx, vy, spin=rng.normal()))
        else:
            w, h = rng.uniform(0.5, 1.2, 2)
            bodies.append(Slab(x, y, w, h, rng.uniform(0, 3), vx, vy, rng.normal(), moving=True))
    return Room([bodies], restitution=restitution, damping=0.0)


def momentum_drift(room: Room, steps: int = 300) -> tuple[float, float]:
    """(linear, angular) drift, relative to the sum of the bodies' own momenta."""
    m, inertia = room.masses()
    speed = np.linalg.norm(room.bodies.velocity, axis=-1)
    linear_scale = (m * speed).sum(-1)
    arm = np.linalg.norm(room.bodies.position, axis=-1)
    angular_scale = (m * speed * arm + inertia * abs(room.bodies.spin)).sum(-1)
    p, spin = room.momentum(), room.angular_momentum()
    before = room.bodies.velocity.copy()
    room.step(steps=steps)
    if np.array_equal(before, room.bodies.velocity):
        raise AssertionError("the bodies never met")
    linear = np.linalg.norm(room.momentum() - p, axis=-1) / linear_scale
    angular = abs(room.angular_momentum() - spin) / angular_scale
    return float(linear.max()), float(angular.max())


# -- 2. energy ----------------------------------------------------------------------------------------


def energy_growth(seed: int, boxes_dynamic: bool, steps: int = 300) -> float:
    """The largest relative growth of the energy in one step: crowded room, e = 0, no motors, no damping.

    Eight circles and six boxes; three of the boxes move if `boxes_dynamic`.
    """
    rng = np.random.default_rng(seed)
    cells = rng.permutation(25)[:14]
    shapes: list = []
    for k, cell in enumerate(cells):
        x, y = 1.6 * (cell % 5) - 3.2, 1.6 * (cell // 5) - 3.2
        vx, vy = rng.normal(0, 6, 2)
        if k < 8:
            shapes.append(Disc(x, y, vx, vy, spin=rng.normal()))
            continue
        w, h = rng.uniform(0.3, 1.0, 2)
        angle = rng.uniform(0, 3)
        if boxes_dynamic and k < 11:
            shapes.append(Slab(x, y, w, h, angle, vx, vy, moving=True))
        else:
            shapes.append(Slab(x, y, w, h, angle))
    room = Room([shapes], wall=4.2, damping=0.0)
    worst = 0.0
    for _ in range(steps):
        before = room.energy()[0]
        room.step()
        if before > 0.0:
            worst = max(worst, room.energy()[0] / before - 1.0)
    return worst


def bounce_energy_error(offset: float) -> float:
    """Relative energy error of an elastic collision of two equal circles, `offset` metres off the line."""
    room = Room([[Disc(-2, 0, vx=5), Disc(2, offset, vx=-3)]], restitution=1.0, **FREE)
    before = room.energy()[0]
    room.step(steps=60)
    return abs(room.energy()[0] / before - 1.0)


# -- 3. restitution -----------------------------------------------------------------------------------


def wall_bounce(restitution: float, speed: float) -> float:
    """Speed after over speed before, head-on against a wall."""
    room = Room([[Disc(0, 0, vx=speed)]], wall=3.0, restitution=restitution, **FREE)
    room.step(steps=int(60 * 2.8 / speed))
    return -float(room.bodies.velocity[0, 0, 0]) / speed


def pair_bounce(restitution: float, speed: float) -> float:
    """Relative speed after over before, two equal circles head-on."""
    room = Room([[Disc(-1, 0, vx=speed), Disc(1, 0)]], restitution=restitution, **FREE)
    room.step(steps=int(60 * 2 / speed))
    v = room.bodies.velocity[0, :, 0]
    return float(v[1] - v[0]) / speed


# -- 4. terminal speeds -------------------------------------------------------------------------------


def terminal_speeds(pade: bool, steps: int = 600) -> tuple[float, float]:
    """(m/s, rad/s) after constant full control."""
    room = Room([[Disc(0, 0)], [Disc(0, 0)]], pade=pade)
    impulse = np.zeros((2, 1, 3))
    impulse[0, 0, 0] = THRUST
    impulse[1, 0, 2] = TORQUE
    room.step(impulse, steps)
    return float(room.bodies.velocity[0, 0, 0]), float(room.bodies.spin[1, 0])


def decay_error(steps: int = 200) -> float:
    """Largest relative error of a free decay against v0 d^(2n)."""
    room = Room([[Disc(0, 0, vx=7.0, vy=-2.0, spin=3.0)]])
    d = 1 - 0.8 / 60
    worst = 0.0
    for n in range(1, steps + 1):
        room.step()
        now = np.array([*room.bodies.velocity[0, 0], room.bodies.spin[0, 0]])
        worst = max(worst, float(abs(now / (np.array([7.0, -2.0, 3.0]) * d ** (2 * n)) - 1).max()))
    return worst


# -- 5. tunnelling ------------------------------------------------------------------------------------

SPEEDS = (5.0, 12.0, 16.5, 30.0, 45.0, 80.0, 120.0)
DIRECTIONS = 64


def wall_escape(speed: float, steps: int = 60) -> float:
    """How far (m) a circle ever gets into a wall, over all directions."""
    angles = 2 * np.pi * np.arange(DIRECTIONS) / DIRECTIONS
    worlds = [[Disc(1.0, -2.0, speed * np.cos(a), speed * np.sin(a))] for a in angles]
    room = Room(worlds, wall=9.9, damping=0.0)
    worst = 0.0
    for _ in range(steps):
        room.step()
        worst = max(worst, float(abs(room.bodies.position).max()) + AGENT_RADIUS - 9.9)
    return worst


def box_escape(speed: float, slant: float, steps: int = 60) -> tuple[float, float]:
    """A circle flies at a thin static box, over all directions of the whole scene.

    Args:
        slant: rad, between the flight and the box's normal.

    Returns:
        (m the circle's front ever got beyond the box's face, worlds in which its centre got to the far side).
    """
    worlds = []
    angles = 2 * np.pi * np.arange(DIRECTIONS) / DIRECTIONS
    for a in angles:
        v = speed * np.cos(a + slant), speed * np.sin(a + slant)
        worlds.append([Disc(0.1, 0.2, *v), Slab(4 * np.cos(a), 4 * np.sin(a), 0.1, 40.0, a)])
    room = Room(worlds, damping=0.0)
    reach, through = -np.inf, np.zeros(DIRECTIONS, bool)
    for _ in range(steps):
        room.step()
        along = (room.bodies.position[:, 0] * np.stack([np.cos(angles), np.sin(angles)], -1)).sum(-1)
        reach = max(reach, float((along + AGENT_RADIUS - 3.95).max()))
        through |= along > 4.0
    return max(reach, 0.0), int(through.sum())


# -- 6. penetration -----------------------------------------------------------------------------------


def row_of_boxes(steps: int = 400) -> tuple[float, float]:
    """(peak, settled) overlap in m: an agent presses three boxes against the wall."""
    boxes = [(5.3, 0.0, 1.0, 1.5), (6.6, 0.2, 1.2, 1.0), (8.2, -0.1, 1.4, 2.0)]
    room = Room([[Disc(4, 0)] + [Slab(*box, moving=True) for box in boxes]], wall=9.9)
    impulse = np.array([[[THRUST, 0.0, 0.0]]])
    depths = []
    for _ in range(steps):
        room.step(impulse)
        depths.append(deepest_overlap(room))
    return max(depths), max(depths[-100:])


def crowd(seed: int = 0, steps: int = 400) -> tuple[float, float]:
    """(peak, settled) overlap in m: ten agents are driven at the centre, six boxes in their way."""
    rng = np.random.default_rng(seed)
    shapes: list = []
    for k in range(10):
        a = 2 * np.pi * k / 10
        shapes.append(Disc(6 * np.cos(a), 6 * np.sin(a)))
    for k in range(6):
        a = 2 * np.pi * k / 6
        size = rng.uniform(0.5, 1.6), rng.uniform(0.5, 2.0)
        shapes.append(Slab(3 * np.cos(a), 3 * np.sin(a), *size, moving=True))
    room = Room([shapes], wall=9.9)
    depths = []
    for _ in range(steps):
        centre = room.bodies.position[:, :10]
        room.drive(-THRUST * centre / np.maximum(np.linalg.norm(centre, axis=-1, keepdims=True), 1e-9))
        depths.append(deepest_overlap(room))
    return max(depths), max(depths[-100:])


# -- 7. overlapped spawn ------------------------------------------------------------------------------


def overlapped_spawn(steps: int = 60) -> tuple[int, float]:
    """(first step from which the overlap stays below 20 mm, fastest body from there on in m/s)."""
    room = Room([[Disc(0, 0), Disc(0.3, 0.1), Slab(0.2, -0.5, 1.5, 1.0)]])
    deep, speeds = [], []
    for _ in range(steps):
        room.step()
        deep.append(deepest_overlap(room) >= 0.020)
        speeds.append(float(np.linalg.norm(room.bodies.velocity[0], axis=-1).max()))
    resolved = max((n for n, d in enumerate(deep) if d), default=-1) + 1
    return resolved + 1, max(speeds[resolved:])


# -- 8. friction --------------------------------------------------------------------------------------


def slide_along_wall(friction: float = 0.2, speed: float = 3.0, steps: int = 100) -> dict[str, np.ndarray]:
    """A circle slides along the upper wall while it is pressed against it.

    Returns:
        per step: `v` (m/s along the wall), `spin` (rad/s), `ratio` (tangential over normal impulse).
    """
    wall, press = 3.0, 0.1
    room = Room([[Disc(-1, wall - AGENT_RADIUS, vx=speed)]], wall=wall, damping=0.0, friction=friction)
    mass = room.masses()[0][0, 0]
    v, spin, ratio = [], [], []
    for _ in range(steps):
        room.bodies.position[0, 0, 0] = 0.0  # the side walls are not part of the experiment
        before = room.bodies.velocity[0, 0].copy()
        room.drive(np.array([[[0.0, press]]]))
        change = mass * (room.bodies.velocity[0, 0] - before)
        v.append(room.bodies.velocity[0, 0, 0])
        spin.append(room.bodies.spin[0, 0])
        ratio.append(abs(change[0]) / (press - change[1]))
    return {"v": np.array(v), "spin": np.array(spin), "ratio": np.array(ratio)}
