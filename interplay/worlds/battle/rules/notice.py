"""Who notices whom, where not everybody notices everybody (`notice_chance`, specification 5.2).

The first of a side that has an enemy in sight notices it for sure; each other one then does so or does not, by one draw, and it stays so
until the first one or the enemy falls. Then the next one who has it in sight is the first.

Each decision takes a draw for each unit and enemy, in the order of the enemies, whether it is needed or not. With `mirror` both sides take the
same ones, so that mirrored battles stay mirrored.
"""

import numpy as np

from interplay.core.jit import phase
from interplay.core.seeding import DRAWS, EPISODE, SEED
from interplay.kernels.philox import uniform
from interplay.worlds.battle.rules.fight import distance
from interplay.worlds.battle.rules.sides import end_of, first_of, side_of
from interplay.worlds.battle.rules.sight import facing, in_cone, sight_of
from interplay.worlds.battle.state import NOBODY, RED


@phase
def notice_enemies(state, body, rules, w):
    """After a decision: the fallen are forgotten, and who has come into sight is noticed."""
    if rules.notice_chance >= 1.0:
        return
    forget_fallen(state, rules, w)
    draws = rules.enemies * rules.enemies
    for side in range(2):
        first, enemy = first_of(rules, side), 1 - side
        for b in range(first_of(rules, enemy), end_of(rules, enemy)):
            if not state.unit[w, b].alive or state.seer[w, b] != NOBODY:
                continue
            seer = first_to_see(state, body, rules, w, b)
            if seer == NOBODY:
                continue
            state.seer[w, b] = seer - first
            skipped = (b - first_of(rules, enemy)) * rules.enemies
            if side != RED and not rules.mirror:
                skipped += draws
            tell_others(state, rules, w, b, seer, skipped)
    state.stream[w, DRAWS] += np.uint64(draws if rules.mirror else 2 * draws)


@phase
def forget_fallen(state, rules, w):
    """Nobody knows of a unit that fell, or of one that was first seen by who fell; the fallen know nobody."""
    for b in range(rules.slots):
        side = side_of(rules, b)
        first, enemy = first_of(rules, side), 1 - side
        if not state.unit[w, b].alive:
            state.known[w, b, :] = False
        seer = state.seer[w, b]
        if seer == NOBODY:
            continue
        if not state.unit[w, b].alive or not state.unit[w, first_of(rules, enemy) + seer].alive:
            state.seer[w, b] = NOBODY
            for a in range(first_of(rules, enemy), end_of(rules, enemy)):
                state.known[w, a, b - first] = False


@phase
def first_to_see(state, body, rules, w, b):
    """The first slot of the other side that lives and has a unit in sight; NOBODY where none has."""
    other, side = state.unit[w, b], 1 - side_of(rules, b)
    for a in range(first_of(rules, side), end_of(rules, side)):
        unit = state.unit[w, a]
        way = distance(unit, other)
        look = facing(state, rules, w, a)
        if unit.alive and way < sight_of(rules, body[a]) and in_cone(rules, side, look, unit, other, way):
            return np.int64(a)
    return np.int64(NOBODY)


@phase
def tell_others(state, rules, w, b, seer, skipped):
    """A unit is seen first: its seer knows it, and of the others of that side who live each by chance."""
    side = side_of(rules, seer)
    first, number = first_of(rules, side), b - first_of(rules, 1 - side)
    stream = state.stream[w]
    for a in range(first, end_of(rules, side)):
        draw = uniform(stream[SEED], stream[EPISODE], stream[DRAWS] + np.uint64(skipped + a - first))
        chosen = a == seer or draw < rules.notice_chance
        state.known[w, a, number] = chosen and state.unit[w, a].alive
