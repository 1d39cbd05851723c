"""One tick of the persistent world, in the order of specification 6, and the reset of a world."""

import numpy as np

from interplay.core.jit import kernel, phase
from interplay.kernels.splitmix import episode_start, integer_below, random_bits, uniform
from interplay.worlds.mmo.observe import look_around
from interplay.worlds.mmo.rules.actions import attack, move, share_out
from interplay.worlds.mmo.rules.lives import close_books, die, replace_dead, spawn, update_body
from interplay.worlds.mmo.rules.numbers import FIXED, MULTIPLE, NEVER
from interplay.worlds.mmo.rules.turns import draw_order
from interplay.worlds.mmo.state import CUT, NONE
from interplay.worlds.mmo.tiles import FOREST

_ONE = np.uint64(1)
AHEAD = 6  # turns to prefetch the ground ahead
CACHE_LINE = 64  # bytes
SMALL_MAP = 65_536  # tiles; larger maps do not stay in the cache
_NOT_HERE = 255  # in Scratch.before: the slot was empty


@kernel
def step_worlds(state, sight, fallen, table, scratch, action, thread, first_world, end_world):
    """Steps every unfinished world of the range by one tick, and writes its views, world by world."""
    rules = table[0]
    for w in range(first_world, end_world):
        if state.room[w].over:
            continue
        if rules.side * rules.side <= SMALL_MAP:
            fetch_world(state, sight, scratch, thread, w)
        state.room[w].tick += 1
        acting = draw_order(state, rules, scratch, thread, w)
        remember_living(state, rules, scratch, thread, w)
        if rules.simultaneous:
            act_together(state, sight, rules, scratch, action, thread, w, acting)
        else:
            act_in_turn(state, sight, rules, scratch, action, thread, w, acting)
        regrow(state, rules, w)
        give_rewards(state, rules, scratch, thread, w)
        decide_end(state, rules, w)
        remember_blows(state, fallen, w)
        if not state.room[w].over:  # agents born in the last tick would end before they acted
            replace_dead(state, rules, w)
        look_around(state, sight, rules, scratch, thread, w)


@kernel
def begin_worlds(state, sight, table, scratch, which, thread, first_world, end_world):
    """Starts the worlds in `which`; their maps, caps and quotas must be set."""
    rules = table[0]
    for w in range(first_world, end_world):
        if not which[w]:
            continue
        clear_world(state, w)
        spawn(state, rules, w, rules.prefill)
        look_around(state, sight, rules, scratch, thread, w)


@kernel
def look_at_worlds(state, sight, table, scratch, thread, first_world, end_world):
    """Recomputes views after the state was written from outside."""
    rules = table[0]
    for w in range(first_world, end_world):
        look_around(state, sight, rules, scratch, thread, w)


@kernel
def draw_world(stream, table, which, map_seed, cap):
    """The draws before a map: its seed and the world's cap (specification 5)."""
    rules = table[0]
    for w in range(which.shape[0]):
        if not which[w]:
            continue
        start = episode_start(stream[w, 0], stream[w, 1])
        map_seed[w] = random_bits(start, _ONE)
        if rules.maps != 0:
            map_seed[w] = np.uint64(rules.map_seed + integer_below(start, _ONE, rules.maps))
        stream[w, 2] = _ONE
        cap[w] = rules.most
        if rules.cap_draw != FIXED:
            stream[w, 2] += _ONE
            drawn = 1 + integer_below(start, stream[w, 2], rules.most)
            cap[w] = -(-drawn // rules.npop) * rules.npop if rules.cap_draw == MULTIPLE else drawn


@phase
def fetch_world(state, sight, scratch, thread, w):
    """Reads a world's map and agents sequentially, which is faster than at random."""
    fetched = 0.0
    for k in range(0, sight.tile_lines.shape[1], CACHE_LINE):
        fetched += sight.tile_lines[w, k].first ^ sight.head_lines[w, k].first
    for i in range(state.agent.shape[1]):
        fetched += state.agent[w, i].row
    scratch.fetched[thread] = fetched


@phase
def clear_world(state, w):
    room = state.room[w]
    room.tick, room.births, room.deaths, room.life_ticks = 0, 0, 0, 0
    room.living, room.depleted = 0, 0
    room.over = False
    for i in range(state.agent.shape[1]):
        state.agent[w, i].alive = False
        state.acting[w, i] = False
    state.heads[w] = 0
    state.standing[w] = 0
    state.causes[w] = 0
    state.visits[w] = 0


@phase
def remember_living(state, rules, scratch, thread, w):
    """Clears what lasts one tick, and records the living, for shared rewards."""
    before = scratch.before[thread]
    for i in range(state.agent.shape[1]):
        person = state.agent[w, i]
        person.damage = 0
        person.struck, person.style = NONE, NONE
        before[i] = person.population if person.alive else _NOT_HERE


@phase
def act_in_turn(state, sight, rules, scratch, action, thread, w, acting):
    """Resolution sequential: each agent completes its turn before the next one."""
    order = scratch.order[thread]
    large, last, fetched = rules.side * rules.side > SMALL_MAP, acting - 1, 0.0
    for k in range(acting):
        i = order[k]
        if large:
            fetched += fetch_turn(
                state, sight, w, order[min(k + 2 * AHEAD, last)], order[min(k + AHEAD, last)]
            )
        if not state.agent[w, i].alive:
            continue
        if update_body(state, rules, w, i) and move(state, rules, w, i, action[w, i, 0]) and rules.combat:
            attack(state, sight, rules, scratch, thread, w, i, action, False)
    scratch.fetched[thread] = fetched


@phase
def fetch_turn(state, sight, w, later, soon):
    """Prefetches agents of later turns (themselves) and of the next turns (the ground around them)."""
    row, col = state.agent[w, soon].row, state.agent[w, soon].col
    ground = state.tiles[w, row - 1, col] + state.tiles[w, row, col] + state.tiles[w, row + 1, col]
    heads = state.heads[w, row - 1, col] | state.heads[w, row, col] | state.heads[w, row + 1, col]
    return ground + heads + state.agent[w, later].health + sight.target[w, soon, 0]


@phase
def act_together(state, sight, rules, scratch, action, thread, w, acting):
    """Resolution simultaneous: bodies in order, then all moves, then all attacks; deaths by attacks last."""
    order = scratch.order[thread]
    for k in range(acting):
        update_body(state, rules, w, order[k])
    for k in range(acting):
        if state.agent[w, order[k]].alive:
            move(state, rules, w, order[k], action[w, order[k], 0])
    if not rules.combat:
        return
    food_won, water_won = scratch.kin[thread], scratch.health[thread]  # free until views are written
    food_won[:] = 0
    water_won[:] = 0
    for k in range(acting):
        if state.agent[w, order[k]].alive:
            attack(state, sight, rules, scratch, thread, w, order[k], action, True)
    for k in range(acting):
        i = order[k]
        if state.agent[w, i].alive:
            share_out(state, rules, food_won, water_won, w, i)
        if state.agent[w, i].alive and state.agent[w, i].health == 0:
            die(state, w, i, state.tally[w, i].ended_cause)


@phase
def regrow(state, rules, w):
    """One test per depleted tile; on success the last entry takes its place and is tested next."""
    start, number = episode_start(state.stream[w, 0], state.stream[w, 1]), state.stream[w, 2]
    k, left = 0, state.room[w].depleted
    while k < left:
        number += _ONE
        if uniform(start, number) < rules.regrow:
            tile = state.depleted[w, k]
            state.tiles[w, tile // rules.side, tile % rules.side] = FOREST
            left -= 1
            state.depleted[w, k] = state.depleted[w, left]
        else:
            k += 1
    state.room[w].depleted = left
    state.stream[w, 2] = number


@phase
def give_rewards(state, rules, scratch, thread, w):
    """Rewards for survival and death; then the population's share (setting `team_spirit`)."""
    before = scratch.before[thread]
    for i in range(state.agent.shape[1]):
        if state.agent[w, i].alive:
            state.reward[w, i] += rules.reward_alive
        elif before[i] != _NOT_HERE:
            state.reward[w, i] += rules.reward_death
    if rules.team_spirit == 0.0:
        return
    number, npop = scratch.number[thread], rules.npop
    number[: 2 * npop] = 0.0
    for i in range(state.agent.shape[1]):
        if before[i] != _NOT_HERE:
            number[before[i]] += state.reward[w, i]
            number[npop + before[i]] += 1.0
    for i in range(state.agent.shape[1]):
        if before[i] != _NOT_HERE:
            mean = number[before[i]] / number[npop + before[i]]
            state.reward[w, i] = (1.0 - rules.team_spirit) * state.reward[w, i] + rules.team_spirit * mean


@phase
def remember_blows(state, fallen, w):
    """Keeps the attacks of agents that died in this tick, before newcomers take their slots."""
    for i in range(state.agent.shape[1]):
        if state.terminated[w, i]:
            person, blow = state.agent[w, i], fallen[w, i]
            blow.struck, blow.style = person.struck, person.style
            blow.row, blow.col = person.row, person.col
            blow.struck_row, blow.struck_col = person.struck_row, person.struck_col


@phase
def decide_end(state, rules, w):
    """Ends worlds: at a number of ticks, or after the last death without further births.

    Agents alive at a truncation stay in place, for their last observation.
    """
    room = state.room[w]
    if rules.max_ticks > 0 and room.tick >= rules.max_ticks:
        for i in range(state.agent.shape[1]):
            if state.agent[w, i].alive:
                close_books(state, w, i, CUT, room.tick - state.agent[w, i].birth)
                state.truncated[w, i] = True
        room.over = True
    if rules.respawn == NEVER and room.living == 0:
        room.over = True
