"""Walking, separation of bodies and the edges of the field (specification 4.3)."""

import numpy as np

from interplay.core.jit import phase
from interplay.worlds.battle.config import STRIDE
from interplay.worlds.battle.rules.fight import NEARLY
from interplay.worlds.battle.rules.sides import (
    across,
    ahead,
    end_of,
    first_look,
    first_of,
    heading_of,
    side_of,
    up,
)
from interplay.worlds.battle.rules.sight import reaches
from interplay.worlds.battle.state import FIRST_ATTACK, NONE

PUSHES = 2  # passes of a tick


@phase
def take_orders(state, body, rules, scratch, action, thread, w):
    """Reads the orders: a target, a destination, or a direction to look into, which takes the decision."""
    for a in range(rules.slots):
        unit, choice, side = state.unit[w, a], action[w, a], side_of(rules, a)
        unit.last = choice if unit.alive else 0
        scratch.target[thread, a] = NONE
        scratch.goal[thread, a, 0], scratch.goal[thread, a, 1] = unit.x, unit.y
        heading = heading_of(rules, choice)
        if heading != NONE:
            x, y = unit.x + STRIDE * across(side, heading), unit.y + STRIDE * up(heading)
            scratch.goal[thread, a, 0] = inside(x, rules.half_x)
            scratch.goal[thread, a, 1] = inside(y, rules.half_y)
        elif choice >= first_look(rules):
            if unit.alive:
                state.look[w, a] = choice - first_look(rules)
        elif choice >= FIRST_ATTACK:
            target = first_of(rules, 1 - side) + choice - FIRST_ATTACK
            if not rules.attack_anyone or reaches(state, body, rules, w, a, target):
                scratch.target[thread, a] = target


@phase
def inside(place, half):
    """The nearest coordinate on the field."""
    return min(max(place, -half), half)


@phase
def walk(state, body, rules, scratch, thread, w):
    """The movement of one tick, all from the same places: into reach of the target, or to the goal."""
    for a in range(rules.slots):
        unit, target = state.unit[w, a], scratch.target[thread, a]
        x, y = scratch.goal[thread, a, 0], scratch.goal[thread, a, 1]
        least = 0.0
        if target != NONE:
            x, y = state.unit[w, target].x, state.unit[w, target].y
            least = scratch.gap[thread, a] if state.unit[w, target].alive else 0.0
        right, north = x - unit.x, y - unit.y
        length = np.sqrt(right * right + north * north)
        if target == NONE:
            least = length
        share = min(body[a].speed, least) / length if unit.alive and least > NEARLY else 0.0
        scratch.next[thread, a, 0] = unit.x + share * right
        scratch.next[thread, a, 1] = unit.y + share * north
    settle(state, rules, scratch, thread, w)


@phase
def push_apart(state, body, rules, scratch, thread, w):
    """Ground units that overlap each move half of it apart. Own side first, so that the mirrored sum is equal."""
    for a in range(rules.slots):
        unit, own, side = state.unit[w, a], body[a], side_of(rules, a)
        scratch.next[thread, a, 0], scratch.next[thread, a, 1] = unit.x, unit.y
        if not unit.alive or own.flies:
            continue
        for part in range(2):
            other = side if part == 0 else 1 - side
            for b in range(first_of(rules, other), end_of(rules, other)):
                push(state, body, scratch, thread, w, a, b, ahead(side) if part else 0.0)
    settle(state, rules, scratch, thread, w)


@phase
def push(state, body, scratch, thread, w, a, b, front):
    """Pushes `a` away from `b`. At one place, friends part sideways and enemies backwards: `front` is the sign of x ahead of `a`, 0 between friends."""
    unit, other = state.unit[w, a], state.unit[w, b]
    reach = body[a].radius + body[b].radius
    right, north = unit.x - other.x, unit.y - other.y
    square = right * right + north * north
    if square >= reach * reach or a == b or not other.alive or body[b].flies:
        return
    length = np.sqrt(square)
    share = 0.5 * (reach - length) / length if length > 0.0 else 0.5 * reach
    if length == 0.0:
        right = -front
        north = 0.0 if front != 0.0 else 1.0 if a > b else -1.0
    scratch.next[thread, a, 0] += share * right
    scratch.next[thread, a, 1] += share * north


@phase
def settle(state, rules, scratch, thread, w):
    """Moves every unit to its next place, inside the field."""
    for a in range(rules.slots):
        unit = state.unit[w, a]
        if unit.alive:
            unit.x = inside(scratch.next[thread, a, 0], rules.half_x)
            unit.y = inside(scratch.next[thread, a, 1], rules.half_y)
