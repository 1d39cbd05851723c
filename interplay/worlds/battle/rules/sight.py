"""Distance and direction of sight and shots (specification 5.1 and 5.2). Helpers: they change nothing."""

import numpy as np

from interplay.core.jit import phase
from interplay.worlds.battle.config import LEAST_RANGE, SHOOT_RANGE, SIGHT_RANGE
from interplay.worlds.battle.rules.fight import distance
from interplay.worlds.battle.rules.sides import ahead, can_hit, side_of


@phase
def sight_of(rules, own):
    """Radius of sight, between centres."""
    return own.sight if rules.unit_ranges else SIGHT_RANGE


@phase
def reach_of(rules, own):
    """Range of attacks, between centres."""
    return max(own.range, LEAST_RANGE) if rules.unit_ranges else SHOOT_RANGE


@phase
def facing(state, rules, w, a):
    """Across and up of the direction a unit looks into, in its side's frame."""
    if rules.look_directions == 0:
        return 1.0, 0.0
    turn = 2.0 * np.pi * state.look[w, a] / rules.look_directions
    return np.cos(turn), np.sin(turn)


@phase
def in_cone(rules, side, look, unit, other, gap):
    """Whether another unit at distance `gap` is in the cone of a unit that looks into `look`, edges included."""
    if rules.look_directions == 0:
        return True
    along = ahead(side) * (other.x - unit.x) * look[0] + (other.y - unit.y) * look[1]
    return along >= rules.look_cosine * gap


@phase
def can_shoot(rules, own, target, gap, inside):
    """Whether an enemy at distance `gap`, `inside` the cone or not, may be shot at; both BODY."""
    return inside and gap <= reach_of(rules, own) and can_hit(own, target)


@phase
def reaches(state, body, rules, w, a, b):
    """Whether a unit may shoot at an enemy now."""
    unit, other = state.unit[w, a], state.unit[w, b]
    gap = distance(unit, other)
    inside = in_cone(rules, side_of(rules, a), facing(state, rules, w, a), unit, other, gap)
    return other.alive and can_shoot(rules, body[a], body[b], gap, inside)
