"""SimpleAgent's search on the board it sees (specification 3.8): distances, escape cells, nearest objects.

It works on a copy of one agent's observation, with a rim; cells are numbered as in `state.py`.
"""

from typing import NamedTuple

import numpy as np

from interplay.core.jit import phase
from interplay.kernels.splitmix import uniform
from interplay.worlds.pommerman.rules.directions import step_along
from interplay.worlds.pommerman.state import (
    AGENT_0,
    CODES,
    EXTRA_BOMB,
    FLAMES,
    FOG,
    KICK,
    NOWHERE,
    PASSAGE,
    RIGID,
    UP,
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
