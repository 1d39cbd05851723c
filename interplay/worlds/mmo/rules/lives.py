"""Living and dying: a tick's effects on a body (specification 6, steps 2a to 2e), births (specification 5)."""

import numpy as np

from interplay.core.jit import kernel, phase
from interplay.kernels.splitmix import episode_start, integer_below
from interplay.worlds.mmo.rules.numbers import FLOW, IMMEDIATE, RING
from interplay.worlds.mmo.state import BOTH, HUNGER, LAVA_CAUSE, NONE, THIRST
from interplay.worlds.mmo.tiles import FOREST, LAVA, SCRUB, WATER

_ONE = np.uint64(1)
_TRIES = 64  # places drawn for a birth that needs a free tile
FULL_TILE = 255


@phase
def enter_tile(heads, w, row, col):
    heads[w, row, col] += heads[w, row, col] < FULL_TILE


@phase
def leave_tile(agent, heads, w, row, col):
    """Decrements the head count of a tile. The leaving agent must already be dead or elsewhere."""
    if heads[w, row, col] < FULL_TILE:
        heads[w, row, col] -= 1
    else:
        count_heads(agent, heads, w, row, col)


@kernel
def count_heads(agent, heads, w, row, col):
    """Recounts a full tile, which may hold more than the byte shows."""
    count = 0
    for i in range(agent.shape[1]):
        count += agent[w, i].alive and agent[w, i].row == row and agent[w, i].col == col
    heads[w, row, col] = min(count, FULL_TILE)


@phase
def close_books(state, w, i, cause, ticks):
    """Records a life that has ended: `ticks` counts those that it survived."""
    person, tally = state.agent[w, i], state.tally[w, i]
    tally.ended_life = ticks
    tally.ended_kills = person.kills
    tally.ended_food = person.eaten
    tally.ended_water = person.drunk
    tally.ended_harm = person.harm
    tally.ended_id = person.life_id
    tally.ended_cause = cause
    tally.ended_population = person.population
    state.causes[w, cause] += 1
    state.acting[w, i] = False


@phase
def die(state, w, i, cause):
    """Death by the rules; the tile is free at once."""
    person, room = state.agent[w, i], state.room[w]
    ticks = room.tick - person.birth - 1
    close_books(state, w, i, cause, ticks)
    state.terminated[w, i] = True
    person.alive = False
    state.standing[w, person.population] -= 1
    room.living -= 1
    room.deaths += 1
    room.life_ticks += ticks
    leave_tile(state.agent, state.heads, w, person.row, person.col)


@phase
def eat(state, rules, w, i):
    """Eats the forest underfoot, whether hungry or not."""
    person = state.agent[w, i]
    row, col = person.row, person.col
    if state.tiles[w, row, col] != FOREST:
        return
    state.tiles[w, row, col] = SCRUB
    state.depleted[w, state.room[w].depleted] = row * rules.side + col
    state.room[w].depleted += 1
    gained = min(rules.eat, rules.food - person.food)
    person.food += gained
    person.eaten += gained
    if rules.reward_food != 0.0:
        state.reward[w, i] += rules.reward_food * gained


@phase
def drink(state, rules, w, i):
    """Drinks beside water, once, however many water tiles there are."""
    person, tiles = state.agent[w, i], state.tiles
    row, col = person.row, person.col
    beside = (tiles[w, row - 1, col] == WATER) | (tiles[w, row + 1, col] == WATER)
    beside |= (tiles[w, row, col - 1] == WATER) | (tiles[w, row, col + 1] == WATER)
    gained = min(rules.drink, rules.water - person.water) * beside
    person.water += gained
    person.drunk += gained
    if rules.reward_water != 0.0:
        state.reward[w, i] += rules.reward_water * gained


@phase
def update_body(state, rules, w, i):
    """Steps a to e; returns whether the agent lives on and may act."""
    person = state.agent[w, i]
    person.freeze = max(person.freeze - 1, 0)
    if rules.lava_next_update and state.tiles[w, person.row, person.col] == LAVA:
        die(state, w, i, LAVA_CAUSE)
        return False
    eat(state, rules, w, i)
    drink(state, rules, w, i)
    fed = rules.regain & (2 * person.food > rules.food) & (2 * person.water > rules.water)
    health = min(person.health + fed, rules.health)
    person.food = max(person.food - rules.drain, 0)
    person.water = max(person.water - rules.drain, 0)
    hungry, thirsty = person.food == 0, person.water == 0
    person.health = max(health - rules.starve * (int(hungry) + int(thirsty)), 0)
    if person.health == 0 and (hungry or thirsty):
        die(state, w, i, BOTH if hungry and thirsty else HUNGER if hungry else THIRST)
        return False
    person.life += 1
    return True


@phase
def bear(state, rules, w, i, row, col, population):
    """Writes a newcomer into a free slot."""
    person, room = state.agent[w, i], state.room[w]
    person.life_id = room.births
    person.birth = room.tick
    person.life = 0
    person.row, person.col = row, col
    person.health, person.food, person.water = rules.health, rules.food, rules.water
    person.freeze = 0
    person.damage = 0
    person.struck, person.style = NONE, NONE
    person.struck_row, person.struck_col = 0, 0
    person.population = population
    person.alive = True
    person.kills, person.eaten, person.drunk, person.harm = 0, 0, 0, 0
    state.acting[w, i] = True
    state.standing[w, population] += 1
    room.living += 1
    room.births += 1
    enter_tile(state.heads, w, row, col)
    if rules.count_visits:
        state.visits[w, population, row, col] += 1


@phase
def birthplace(rules, e):
    """Row and column of place e: along the ring, clockwise from the top left corner, or of the interior, row by row."""
    top, last, edge = rules.border, rules.border + rules.interior - 1, rules.interior - 1
    if rules.spawn_where != RING:
        return top + e // rules.interior, top + e % rules.interior
    if e < edge:
        return top, top + e
    if e < 2 * edge:
        return top + e - edge, last
    if e < 3 * edge:
        return last, last - (e - 2 * edge)
    return last - (e - 3 * edge), top


@phase
def draw_place(state, rules, w):
    """A birthplace as row * T + column: a drawn one, or the next free one after the last of `_TRIES`; -1 if all are taken."""
    start = episode_start(state.stream[w, 0], state.stream[w, 1])
    ring = rules.spawn_where == RING
    count = 4 * (rules.interior - 1) if ring else rules.interior * rules.interior
    tries, e = 0, 0
    while tries < _TRIES:
        state.stream[w, 2] += _ONE
        if ring:
            e = integer_below(start, state.stream[w, 2], count)
        else:
            e = rules.interior * integer_below(start, state.stream[w, 2], rules.interior)
            state.stream[w, 2] += _ONE
            e += integer_below(start, state.stream[w, 2], rules.interior)
        row, col = birthplace(rules, e)
        if not (ring or state.reachable[w, row, col]):
            continue
        if not rules.one_per_tile or state.heads[w, row, col] == 0:
            return row * rules.side + col
        tries += 1
    for k in range(1, count):
        row, col = birthplace(rules, (e + k) % count)
        if state.heads[w, row, col] == 0 and (ring or state.reachable[w, row, col]):
            return row * rules.side + col
    return -1


@phase
def draw_population(state, w, number):
    """Uniform among the `number` populations below their quota."""
    state.stream[w, 2] += _ONE
    left = integer_below(episode_start(state.stream[w, 0], state.stream[w, 1]), state.stream[w, 2], number)
    for p in range(state.quota.shape[1]):
        if state.standing[w, p] < state.quota[w, p]:
            if left == 0:
                return p
            left -= 1
    return 0


@phase
def count_open(state, w):
    """Number of populations open to a newcomer; 0 if the world is at its cap."""
    if state.room[w].living >= state.room[w].cap:
        return 0
    number = 0
    for p in range(state.quota.shape[1]):
        number += state.standing[w, p] < state.quota[w, p]
    return number


@phase
def spawn(state, rules, w, most):
    """Up to `most` births, each into the lowest free slot."""
    slot = 0
    for _ in range(most):
        number = count_open(state, w)
        if number == 0:
            return
        place = draw_place(state, rules, w)
        if place < 0:
            return
        population = draw_population(state, w, number)
        while state.agent[w, slot].alive:
            slot += 1
        bear(state, rules, w, slot, place // rules.side, place % rules.side, population)


@phase
def replace_dead(state, rules, w):
    """The births of a tick (setting `respawn`)."""
    if rules.respawn == FLOW:
        spawn(state, rules, w, rules.spawn_per_tick)
    elif rules.respawn == IMMEDIATE:
        spawn(state, rules, w, rules.slots)
