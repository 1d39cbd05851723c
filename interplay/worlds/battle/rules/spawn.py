"""The beginning of an episode (specification 4.5): units present, their places and points.

Draws of a world's stream, in this order: with `drawn` the number of each type; then by side and slot, x and y where places are random,
and the shares of health, shield and cooldown where those are. With `mirror` blue reuses red's draws.
"""

import numpy as np

from interplay.core.jit import phase
from interplay.core.seeding import DRAWS, EPISODE, SEED
from interplay.kernels.philox import integer_below, uniform
from interplay.worlds.battle.rules.motion import push_apart
from interplay.worlds.battle.rules.sides import ahead, end_of, first_of
from interplay.worlds.battle.state import AHEAD, NONE, RED

SETTLING = 40  # passes in which units placed on one another part
LEAST_SHARE = 0.5  # of health and shield
THIRD = 2.0 / 3.0  # of a half field's two halves


@phase
def begin_battle(state, body, outputs, rules, scratch, thread, w):
    """A new battle."""
    state.room[w].steps, state.room[w].outcome = 0, 0
    state.look[w, :], state.seer[w, :], state.known[w, :, :] = AHEAD, NONE, False
    call_up(state, body, rules, w)
    drawn = state.stream[w, DRAWS]
    for side in range(2):
        if rules.mirror and side != RED:
            drawn, state.stream[w, DRAWS] = state.stream[w, DRAWS], drawn
        for a in range(first_of(rules, side), end_of(rules, side)):
            if state.unit[w, a].present:
                place_unit(state, body, rules, w, a, side)
                equip_unit(state, body, rules, w, a)
    state.stream[w, DRAWS] = max(state.stream[w, DRAWS], drawn)
    for _ in range(SETTLING * rules.settles):
        push_apart(state, body, rules, scratch, thread, w)
    for side in range(2):
        order_side(state, body, rules, w, side)
    for a in range(rules.slots):
        outputs.acting[w, a] = state.unit[w, a].present


@phase
def call_up(state, body, rules, w):
    """Marks the units present: all, or the first ones of each type, the same on both sides."""
    many = np.int64(0)
    for a in range(rules.slots):
        unit = state.unit[w, a]
        if not rules.drawn:
            unit.present = True
        elif a < rules.reds:
            if body[a].block == a:
                stream = state.stream[w]
                many = 1 + integer_below(stream[SEED], stream[EPISODE], stream[DRAWS], body[a].block_size)
                state.stream[w, DRAWS] += np.uint64(1)
            unit.present = a - body[a].block < many
        else:
            unit.present = state.unit[w, a - rules.reds].present
        unit.alive, unit.last = unit.present, NONE
        unit.x, unit.y, unit.health, unit.shield, unit.cooldown = 0.0, 0.0, 0.0, 0.0, 0.0
        unit.barrier, unit.barrier_clock, unit.calm = 0.0, 0, 0


@phase
def draw(state, w):
    """The next number of a world's stream, uniform in [0, 1)."""
    stream = state.stream[w]
    number = uniform(stream[SEED], stream[EPISODE], stream[DRAWS])
    state.stream[w, DRAWS] += np.uint64(1)
    return number


@phase
def place_unit(state, body, rules, w, a, side):
    """In formation, or anywhere in its side's third."""
    unit = state.unit[w, a]
    if rules.random_places:
        unit.x = ahead(side) * rules.half_x * (draw(state, w) * THIRD - 1.0)
        unit.y = rules.half_y * (draw(state, w) * 2.0 - 1.0)
    else:
        unit.x, unit.y = body[a].start_x, body[a].start_y


@phase
def equip_unit(state, body, rules, w, a):
    """Health, shield and cooldown: full and ready, or drawn."""
    unit, own = state.unit[w, a], body[a]
    unit.health, unit.shield, unit.cooldown = own.health, own.shield, 0.0
    if rules.random_numbers:
        unit.health *= LEAST_SHARE + (1.0 - LEAST_SHARE) * draw(state, w)
        unit.shield *= LEAST_SHARE + (1.0 - LEAST_SHARE) * draw(state, w)
        unit.cooldown = own.period * draw(state, w)


@phase
def order_side(state, body, rules, w, side):
    """Numbers the units of a type by x, then y, in their side's frame."""
    for a in range(first_of(rules, side), end_of(rules, side)):
        for b in range(a, body[a].block, -1):
            unit, other = state.unit[w, b], state.unit[w, b - 1]
            right, left = ahead(side) * unit.x, ahead(side) * other.x
            if unit.present and (right < left or (right == left and unit.y < other.y)):
                unit.x, other.x = other.x, unit.x
                unit.y, other.y = other.y, unit.y
