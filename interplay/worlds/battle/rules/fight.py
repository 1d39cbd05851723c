"""Attacks of one tick, from one state and applied together, and the deaths that follow (specification 4.3)."""

import numpy as np

from interplay.core.jit import phase
from interplay.core.seeding import DRAWS, EPISODE, SEED
from interplay.kernels.philox import integer_below
from interplay.worlds.battle.config import (
    BARRIER_COOLDOWN,
    BARRIER_POINTS,
    BARRIER_SECONDS,
    LEAST_DAMAGE,
    TICKS_PER_SECOND,
)
from interplay.worlds.battle.rules.sides import can_hit, end_of, first_of, side_of
from interplay.worlds.battle.state import NONE
from interplay.worlds.battle.units import BOUNCES, SPLASH

NEARLY = 1e-9  # distance below which a rest is ignored
JITTERS = 4  # -1, 0, 1, 2 ticks
BARRIER_PERIOD = round(BARRIER_COOLDOWN * TICKS_PER_SECOND)  # ticks from one opening to the next
BARRIER_CLOSES = BARRIER_PERIOD - round(BARRIER_SECONDS * TICKS_PER_SECOND)  # on the clock


@phase
def distance(one, other):
    """Between centres; both UNIT."""
    across, up = other.x - one.x, other.y - one.y
    return np.sqrt(across * across + up * up)


@phase
def damage_of(attacker, target):
    """Points of a strike, with the bonus against the target; both BODY."""
    earns = (attacker.hits_light and target.light) or (attacker.hits_armoured and target.armoured)
    return attacker.damage + attacker.bonus if earns else attacker.damage


@phase
def take_aim(state, body, rules, scratch, thread, w):
    """Marks the units that attack in this tick: weapon ready, target in reach. Returns whether there are any."""
    anybody = False
    for a in range(rules.slots):
        unit, target = state.unit[w, a], scratch.target[thread, a]
        scratch.marked[thread, a] = False
        if not unit.alive or target == NONE:
            continue
        if not state.unit[w, target].alive:
            scratch.target[thread, a] = NONE
            scratch.goal[thread, a, 0], scratch.goal[thread, a, 1] = unit.x, unit.y
            continue
        reach = body[a].range + body[a].radius + body[target].radius
        gap = distance(unit, state.unit[w, target]) - reach
        scratch.gap[thread, a] = gap
        if gap <= NEARLY and unit.cooldown < 1.0:
            scratch.marked[thread, a] = True
            anybody = True
    return anybody


@phase
def attack(state, body, rules, scratch, thread, w):
    """All attacks of the tick; a unit that dies in this tick still attacks."""
    for a in range(rules.slots):
        if not scratch.marked[thread, a]:
            continue
        unit, own, target = state.unit[w, a], body[a], scratch.target[thread, a]
        unit.cooldown += own.period
        if rules.jitter:
            draw = integer_below(
                state.stream[w, SEED], state.stream[w, EPISODE], state.stream[w, DRAWS], JITTERS
            )
            state.stream[w, DRAWS] += np.uint64(1)
            unit.cooldown = max(unit.cooldown + draw - 1.0, 0.0)
        if own.bursts:
            unit.health = 0.0
            continue
        for _ in range(own.strikes):
            hurt(state.unit[w, target], body[target], damage_of(own, body[target]))
        if own.bounces:
            bounce(state, body, rules, w, a, target)


@phase
def bounce(state, body, rules, w, a, target):
    """The shot leaps to the nearest enemy not yet hit, twice at most; ties: the lower slot."""
    enemy = 1 - side_of(rules, a)
    first, second, place = np.int64(target), np.int64(NONE), np.int64(target)
    for leap in range(len(BOUNCES)):
        following, least = np.int64(NONE), rules.bounce_radius
        for b in range(first_of(rules, enemy), end_of(rules, enemy)):
            if b in (first, second) or not state.unit[w, b].alive:
                continue
            edge_gap = distance(state.unit[w, place], state.unit[w, b]) - body[b].radius
            if edge_gap < least or (edge_gap == least and following == NONE):
                following, least = np.int64(b), edge_gap
        if following == NONE:
            return
        hurt(state.unit[w, following], body[following], BOUNCES[leap])
        second = place = following


@phase
def hurt(unit, own, damage):
    """One strike: first an open barrier, then the shield, both without armour; the rest costs health."""
    left = damage
    if own.has_barrier:
        if unit.barrier_clock == 0:
            unit.barrier_clock, unit.barrier = BARRIER_PERIOD, BARRIER_POINTS
        if unit.barrier_clock > BARRIER_CLOSES:
            kept = min(unit.barrier, left)
            unit.barrier -= kept
            left -= kept
    kept = min(unit.shield, left)
    unit.shield -= kept
    left -= kept
    if left > 0.0:
        unit.health -= max(left - own.armour, LEAST_DAMAGE - (damage - left), 0.0)
    unit.calm = 0


@phase
def bury_dead(state, body, rules, scratch, thread, w):
    """Units without health die; Banelings then burst, and those killed by it die in turn."""
    again = True
    while again:
        again = False
        for a in range(rules.slots):
            unit = state.unit[w, a]
            dies = unit.alive and unit.health <= 0.0
            scratch.marked[thread, a] = dies
            if dies:
                unit.alive, unit.health, unit.shield, unit.barrier, unit.cooldown = False, 0.0, 0.0, 0.0, 0.0
        for a in range(rules.slots):
            if scratch.marked[thread, a] and body[a].bursts:
                burst(state, body, rules, w, a)
                again = True


@phase
def burst(state, body, rules, w, a):
    """Hits all enemies on the ground around it."""
    enemy = 1 - side_of(rules, a)
    for b in range(first_of(rules, enemy), end_of(rules, enemy)):
        unit = state.unit[w, b]
        near = distance(state.unit[w, a], unit) - body[b].radius <= SPLASH
        if unit.alive and near and can_hit(body[a], body[b]):
            hurt(unit, body[b], damage_of(body[a], body[b]))
