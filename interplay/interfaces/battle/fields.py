"""The table of the field (`see_field`) read for a whole side: rows B, units K, own ones first."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from gymnasium import spaces

from interplay.core.errors import UserError
from interplay.interfaces.nests import Array, Nest
from interplay.worlds.battle.config import TICKS_PER_SECOND
from interplay.worlds.battle.observe import ALIVE, FIELD, UNIT_TYPE, X, Y
from interplay.worlds.battle.units import UNITS

CELL = 2.0  # side of a cell, in the world's units
TYPES = tuple(UNITS)
FLIES = np.array(["flies" in unit.attributes for unit in UNITS.values()])
HITS_AIR = np.array(["hits_air" in unit.attributes for unit in UNITS.values()])
RANGES = np.array([unit.range for unit in UNITS.values()])
DAMAGES = np.array([unit.damage * unit.strikes for unit in UNITS.values()])  # of an attack, without bonus
PERIODS = np.array([unit.cooldown * TICKS_PER_SECOND for unit in UNITS.values()])


class Field(NamedTuple):
    """The numbers of a table that are used more than once."""

    table: Array  # (B, K, FIELD) float32
    alive: Array  # (B, K) bool
    types: Array  # (B, K) int64 rows of `UNITS`; 0 of the dead
    row: Array  # (B, K) int64 cell, from the north
    column: Array  # (B, K) int64, from the own side


def check_side(owner: str, space: spaces.Space, grid: int, types: tuple[str, ...]) -> int:
    """Number of members of a side's observation.

    Args:
        types: the units that the picture has room for.
    """
    members = space.spaces if isinstance(space, spaces.Tuple) else ()
    one = members[0] if members else None
    if not isinstance(one, spaces.Dict) or "field" not in one.spaces or "legal" not in one.spaces:
        raise UserError(
            f"{owner}: the observation is no tuple of a side's units with the table of the field; make the world with "
            "see_field = true and group the side (InterfacedWorld with teams)"
        )
    table = one["field"]
    assert isinstance(table, spaces.Box)
    size = 2 * float(table.high[0, X]), 2 * float(table.high[0, Y])
    if size != (grid * CELL, grid * CELL):
        raise UserError(
            f"{owner}: a field of {size[0]:g} x {size[1]:g}; it shows {grid} x {grid} cells of {CELL:g} x {CELL:g}, give width and height {grid * CELL:g}"
        )
    other = [TYPES[int(number)] for number in table.high[:, UNIT_TYPE] if TYPES[int(number)] not in types]
    if other:
        raise UserError(f"{owner}: it has no place for {other[0]}; it shows {', '.join(types)}")
    return len(members)


def read_field(obs: Nest, grid: int) -> Field:
    """The table of a side, as all of its members see it."""
    table = obs[0]["field"]
    assert table.shape[-1] == FIELD
    half = grid * CELL / 2
    row = np.clip((half - table[..., Y]) // CELL, 0, grid - 1).astype(np.int64)
    column = np.clip((table[..., X] + half) // CELL, 0, grid - 1).astype(np.int64)
    return Field(table, table[..., ALIVE] > 0, table[..., UNIT_TYPE].astype(np.int64), row, column)


def shared_cells(field: Field, members: int) -> Array:
    """(B,) number of living ground units of the own side that share a cell with another one, and so its orders."""
    ground = field.alive[:, :members] & ~FLIES[field.types[:, :members]]
    cell = np.where(ground, field.row[:, :members] * 1000 + field.column[:, :members], -1)
    same = (cell[:, :, None] == cell[:, None, :]) & ground[:, :, None]
    return (same.sum(axis=2) > 1).sum(axis=1)
