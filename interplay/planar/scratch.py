"""Work space of the contact solver: one row per thread, so that many worlds share little memory."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from interplay.core.jit import records

CIRCLE_PAIR = 0  # a and b are circles: the normal turns as they slide around each other
CIRCLE_FLAT = 1  # a is a circle, b a box or a wall
BOX_FLAT = 2  # a is a box, b a box or a wall

CONTACT = np.dtype(
    [
        ("kind", np.int64),
        ("a", np.int64),  # body row
        ("b", np.int64),  # body row, or num_solid for a wall
        ("nx", np.float64),  # unit normal from a to b
        ("ny", np.float64),
        ("separation", np.float64),  # m, negative = overlap
        ("ax", np.float64),  # m, lever arm: contact point - centre of a
        ("ay", np.float64),
        ("bx", np.float64),  # m, lever arm on b
        ("by", np.float64),
        ("near_x", np.float64),  # m, the lever arm on a, in a's own frame if a is a box
        ("near_y", np.float64),
        ("far_x", np.float64),  # m, the same on b
        ("far_y", np.float64),
        ("mass_n", np.float64),  # kg, effective mass along the normal
        ("mass_t", np.float64),  # kg, effective mass along the tangent (-ny, nx)
        ("bias", np.float64),  # m/s, the solver drives (normal velocity + bias) to >= 0
        ("impulse_n", np.float64),  # N s, accumulated, >= 0
        ("impulse_t", np.float64),  # N s, accumulated
        ("approach_x", np.float64),  # m/s, velocity of b against a before the solve
        ("approach_y", np.float64),
        ("regain", np.float64),  # (m/s)^2, what a bounce returns to the normal; see `solve.turn_pair`
    ]
)

MOTION = np.dtype(
    [
        ("vx", np.float64),  # m/s
        ("vy", np.float64),
        ("spin", np.float64),  # rad/s
        ("inverse_mass", np.float64),  # 1/kg
        ("inverse_inertia", np.float64),  # 1/(kg m^2)
    ]
)


class Scratch(NamedTuple):
    """Axes: T threads. Invalid after a call of `step_bodies`."""

    contacts: np.ndarray  # (T, 8 * num_solid + 16) CONTACT
    motion: np.ndarray  # (T, num_solid + 1) MOTION; the last row is the wall: at rest, infinitely heavy


def allocate_scratch(num_threads: int, num_solid: int) -> Scratch:
    """Work space for `num_threads` threads that each step one world at a time.

    Args:
        num_threads: T, threads that call `step_bodies` at the same time.
        num_solid: solid bodies of one world (`Physics.num_solid`).
    """
    capacity = 8 * num_solid + 16
    return Scratch(
        contacts=records((num_threads, capacity), CONTACT),
        motion=records((num_threads, num_solid + 1), MOTION),
    )
