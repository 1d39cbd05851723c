"""Choices of scripted sides among legal actions (specification 4.6): kernels over the whole batch."""

import numpy as np

from interplay.core.jit import kernel, phase
from interplay.worlds.battle.config import SIGHT_RANGE, TICKS
from interplay.worlds.battle.rules.fight import distance
from interplay.worlds.battle.rules.sides import (
    across,
    ahead,
    can_hit,
    end_of,
    first_look,
    first_of,
    move_of,
    side_of,
    up,
)
from interplay.worlds.battle.rules.sight import reach_of, reaches
from interplay.worlds.battle.state import FIRST_ATTACK, NONE, STOP

HIT_AND_RUN, ATTACK_NEAREST, ATTACK_MOVE, FOCUS_WEAKEST = range(4)
ALARM = 1.0  # distance beyond an enemy's range that is still too near
MELEE = 1.0  # units with less range never run
ARRIVED = 1.0  # distance from the target of an attack-move


@kernel
def choose_actions(state, body, table, mask, acting, tactic, action):
    """Writes the actions of all acting units, (W, A)."""
    rules = table[0]
    for w in range(acting.shape[0]):
        for a in range(rules.slots):
            if acting[w, a]:
                action[w, a] = choose(state, body, rules, mask[w, a], w, a, tactic)


@phase
def choose(state, body, rules, legal, w, a, tactic):
    """One unit's action."""
    unit, side = state.unit[w, a], side_of(rules, a)
    if tactic == FOCUS_WEAKEST:
        weakest = find_weakest(state, body, rules, legal, w, a)
        if weakest != NONE:
            return FIRST_ATTACK + weakest
    nearest = find_nearest(state, body, rules, w, a, False)
    # A weapon that is ready before the decision ends counts as ready.
    if tactic == HIT_AND_RUN and unit.cooldown >= TICKS and body[a].range >= MELEE:
        hunter = find_nearest(state, body, rules, w, a, True)
        if hunter == NONE:
            return np.int64(STOP)
        other = state.unit[w, hunter]
        return best_move(rules, legal, side, unit.x - other.x, unit.y - other.y)
    if tactic == ATTACK_MOVE and (nearest == NONE or distance(unit, state.unit[w, nearest]) >= SIGHT_RANGE):
        right, north = ahead(side) * rules.half_x / 2.0 - unit.x, -unit.y
        if right * right + north * north <= ARRIVED * ARRIVED:
            return np.int64(STOP)
        return best_move(rules, legal, side, right, north)
    if nearest == NONE:
        return np.int64(STOP)
    if attacks(state, body, rules, legal, w, a, nearest):
        return FIRST_ATTACK + nearest - first_of(rules, 1 - side)
    other = state.unit[w, nearest]
    right, north = other.x - unit.x, other.y - unit.y
    if distance(unit, other) <= reach_of(rules, body[a]):  # near enough, so out of the cone
        return look_towards(rules, side, right, north)
    return best_move(rules, legal, side, right, north)


@phase
def attacks(state, body, rules, legal, w, a, b):
    """Whether an attack is legal and has an effect."""
    attack = FIRST_ATTACK + b - first_of(rules, side_of(rules, b))
    return legal[attack] and (not rules.attack_anyone or reaches(state, body, rules, w, a, b))


@phase
def find_weakest(state, body, rules, legal, w, a):
    """The legal target with the fewest points left; NONE if none."""
    found, least = np.int64(NONE), np.inf
    enemy = 1 - side_of(rules, a)
    first = first_of(rules, enemy)
    for b in range(first, end_of(rules, enemy)):
        other = state.unit[w, b]
        if attacks(state, body, rules, legal, w, a, b) and other.health + other.shield < least:
            found, least = b - first, other.health + other.shield
    return found


@phase
def find_nearest(state, body, rules, w, a, hunts):
    """The slot of the nearest enemy by edges, or NONE: one that the unit can hit (`hunts`), else one that has it in range, or nearly."""
    found, least = np.int64(NONE), np.inf
    enemy = 1 - side_of(rules, a)
    for b in range(first_of(rules, enemy), end_of(rules, enemy)):
        other = state.unit[w, b]
        gap = distance(state.unit[w, a], other) - body[a].radius - body[b].radius
        near = can_hit(body[b], body[a]) and gap <= body[b].range + ALARM
        counts = near if hunts else can_hit(body[a], body[b])
        if other.alive and counts and gap < least:
            found, least = np.int64(b), gap
    return found


@phase
def best_move(rules, legal, side, right, north):
    """The legal move closest to a direction, so that units slide along edges; stopping if none fits."""
    found, most = np.int64(STOP), 0.0
    for heading in range(rules.moves):
        gain = right * across(side, heading) + north * up(heading)
        if legal[move_of(rules, heading)] and gain > most:
            found, most = np.int64(move_of(rules, heading)), gain
    return found


@phase
def look_towards(rules, side, right, north):
    """The action of looking into the direction nearest to one on the field."""
    turns = np.arctan2(north, ahead(side) * right) / (2.0 * np.pi) * rules.look_directions
    return first_look(rules) + np.int64(np.floor(turns + 0.5)) % rules.look_directions
