"""Sides and their directions. Helpers: they change nothing."""

import numpy as np

from interplay.core.jit import phase
from interplay.worlds.battle.state import EAST, FIRST_ATTACK, NONE, NORTH, RED, WEST

_SLANT = 0.7071067811865476
# By heading: north, south, east, west, and the diagonals clockwise from north-east.
_ACROSS = (0.0, 0.0, 1.0, -1.0, _SLANT, _SLANT, -_SLANT, -_SLANT)
_UP = (1.0, -1.0, 0.0, 0.0, _SLANT, -_SLANT, -_SLANT, _SLANT)


@phase
def side_of(rules, slot):
    """RED or BLUE."""
    return np.int64(slot >= rules.reds)


@phase
def first_of(rules, side):
    """A side's first slot."""
    return np.int64(0) if side == RED else rules.reds


@phase
def end_of(rules, side):
    """The slot after a side's last."""
    return rules.reds if side == RED else rules.slots


@phase
def ahead(side):
    """The sign of x towards the enemy: a side sees itself on the left, so blue's east is the field's west."""
    return 1.0 if side == RED else -1.0


@phase
def heading_of(rules, action):
    """The heading of a move; NONE for other actions."""
    if NORTH <= action <= WEST:
        return np.int64(action - NORTH)
    first_diagonal = FIRST_ATTACK + rules.enemies
    if first_diagonal <= action < first_look(rules):
        return np.int64(action - first_diagonal + WEST - NORTH + 1)
    return np.int64(NONE)


@phase
def move_of(rules, heading):
    """The action of a heading."""
    return (
        heading + NORTH
        if heading <= WEST - NORTH
        else heading - (WEST - NORTH + 1) + FIRST_ATTACK + rules.enemies
    )


@phase
def first_look(rules):
    """The action of looking ahead; the other directions follow."""
    return rules.actions - rules.look_directions


@phase
def across(side, heading):
    """x of a heading's unit vector on the field."""
    return ahead(side) * _ACROSS[heading]


@phase
def up(heading):
    """y of a heading's unit vector."""
    return _UP[heading]


@phase
def can_hit(attacker, target):
    """Whether the attacker's weapon can hit the target's kind of unit; both BODY."""
    return attacker.hits_air or not target.flies


assert (NORTH, EAST, WEST) == (2, 4, 5)
