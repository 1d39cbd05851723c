"""A new game: walls in mirrored pairs, items under wood, players in the corners (specification 3.2)."""

import numpy as np

from interplay.core.jit import phase
from interplay.kernels.splitmix import episode_start, integer_below
from interplay.worlds.pommerman.config import START_AMMO, START_BLAST, UNREACHABLE
from interplay.worlds.pommerman.state import EXTRA_BOMB, PASSAGE, RIGID, WOOD

_ONE = np.uint64(1)
TRIES = 20_000  # boards drawn before the walls are refused as too many
_KINDS = 3  # of items


@phase
def draw_board(state, plan, rules, scratch, thread, w):
    """Draws boards until the passages are connected; False if none of `TRIES` is."""
    for _ in range(TRIES):
        lay_walls(state, plan, rules, scratch, thread, w)
        if cut_off(state, plan, rules, scratch, thread, w) <= UNREACHABLE:
            hide_items(state, rules, scratch, thread, w)
            return True
    return False


@phase
def lay_walls(state, plan, rules, scratch, thread, w):
    """Lays rigid cells, then wood, in pairs; each remaining pair is equally likely."""
    start, number = episode_start(state.stream[w, 0], state.stream[w, 1]), state.stream[w, 2]
    free, left = scratch.free[thread], plan.pairs.shape[0]
    ground = state.ground[w]
    for cell in range(ground.shape[0]):
        ground[cell] = plan.ground[cell]
    for pair in range(left):
        free[pair] = pair
    rigid = rules.rigid // 2
    for laid in range(rigid + (rules.wood - rules.bridges) // 2):
        number += _ONE
        k = integer_below(start, number, left)
        left -= 1
        pair = free[k]
        free[k] = free[left]
        wall = RIGID if laid < rigid else WOOD
        ground[plan.pairs[pair, 0]] = wall
        ground[plan.pairs[pair, 1]] = wall
    state.stream[w, 2] = number


@phase
def cut_off(state, plan, rules, scratch, thread, w):
    """Number of passages that the last player cannot reach because of rigid cells."""
    ground, seen, queue = state.ground[w], scratch.burning[thread], scratch.free[thread]
    left = 0
    for cell in range(ground.shape[0]):
        seen[cell] = ground[cell] == RIGID
        left += ground[cell] == PASSAGE
    first = plan.start[rules.players - 1]
    seen[first] = True
    queue[0] = first
    length = 1
    while length > 0:
        length -= 1
        cell = queue[length]
        left -= ground[cell] == PASSAGE
        for direction in range(4):
            side = cell + (rules.side if direction < 2 else 1) * (1 - 2 * (direction & 1))
            if not seen[side]:
                seen[side] = True
                queue[length] = side
                length += 1
    for a in range(rules.players):
        left -= not seen[plan.start[a]]  # the players' own cells do not count
    return left


@phase
def hide_items(state, rules, scratch, thread, w):
    """Hides items of uniform kinds under distinct cells of wood."""
    start, number = episode_start(state.stream[w, 0], state.stream[w, 1]), state.stream[w, 2]
    wood, left = scratch.free[thread], 0
    ground, item = state.ground[w], state.item[w]
    for cell in range(ground.shape[0]):
        item[cell] = 0
        if ground[cell] == WOOD:
            wood[left] = cell
            left += 1
    for _ in range(rules.items):
        k = integer_below(start, number + _ONE, left)
        left -= 1
        item[wood[k]] = EXTRA_BOMB + integer_below(start, number + _ONE + _ONE, _KINDS)
        wood[k] = wood[left]
        number += _ONE + _ONE
    state.stream[w, 2] = number


@phase
def place_players(state, plan, rules, w):
    """Puts players into their corners with one bomb; clears flames and words."""
    for a in range(rules.players):
        person = state.agent[w, a]
        person.cell = plan.start[a]
        person.ammo, person.blast, person.kick = START_AMMO, START_BLAST, False
        person.alive, person.ended = True, False
        person.outcome, person.returns = 0, 0.0
        person.ranges, person.kicks, person.extra_bombs, person.bombs_laid = 0, 0, 0, 0
        for k in range(state.words.shape[2]):
            state.words[w, a, k] = 0
    for cell in range(state.flame.shape[1]):
        state.flame[w, cell] = 0
    room = state.room[w]
    room.steps, room.bombs, room.over = 0, 0, False
