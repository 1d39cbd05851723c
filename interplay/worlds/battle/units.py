"""Numbers of the units: game 4.10 at "normal" speed, 16 ticks a second (specification 4.2).

Source: sc2-techtree data of the Linux client; the Baneling's weapon and the Mutalisk's bounces from Liquipedia. Divisors of cooldowns in
states from SMAC, or the period rounded up (specification 5.3).
"""

from __future__ import annotations

from typing import Any, NamedTuple

# Points of HP and shield, armour per strike; points and number of an attack's strikes, bonus against an attribute; range from edge to
# edge; cooldown in seconds; speed per second; radius; sight; ticks of a state's cooldown.
_TABLE = """
unit      health shield armour damage strikes bonus against  range cooldown speed radius sight attributes        state_cooldown letter
immortal  200    100    1      20     1       30    armoured 6     1.450    2.25  0.75   9     armoured,protoss  24             I
zealot    100    50     1      8      2       0     -        0.1   1.200    2.25  0.5    9     light,protoss     22             Z
stalker   80     80     1      13     1       5     armoured 6     1.870    2.953 0.625  10    armoured,protoss,hits_air 35     S
mutalisk  120    0      0      9      1       0     -        3     1.525    4.0   0.5    11    light,zerg,hits_air,flies 25     U
hydralisk 90     0      0      12     1       0     -        5     0.825    2.25  0.625  9     light,zerg,hits_air 10           H
roach     145    0      1      16     1       0     -        4     2.000    2.25  0.5    9     armoured,zerg     32             R
zergling  35     0      0      5      1       0     -        0.1   0.696    2.953 0.375  8     light,zerg        11             L
baneling  30     0      0      16     1       19    light    0.25  0        2.5   0.375  8     zerg              1              B
marine    45     0      0      6      1       0     -        5     0.861    2.25  0.375  9     light,terran,hits_air 15         M
marauder  125    0      1      10     1       10    armoured 6     1.500    2.25  0.5625 10    armoured,terran   25             D
"""

SPLASH = 2.2  # a Baneling's blast, from its centre to the edge of what it hits
BOUNCES = (3.0, 1.0)  # points of a Mutalisk's second and third strike


class Unit(NamedTuple):
    """One type of unit. Lengths in world units, times in seconds unless noted."""

    health: float  # points
    shield: float  # points
    armour: float  # points off each strike that reaches the health
    damage: float  # points of a strike
    strikes: float  # of an attack
    bonus: float  # points more against targets with the attribute `against`
    against: str  # an attribute, or "-"
    range: float  # from edge to edge
    cooldown: float  # between attacks; 0 = it attacks once
    speed: float  # per second
    radius: float
    sight: float  # between centres, with `unit_ranges`
    attributes: frozenset[str]  # armoured, light, flies, hits_air, and the race
    state_cooldown: float  # ticks, divisor of the cooldown in a state
    letter: str  # in pictures


_TEXTS = ("unit", "against", "attributes", "letter")


def _read(cells: dict[str, str]) -> Unit:
    numbers: dict[str, Any] = {name: float(cell) for name, cell in cells.items() if name not in _TEXTS}
    attributes = frozenset(cells["attributes"].split(","))
    return Unit(**numbers, against=cells["against"], attributes=attributes, letter=cells["letter"])


_HEAD, *_ROWS = (row.split() for row in _TABLE.strip().splitlines())
UNITS: dict[str, Unit] = {row[0]: _read(dict(zip(_HEAD, row, strict=True))) for row in _ROWS}
"""Name -> numbers."""
