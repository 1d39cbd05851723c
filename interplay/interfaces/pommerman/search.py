"""Survivable moves of a Pommerman agent, as a kernel over rows: a search over cells and steps.

It uses only the agent's observation. Bombs do not move and burn when their time, or that of a bomb that reaches them, has come; wood
stays; other agents do not move and block for `STAYS` steps. Rows of a board are words, a bit for each column.
"""

from typing import NamedTuple

import numpy as np

from interplay.core.jit import kernel, phase

_PASSAGE, _RIGID, _WOOD, _BOMB, _FLAMES, _FOG, _EXTRA_BOMB, _RANGE, _KICK, _DUMMY, _AGENT = range(11)
_LONGEST = 10  # steps until a bomb laid now burns
_BURNS = 3  # steps in which flames kill
HORIZON = _LONGEST + _BURNS  # steps after which nothing of today burns
STAYS = 3  # steps
_LAY = 5
_ONE = np.uint32(1)


class Sights(NamedTuple):
    """What B agents see of boards of N x N cells."""

    board: np.ndarray  # (B, N, N) uint8
    strength: np.ndarray  # (B, N, N) uint8 of bombs
    life: np.ndarray  # (B, N, N) uint8 of bombs, steps
    flame: np.ndarray  # (B, N, N) uint8 steps that flames last; the last step is harmless
    position: np.ndarray  # (B, 2) uint8
    ammo: np.ndarray  # (B,) uint8
    blast: np.ndarray  # (B,) uint8
    kick: np.ndarray  # (B,) uint8


class Room(NamedTuple):
    """Room for one agent's search; t counts steps from now, 0 is now."""

    enter: np.ndarray  # (HORIZON + 1, N) uint32 cells that can be entered in step t
    burns: np.ndarray  # (HORIZON + 1, N) uint32 cells on which step t kills
    reach: np.ndarray  # (2, N) uint32 cells on which the agent may be, before and after a step
    time: np.ndarray  # (N, N) uint8 step in which the bomb of a cell burns, 0 = none


def allocate(n: int) -> Room:
    """For boards of `n` x `n` cells."""
    steps = np.zeros((HORIZON + 1, n), np.uint32)
    return Room(steps, steps.copy(), np.zeros((2, n), np.uint32), np.zeros((n, n), np.uint8))


@kernel
def find_escapes(sights, room, moves, soon):
    """Writes the survivable moves and the times at which cells burn.

    Args:
        moves: (B, 6) uint8, 1 for effective actions after which some path survives; if there is none, all but a bomb.
        soon: (B, N, N) uint8, steps until a cell burns, 0 = never.
    """
    for b in range(moves.shape[0]):
        mark_bombs(sights, room, b)
        mark_fires(sights, room, b)
        mark_paths(sights, room, b)
        write_soon(room, soon, b)
        some = False
        for action in range(_LAY):
            moves[b, action] = can_move(sights, room, b, action)
            some = some or moves[b, action] == 1
        moves[b, _LAY] = can_lay(sights, room, b)
        if not some:
            for action in range(_LAY):
                moves[b, action] = 1


@phase
def mark_bombs(sights, room, b):
    """The step in which each bomb burns: its own, or that of a bomb that reaches it."""
    n = room.time.shape[0]
    for row in range(n):
        for col in range(n):
            seen = sights.strength[b, row, col] > 0
            room.time[row, col] = min(max(sights.life[b, row, col], 1), _LONGEST) if seen else 0
    chain_bombs(sights, room, b)


@phase
def chain_bombs(sights, room, b):
    """Bombs that are reached by sooner ones burn with them."""
    n = room.time.shape[0]
    changed = True
    while changed:
        changed = False
        for row in range(n):
            for col in range(n):
                time = room.time[row, col]
                if time == 0:
                    continue
                for direction in range(1, 5):
                    down, right = along(direction)
                    for distance in range(1, spread(sights, b, row, col, direction) + 1):
                        r, c = row + down * distance, col + right * distance
                        if room.time[r, c] > time:
                            room.time[r, c] = time
                            changed = True


@phase
def mark_fires(sights, room, b):
    """The cells on which each step kills."""
    n = room.time.shape[0]
    room.burns[:] = 0
    for row in range(n):
        for col in range(n):
            for t in range(1, sights.flame[b, row, col]):
                room.burns[t, row] |= _ONE << np.uint32(col)
            time = room.time[row, col]
            if time == 0:
                continue
            burn(room, row, col, time)
            for direction in range(1, 5):
                down, right = along(direction)
                for distance in range(1, spread(sights, b, row, col, direction) + 1):
                    burn(room, row + down * distance, col + right * distance, time)


@phase
def burn(room, row, col, time):
    for t in range(time, time + _BURNS):
        room.burns[t, row] |= _ONE << np.uint32(col)


@phase
def mark_paths(sights, room, b):
    """The cells that can be entered in each step."""
    n = room.time.shape[0]
    room.enter[:] = 0
    for row in range(n):
        for col in range(n):
            code, time = sights.board[b, row, col], room.time[row, col]
            mine = row == sights.position[b, 0] and col == sights.position[b, 1]
            first = 1
            if code in (_RIGID, _WOOD, _FOG, _DUMMY):
                first = HORIZON + 1
            elif time > 0:
                first = time + 1  # in the step in which it burns no agent can pass anyway
            elif code >= _AGENT and not mine:
                first = STAYS + 1
            for t in range(first, HORIZON + 1):
                room.enter[t, row] |= _ONE << np.uint32(col)


@phase
def write_soon(room, soon, b):
    n = room.time.shape[0]
    for row in range(n):
        for col in range(n):
            soon[b, row, col] = 0
            for t in range(HORIZON, 0, -1):
                if room.burns[t, row] & (_ONE << np.uint32(col)):
                    soon[b, row, col] = t


@phase
def can_move(sights, room, b, action):
    """Whether a move changes the cell, or stays, and some path survives."""
    n = room.time.shape[0]
    row, col = np.int64(sights.position[b, 0]), np.int64(sights.position[b, 1])
    down, right = along(action)
    r, c = row + down, col + right
    if action > 0:
        if r < 0 or c < 0 or r >= n or c >= n or sights.board[b, r, c] in (_RIGID, _WOOD, _FOG, _DUMMY):
            return 0
        bomb = room.time[r, c] > 0
        if bomb and sights.kick[b] == 0:
            return 0
        if bomb or room.enter[1, r] & (_ONE << np.uint32(c)) == 0:
            r, c = row, col  # an agent in between may stay there
    return lives_on(room, r, c)


@phase
def can_lay(sights, room, b):
    """Whether a bomb can be laid here and survived, with its fire and that of the bombs it ignites."""
    row, col = np.int64(sights.position[b, 0]), np.int64(sights.position[b, 1])
    if sights.ammo[b] == 0 or room.time[row, col] > 0:
        return 0
    strength = sights.strength[b, row, col]
    sights.strength[b, row, col] = sights.blast[b]
    room.time[row, col] = _LONGEST
    chain_bombs(sights, room, b)
    mark_fires(sights, room, b)
    mark_paths(sights, room, b)
    sights.strength[b, row, col] = strength
    return lives_on(room, row, col)


@phase
def lives_on(room, row, col):
    """Whether an agent on a cell after the first step can be alive after the last."""
    n = room.reach.shape[1]
    here, there = 0, 1
    room.reach[:] = 0
    room.reach[here, row] = (_ONE << np.uint32(col)) & ~room.burns[1, row]
    for t in range(2, HORIZON + 1):
        some = False
        for r in range(n):
            own = room.reach[here, r]
            beside = (own << _ONE) | (own >> _ONE)
            if r > 0:
                beside |= room.reach[here, r - 1]
            if r < n - 1:
                beside |= room.reach[here, r + 1]
            found = (own | (beside & room.enter[t, r])) & ~room.burns[t, r]
            room.reach[there, r] = found
            some = some or found != 0
        if not some:
            return 0
        here, there = there, here
    return 1


@phase
def spread(sights, b, row, col, direction):
    """Length of a bomb's flames in a direction: they end before rigid walls, and on wood, which burns."""
    n = sights.board.shape[1]
    down, right = along(direction)
    most = strength_at(sights, b, row, col) - 1
    for distance in range(1, most + 1):
        r, c = row + down * distance, col + right * distance
        if r < 0 or c < 0 or r >= n or c >= n or sights.board[b, r, c] == _RIGID:
            return distance - 1
        if sights.board[b, r, c] == _WOOD:
            return distance
    return most


@phase
def strength_at(sights, b, row, col):
    return np.int64(sights.strength[b, row, col])


@phase
def along(direction):
    """Rows down and columns right of the actions stop, up, down, left, right."""
    if direction == 1:
        return -1, 0
    if direction == 2:
        return 1, 0
    if direction == 3:
        return 0, -1
    return 0, (1 if direction == 4 else 0)
