"""The bodies of a planar world: one table per world, struct of arrays, solid bodies first.

Rows are fixed for a world's whole life: row i means the same body from reset to reset; `present` says whether it
stands in the room now. Solid bodies (agents, boxes) take the rows 0 .. num_solid - 1, dynamic ones before static
ones; sensors (items: no contacts, they never move) take the rest. Walls are four half-planes, not bodies.

Units: metres, kilograms, seconds, radians; angles counter-clockwise, 0 = facing +x.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Bodies(NamedTuple):
    """Axes: W worlds, N bodies. All float64 unless said otherwise."""

    present: np.ndarray  # (W, N) bool, stands in the room now
    position: np.ndarray  # (W, N, 2) m, centre of mass
    angle: np.ndarray  # (W, N) rad, unwrapped
    turn: np.ndarray  # (W, N, 2) cosine and sine of angle
    velocity: np.ndarray  # (W, N, 2) m/s
    spin: np.ndarray  # (W, N) rad/s
    half: np.ndarray  # (W, N, 2) m, half extents of a box; (0, 0) for a circle
    radius: np.ndarray  # (W, N) m, radius of a circle; 0 for a box
    inverse_mass: np.ndarray  # (W, N) 1/kg, 0 = static
    inverse_inertia: np.ndarray  # (W, N) 1/(kg m^2), 0 = static


class Physics(NamedTuple):
    """The numbers of the physics, survival specification section 2; made from a settings model."""

    num_solid: int  # rows 0 .. num_solid - 1 of the table are solid
    wall: float  # m, inner half side of the room; walls at +-wall; np.inf = no walls
    substeps: int  # per environment step
    h: float  # s, one substep
    damping: float  # 1/s, linear and angular
    pade: bool  # damping rule: False v(1 - hc) (Box2D 2.3), True v/(1 + hc) (Box2D >= 2.4)
    friction: float
    restitution: float


def allocate_bodies(num_worlds: int, num_bodies: int) -> Bodies:
    """Absent bodies at the origin, at rest, facing +x."""
    w, n = num_worlds, num_bodies
    turn = np.zeros((w, n, 2))
    turn[..., 0] = 1.0
    return Bodies(
        present=np.zeros((w, n), bool),
        position=np.zeros((w, n, 2)),
        angle=np.zeros((w, n)),
        turn=turn,
        velocity=np.zeros((w, n, 2)),
        spin=np.zeros((w, n)),
        half=np.zeros((w, n, 2)),
        radius=np.zeros((w, n)),
        inverse_mass=np.zeros((w, n)),
        inverse_inertia=np.zeros((w, n)),
    )
