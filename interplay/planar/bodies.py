"""The bodies of a planar world: one table of records per batch, solid bodies first.

Rows are fixed for a world's whole life: row i is the same body from reset to reset, and `present` marks bodies in the room. Solid bodies
(agents, boxes) take the rows 0 .. num_solid - 1, dynamic ones before static ones. Sensors (items: no contacts, they never move) take the
rest. Walls are four half-planes, not bodies.

Kernels get the table, ``bodies[w, i].x``; the host reads it through the views of `Bodies`.

Units: metres, kilograms, seconds, radians; angles counter-clockwise, 0 = facing +x.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from interplay.core.jit import records

# Fields of a body for physics and sight. A world appends its own: `body_record`.
_FIELDS = (
    ("x", np.float64),  # m, centre of mass
    ("y", np.float64),
    ("angle", np.float64),  # rad, unwrapped
    ("cosine", np.float64),  # of the angle
    ("sine", np.float64),
    ("vx", np.float64),  # m/s
    ("vy", np.float64),
    ("spin", np.float64),  # rad/s
    ("half_x", np.float64),  # m, half extents of a box; 0 for a circle
    ("half_y", np.float64),
    ("radius", np.float64),  # m, of a circle; 0 for a box
    ("inverse_mass", np.float64),  # 1/kg, 0 = static
    ("inverse_inertia", np.float64),  # 1/(kg m^2), 0 = static
    ("present", np.bool_),  # is in the room
)
_PAIRS = {"position": "x", "turn": "cosine", "velocity": "vx", "half": "half_x"}


class Bodies(NamedTuple):
    """A table as arrays. Axes: W worlds, N bodies; float64 unless noted."""

    present: np.ndarray  # (W, N) bool, is in the room
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
    """The numbers of the physics, specification survival 2; made from a settings model."""

    num_solid: int  # rows 0 .. num_solid - 1 of the table are solid
    wall: float  # m, inner half side of the room; walls at +-wall; np.inf = no walls
    substeps: int  # per environment step
    h: float  # s, one substep
    damping: float  # 1/s, linear and angular
    pade: bool  # damping rule: False v(1 - hc) (Box2D 2.3), True v/(1 + hc) (Box2D >= 2.4)
    friction: float
    restitution: float


def body_record(own: Sequence[tuple[str, type]] = ()) -> np.dtype:
    """The record of one body: fields for physics and sight, then a world's own."""
    return np.dtype([*_FIELDS, *own], align=True)


def allocate_bodies(num_worlds: int, num_bodies: int, record: np.dtype | None = None) -> np.ndarray:
    """A table (W, N) of absent bodies at the origin, at rest, facing +x; `record` is a `body_record`."""
    table = records((num_worlds, num_bodies), body_record() if record is None else record)
    table["cosine"] = 1.0
    return table


@cache
def _pairs_of(record: np.dtype) -> np.dtype:
    """The record's fields of two adjacent numbers; cached, since views are taken many times in a picture."""
    fields: Any = record.fields
    return np.dtype(
        {
            "names": list(_PAIRS),
            "formats": [(np.float64, 2)] * len(_PAIRS),
            "offsets": [fields[first][1] for first in _PAIRS.values()],
            "itemsize": record.itemsize,
        }
    )


def view_bodies(table: np.ndarray) -> Bodies:
    """The table's arrays; writing to them writes to it."""
    plain = table.view(np.ndarray)
    pairs = plain.view(_pairs_of(plain.dtype))
    return Bodies(*(pairs[name] if name in _PAIRS else plain[name] for name in Bodies._fields))
