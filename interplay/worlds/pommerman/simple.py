"""The playground's SimpleAgent as a kernel over the batch: the first matching rule acts (specification 3.8)."""

from typing import NamedTuple

import numpy as np

from interplay.core.jit import kernel, phase
from interplay.kernels.splitmix import episode_start, integer_below, uniform
from interplay.worlds.pommerman.rules.directions import step_along
from interplay.worlds.pommerman.search import (
    EDGE,
    can_flee,
    direction_to,
    in_line,
    is_stuck,
    nearer,
    perceive,
    search,
)
from interplay.worlds.pommerman.state import (
    DOWN,
    EXTRA_BOMB,
    FOG,
    KICK,
    LAY,
    LEFT,
    NOWHERE,
    RIGHT,
    STOP,
    UP,
    WOOD,
)

ENEMY_NEAR, ITEM_NEAR, WOOD_NEAR = 3, 2, 2  # steps
REMEMBERED = 6  # recent cells without a target
_ONE = np.uint64(1)


class Memory(NamedTuple):
    """The agents' memory and random streams: draws depend on seed, episode, tick and slot."""

    seed: np.ndarray  # (W,) uint64
    episode: np.ndarray  # (W,) uint64
    tick: np.ndarray  # (W,) uint64
    idle: np.ndarray  # (W, A, 6) int16 the last cells without a target, or NOWHERE
    chased: np.ndarray  # (W, A) uint8 direction of the last step towards an enemy, or STOP


@kernel
def play(senses, memory, scratch, short, action):
    """Writes the first action head of all acting agents, (W, A, heads) int64."""
    for w in range(action.shape[0]):
        start = episode_start(memory.seed[w], memory.episode[w])
        for a in range(action.shape[1]):
            if senses.acting[w, a]:
                number = ((memory.tick[w] << np.uint64(4)) | np.uint64(a)) << np.uint64(12)
                action[w, a, 0] = decide(senses, memory, scratch, short, w, a, start, number)
        memory.tick[w] += _ONE


@phase
def decide(senses, memory, scratch, short, w, a, start, number):
    """The action of one agent."""
    side = senses.board.shape[2] + 2
    me = (np.int64(senses.position[w, a, 0]) + 1) * side + senses.position[w, a, 1] + 1
    bombs = perceive(senses, scratch, w, a)
    number = search(scratch, side, me, short, start, number) + _ONE
    threats = notice_threats(scratch, side, me, bombs)
    if threats > 0:
        return flee(scratch, side, me, threats, start, number)
    ready = senses.ammo[w, a] > 0 and can_flee(scratch, side, me, senses.blast[w, a])
    enemy = nearest_enemy(senses, scratch, side, w, a, me)
    if ready and enemy != NOWHERE and scratch.distance[enemy] == 1:
        return LAY
    if enemy != NOWHERE:
        direction = direction_to(scratch, side, me, enemy)
        number += _ONE
        if memory.chased[w, a] != direction or uniform(start, number) < 0.5:
            memory.chased[w, a] = direction
            return direction
    item = NOWHERE
    for code in range(EXTRA_BOMB, KICK + 1):
        item = nearer(scratch, side, me, code, ITEM_NEAR, item)
    if item != NOWHERE:
        return direction_to(scratch, side, me, item)
    wood = nearer(scratch, side, me, WOOD, WOOD_NEAR, NOWHERE)
    if wood != NOWHERE and scratch.distance[wood] == 1:
        return LAY if ready else STOP
    if wood != NOWHERE:
        direction = direction_to(scratch, side, me, wood)
        if not in_line(scratch, side, bombs, me + step_along(direction, side)):
            return direction
    return stroll(memory, scratch, side, w, a, me, bombs, start, number + _ONE)


@phase
def nearest_enemy(senses, scratch, side, w, a, me):
    """The cell of the nearest reachable enemy, or NOWHERE."""
    found = NOWHERE
    for k in range(senses.enemies.shape[2]):
        found = nearer(scratch, side, me, senses.enemies[w, a, k], ENEMY_NEAR, found)
    return found


@phase
def notice(scratch, direction, strength, known):
    """Records a bomb in a direction; returns the number of directions with bombs."""
    if scratch.reach[direction] == 0:
        scratch.order[known] = direction
        known += 1
    scratch.reach[direction] = max(scratch.reach[direction], strength)
    return known


@phase
def notice_threats(scratch, side, me, bombs):
    """Records the directions of reachable bombs within their strength; returns how many."""
    scratch.reach[:] = 0
    row, col, known = me // side, me % side, 0
    for k in range(bombs):
        cell, strength = np.int64(scratch.bomb[k]), scratch.strength[k]
        length = scratch.distance[cell]
        if length == NOWHERE or length > strength:
            continue
        if cell == me:
            known = notice(scratch, RIGHT, strength, known)
            known = notice(scratch, LEFT, strength, known)
            known = notice(scratch, UP, strength, known)
            known = notice(scratch, DOWN, strength, known)
        elif cell // side == row:
            known = notice(scratch, RIGHT if cell > me else LEFT, strength, known)
        elif cell % side == col:
            known = notice(scratch, DOWN if cell > me else UP, strength, known)
    return known


@phase
def flee(scratch, side, me, threats, start, number):
    """Leaves a bomb in the first direction without a dead end, else in one without a bomb, else in any."""
    if threats == 4:
        for k in range(4):
            direction = scratch.order[k]
            other = me + step_along(direction, side)
            if scratch.open[scratch.code[other]] and not is_stuck(
                scratch, side, me, other, scratch.reach[direction]
            ):
                return np.int64(direction)
        return STOP
    safe, there = 0, 0
    for direction in range(UP, UP + 4):
        code = scratch.code[me + step_along(direction, side)]
        if scratch.reach[direction] > 0:
            there += code != EDGE
        else:
            safe += scratch.open[code] or code == FOG
    skip = integer_below(start, number, max(safe if safe > 0 else there, 1))
    for direction in range(UP, UP + 4):
        code = scratch.code[me + step_along(direction, side)]
        if safe > 0:
            fits = scratch.reach[direction] == 0 and (scratch.open[code] or code == FOG)
        else:
            fits = scratch.reach[direction] > 0 and code != EDGE
        if fits and skip == 0:
            return direction
        skip -= fits
    return STOP


@phase
def stroll(memory, scratch, side, w, a, me, bombs, start, number):
    """A random step out of the bombs' lines, preferably not to recent cells; stays if there is none."""
    fresh, known, stays = 0, 0, False
    for direction in range(STOP, UP + 4):
        if can_stroll(scratch, side, bombs, me, direction):
            known += 1
            is_fresh = not was_idle(memory, w, a, me + step_along(direction, side))
            fresh += is_fresh
            stays = stays or (direction == STOP and is_fresh)
    among_all = fresh == 0
    ways = known if among_all else fresh
    stays = can_stroll(scratch, side, bombs, me, STOP) if among_all else stays
    first = UP if stays and ways > 1 else STOP
    skip = integer_below(start, number, max(ways - (first == UP), 1))
    chosen = STOP
    for direction in range(first, UP + 4):
        other = me + step_along(direction, side)
        if can_stroll(scratch, side, bombs, me, direction) and (
            among_all or not was_idle(memory, w, a, other)
        ):
            if skip == 0:
                chosen = direction
            skip -= 1
    for k in range(REMEMBERED - 1):
        memory.idle[w, a, k] = memory.idle[w, a, k + 1]
    memory.idle[w, a, REMEMBERED - 1] = me
    return chosen


@phase
def can_stroll(scratch, side, bombs, me, direction):
    """Whether the cell in a direction is passable and in no bomb's line."""
    other = me + step_along(direction, side)
    return scratch.open[scratch.code[other]] and not in_line(scratch, side, bombs, other)


@phase
def was_idle(memory, w, a, cell):
    """Whether a cell is one of the recent cells without a target."""
    found = False
    for k in range(REMEMBERED):
        found = found or memory.idle[w, a, k] == cell
    return found
