"""Which units notice which enemies, where `notice_chance` is below 1 (specification 5.2).

The first unit of a side with an enemy in sight always notices it. Each other unit does so by one draw, valid until the first unit or the
enemy falls. Then the next unit with the enemy in sight is the first.

Each decision takes one draw for each unit and enemy, in the order of the enemies, needed or not. With `mirror` both sides use the same
draws, so mirrored battles stay mirrored.
"""

import numpy as np

from interplay.core.jit import phase
from interplay.core.seeding import DRAWS, EPISODE, SEED
from interplay.kernels.philox import uniform
from interplay.worlds.battle.rules.fight import distance
from interplay.worlds.battle.rules.sides import end_of, first_of, side_of
from interplay.worlds.battle.rules.sight import facing, in_cone, sight_of
from interplay.worlds.battle.state import NONE, RED


@phase
def notice_enemies(state, body, rules, w):
    """After a decision: forgets the fallen, and notices enemies that have come into sight."""
    if rules.notice_chance >= 1.0:
        return
    forget_fallen(state, rules, w)
    draws = rules.enemies * rules.enemies
    for side in range(2):
        first, enemy = first_of(rules, side), 1 - side
        for b in range(first_of(rules, enemy), end_of(rules, enemy)):
            if not state.unit[w, b].alive or state.seer[w, b] != NONE:
                continue
            seer = first_to_see(state, body, rules, w, b)
            if seer == NONE:
                continue
            state.seer[w, b] = seer - first
            skipped = (b - first_of(rules, enemy)) * rules.enemies
            if side != RED and not rules.mirror:
                skipped += draws
            notice_by_chance(state, rules, w, b, seer, skipped)
    state.stream[w, DRAWS] += np.uint64(draws if rules.mirror else 2 * draws)


@phase
def forget_fallen(state, rules, w):
    """Clears what is known of a fallen unit, what a fallen first observer saw, and what the fallen knew."""
    for b in range(rules.slots):
        side = side_of(rules, b)
        first, enemy = first_of(rules, side), 1 - side
        if not state.unit[w, b].alive:
            state.known[w, b, :] = False
        seer = state.seer[w, b]
        if seer == NONE:
            continue
        if not state.unit[w, b].alive or not state.unit[w, first_of(rules, enemy) + seer].alive:
            state.seer[w, b] = NONE
            for a in range(first_of(rules, enemy), end_of(rules, enemy)):
                state.known[w, a, b - first] = False


@phase
def first_to_see(state, body, rules, w, b):
    """The first living slot of the other side with a unit in sight; NONE if none."""
    other, side = state.unit[w, b], 1 - side_of(rules, b)
    for a in range(first_of(rules, side), end_of(rules, side)):
        unit = state.unit[w, a]
        gap = distance(unit, other)
        look = facing(state, rules, w, a)
        if unit.alive and gap < sight_of(rules, body[a]) and in_cone(rules, side, look, unit, other, gap):
            return np.int64(a)
    return np.int64(NONE)


@phase
def notice_by_chance(state, rules, w, b, seer, skipped):
    """Notes the first observer of a unit: it notices the unit, each other living member of its side by chance."""
    side = side_of(rules, seer)
    first, number = first_of(rules, side), b - first_of(rules, 1 - side)
    stream = state.stream[w]
    for a in range(first, end_of(rules, side)):
        draw = uniform(stream[SEED], stream[EPISODE], stream[DRAWS] + np.uint64(skipped + a - first))
        chosen = a == seer or draw < rules.notice_chance
        state.known[w, a, number] = chosen and state.unit[w, a].alive
