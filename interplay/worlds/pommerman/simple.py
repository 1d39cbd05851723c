"""The playground's SimpleAgent as a kernel over the batch: the first matching rule acts (specification 3.8).

Its search works on a copy of one agent's observation, with a rim; cells are numbered as in `state.py`.
"""

from typing import NamedTuple

import numpy as np

from interplay.core.jit import kernel, phase
from interplay.kernels.splitmix import episode_start, integer_below, uniform
from interplay.worlds.pommerman.rules.motion import step_along
from interplay.worlds.pommerman.state import (
    AGENT_0,
    CODES,
    DOWN,
    EXTRA_BOMB,
    FLAMES,
    FOG,
    KICK,
    LAY,
    LEFT,
    NOWHERE,
    PASSAGE,
    RIGHT,
    RIGID,
    STOP,
    UP,
    WOOD,
)

DEPTH = 10  # of the search, in cells
EDGE = CODES  # code of the rim
FAR = 30_000  # in the window of the search, but not reached
_ONE = np.uint64(1)


class Senses(NamedTuple):
    """The parts of a time step that SimpleAgent reads."""

    board: np.ndarray  # (W, A, N, N) uint8
    strength: np.ndarray  # (W, A, N, N) uint8 of bombs
    position: np.ndarray  # (W, A, 2) uint8
    ammo: np.ndarray  # (W, A) uint8
    blast: np.ndarray  # (W, A) uint8
    enemies: np.ndarray  # (W, A, 3) uint8
    acting: np.ndarray  # (W, A) bool


class Scratch(NamedTuple):
    """Working arrays for one agent; C cells with the rim."""

    code: np.ndarray  # (C,) uint8 observed codes
    open: np.ndarray  # (CODES + 1,) bool codes that can be walked on
    distance: np.ndarray  # (C,) int16 steps, FAR, or NOWHERE outside of the window
    before: np.ndarray  # (C,) int16 predecessor on the path
    queue: np.ndarray  # (C,) int16
    seen: np.ndarray  # (C,) bool
    bomb: np.ndarray  # (C,) int16 cells with bombs, row by row
    strength: np.ndarray  # (C,) uint8 of those bombs
    reach: np.ndarray  # (5,) uint8 of the bombs in each direction, 0 = none
    order: np.ndarray  # (5,) uint8 directions of bombs, in the order of discovery


def allocate_scratch(size: int) -> Scratch:
    """For boards of `size` x `size` cells."""
    cells = (size + 2) ** 2
    return Scratch(
        code=np.full(cells, EDGE, np.uint8),
        open=np.zeros(CODES + 1, bool),
        distance=np.zeros(cells, np.int16),
        before=np.zeros(cells, np.int16),
        queue=np.zeros(cells, np.int16),
        seen=np.zeros(cells, bool),
        bomb=np.zeros(cells, np.int16),
        strength=np.zeros(cells, np.uint8),
        reach=np.zeros(5, np.uint8),
        order=np.zeros(5, np.uint8),
    )


@phase
def perceive(senses, scratch, w, a):
    """Reads the board, the passable codes and the bombs; returns the number of bombs."""
    size = senses.board.shape[2]
    for code in range(CODES + 1):
        scratch.open[code] = code == PASSAGE or EXTRA_BOMB <= code <= KICK or AGENT_0 <= code < CODES
    for k in range(senses.enemies.shape[2]):
        scratch.open[senses.enemies[w, a, k]] = False
    bombs = 0
    for row in range(size):
        first = (row + 1) * (size + 2) + 1
        for col in range(size):
            scratch.code[first + col] = senses.board[w, a, row, col]
            strength = senses.strength[w, a, row, col]
            if strength > 0:
                scratch.bomb[bombs], scratch.strength[bombs] = first + col, strength
                bombs += 1
    return bombs


@phase
def search(scratch, side, me, short, start, number):
    """Breadth-first search from the agent's cell; of equally long paths the later wins with probability 1/2.

    Returns the number of the last draw. `side` is P; with `short` the window ends a cell earlier at the bottom and the right (a quirk).
    """
    distance, before, queue = scratch.distance, scratch.before, scratch.queue
    my_row, my_col = me // side, me % side
    for row in range(side):
        for col in range(side):
            cell, code = row * side + col, scratch.code[row * side + col]
            inside = abs(row - my_row) + abs(col - my_col) <= DEPTH
            inside = inside and not (short and (row - my_row == DEPTH or col - my_col == DEPTH))
            hidden = code in (EDGE, FOG, RIGID, FLAMES)
            distance[cell] = FAR if inside and not hidden else NOWHERE
    distance[me] = 0
    queue[0] = me
    head, tail = 0, 1
    while head < tail:
        cell = queue[head]
        head += 1
        if not scratch.open[scratch.code[cell]]:
            continue
        length = distance[cell] + 1
        for direction in range(UP, UP + 4):
            other = cell + step_along(direction, side)
            if length < distance[other]:
                distance[other], before[other] = length, cell
                queue[tail] = other
                tail += 1
            elif length == distance[other]:
                number += _ONE
                if uniform(start, number) < 0.5:
                    before[other] = cell
    return number


@phase
def is_stuck(scratch, side, me, first, reach):
    """Whether a step to `first` from a bomb at `me` leads to a dead end in its line and reach."""
    seen, queue = scratch.seen, scratch.queue
    seen[:] = False
    seen[me] = True
    seen[first] = True
    queue[0] = first
    row, col = first // side, first % side
    length = 1
    while length > 0:
        length -= 1
        cell = queue[length]
        down, right = abs(cell // side - row), abs(cell % side - col)
        if (down > 0 and right > 0) or down + right > reach:
            return False
        for direction in range(UP, UP + 4):
            other = cell + step_along(direction, side)
            if not seen[other] and scratch.open[scratch.code[other]]:
                seen[other] = True
                queue[length] = other
                length += 1
    return True


@phase
def nearer(scratch, side, me, code, radius, found):
    """The nearest cell with `code` within `radius` steps, the last row by row; `found` if that is nearer."""
    row, col = me // side, me % side
    for r in range(max(row - radius, 0), min(row + radius + 1, side)):
        for cell in range(r * side + max(col - radius, 0), r * side + min(col + radius + 1, side)):
            length = scratch.distance[cell]
            if scratch.code[cell] != code or length == NOWHERE or length > radius:
                continue
            if found == NOWHERE or length <= scratch.distance[found]:
                found = cell
    return found


@phase
def direction_to(scratch, side, me, goal):
    """The first step of the path to a reached cell."""
    while scratch.before[goal] != me:
        goal = scratch.before[goal]
    for direction in range(UP, UP + 4):
        if me + step_along(direction, side) == goal:
            return direction
    return 0


@phase
def in_line(scratch, side, bombs, cell):
    """Whether a cell is in a bomb's row or column within its strength, ignoring walls."""
    row, col = cell // side, cell % side
    for k in range(bombs):
        down = abs(scratch.bomb[k] // side - row)
        right = abs(scratch.bomb[k] % side - col)
        if (down == 0 and right <= scratch.strength[k]) or (right == 0 and down <= scratch.strength[k]):
            return True
    return False


@phase
def can_flee(scratch, side, me, blast):
    """Whether a passage out of the lines or reach of a bomb laid here can be reached."""
    row, col = me // side, me % side
    for cell in range(scratch.code.shape[0]):
        length = scratch.distance[cell]
        if scratch.code[cell] != PASSAGE or length in (NOWHERE, FAR):
            continue
        if length > blast or (cell // side != row and cell % side != col):
            return True
    return False


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
