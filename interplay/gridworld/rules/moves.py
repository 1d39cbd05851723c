"""Moving: to any cell within range, one cell across, or drifting (manual 3.2.2 to 3.2.4; specification T4 to T6)."""

import numpy as np

from interplay.core.jit import kernel, phase
from interplay.gridworld.rules.cells import enter_cell, leave_cell, may_enter

STEP, CROSS, DRIFT = 0, 1, 2
# Codes 0 stay, 1 left, 2 down, 3 right, 4 up: those of orientation.
ROWS = np.array([0, 0, 1, 0, -1], np.int32)
COLS = np.array([0, -1, 0, 1, 0], np.int32)


@phase
def step_by(agents, cells, overlap, w, a, down, right):
    """Moves an agent by some rows and columns; only the destination counts. Returns whether it is there now."""
    if down == 0 and right == 0:
        return True
    if not agents[w, a].placed:
        return False  # dead agents do not return by walking
    row, col = agents[w, a].row + down, agents[w, a].col + right
    if agents[w, a].row < 0:  # it was never placed
        return False
    if row < 0 or col < 0 or row >= cells.shape[1] or col >= cells.shape[2]:
        return False
    if not may_enter(agents, cells, overlap, w, a, row, col):
        return False
    if agents[w, a].placed:
        leave_cell(agents, cells, w, a)
    enter_cell(agents, cells, w, a, row, col)
    return True


@phase
def drift(agents, cells, overlap, w, a, code):
    """Turns and steps if that cell is free, else continues in its direction."""
    if code != 0 and step_by(agents, cells, overlap, w, a, ROWS[code], COLS[code]):
        agents[w, a].orientation = code
        return True
    facing = agents[w, a].orientation
    return step_by(agents, cells, overlap, w, a, ROWS[facing], COLS[facing])


@phase
def move_by(agents, cells, overlap, w, a, form, x, y):
    """One agent's move in one of the three forms; (x, y) is a step, or x a code."""
    if form == STEP:
        return step_by(agents, cells, overlap, w, a, x, y)
    if form == CROSS:
        return step_by(agents, cells, overlap, w, a, ROWS[x], COLS[x])
    return drift(agents, cells, overlap, w, a, x)


@kernel
def move(agents, cells, overlap, stream, w, a, form, x, y):
    """Moves one agent; True for a move made and for staying."""
    stream[w, 2] += np.uint64(1)  # a new moment: random views are drawn anew
    return move_by(agents, cells, overlap, w, a, form, x, y)


@kernel
def move_all(agents, cells, overlap, stream, order, count, form, codes, attempted, success, movers, lo, hi):
    """Moves all acting agents in the worlds lo..hi-1, in their order.

    Args:
        order, count: (W, A), (W,) slots of acting agents, and their number.
        codes: (W, A, 2) int64 steps or codes.
        attempted, success: (W, A) uint8, written.
        movers: (A,) bool, supported agents.
    """
    for w in range(lo, hi):
        for a in range(agents.shape[1]):
            attempted[w, a] = 0
            success[w, a] = 0
        for i in range(count[w]):
            a = order[w, i]
            if movers[a] and agents[w, a].active:
                stream[w, 2] += np.uint64(1)
                attempted[w, a] = 1
                success[w, a] = move_by(agents, cells, overlap, w, a, form, codes[w, a, 0], codes[w, a, 1])
