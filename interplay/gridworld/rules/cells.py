"""Occupants of cells, as linked lists in the order of entry."""

import numpy as np

from interplay.core.jit import kernel, phase
from interplay.gridworld.board import SCREEN, SEVERAL

SEVERAL_, SCREEN_ = np.int32(SEVERAL), np.int32(SCREEN)


@phase
def may_enter(agents, cells, overlap, w, a, row, col):
    """Whether a cell is free or all its occupants may share it with the agent; only encodings count (R3)."""
    if cells[w, row, col].shown == 0:
        return True
    encoding = agents[w, a].encoding
    other = cells[w, row, col].first
    while other >= 0:
        if not overlap[encoding, agents[w, other].encoding]:
            return False
        other = agents[w, other].next
    return True


@phase
def refresh_cell(agents, cells, w, row, col):
    """Recomputes what a cell shows."""
    cell = cells[w, row, col]
    other = cell.first
    shown = np.int32(0)
    if other >= 0:
        shown = agents[w, other].encoding
        if agents[w, other].next >= 0:
            shown |= SEVERAL_
        while other >= 0:
            if agents[w, other].blocking:
                shown |= SCREEN_
            other = agents[w, other].next
    cell.shown = shown


@phase
def leave_cell(agents, cells, w, a):
    """Takes an agent off the grid; its position is kept."""
    me = agents[w, a]
    row, col = me.row, me.col
    if cells[w, row, col].first == a:
        cells[w, row, col].first = me.next
    else:
        other = cells[w, row, col].first
        while agents[w, other].next != a:
            other = agents[w, other].next
        agents[w, other].next = me.next
    me.next = -1
    me.placed = False
    refresh_cell(agents, cells, w, row, col)


@phase
def enter_cell(agents, cells, w, a, row, col):
    """Appends an agent that is off the grid to the occupants of a cell."""
    me = agents[w, a]
    me.row, me.col, me.next, me.placed = row, col, -1, True
    other = cells[w, row, col].first
    if other < 0:
        cells[w, row, col].first = a
    else:
        while agents[w, other].next >= 0:
            other = agents[w, other].next
        agents[w, other].next = a
    refresh_cell(agents, cells, w, row, col)


@phase
def clear_grid(agents, cells, w):
    """Takes all agents off the grid."""
    for row in range(cells.shape[1]):
        for col in range(cells.shape[2]):
            cells[w, row, col].shown = 0
            cells[w, row, col].first = -1
    for a in range(agents.shape[1]):
        agents[w, a].placed = False
        agents[w, a].next = -1


@kernel
def query(agents, cells, overlap, w, a, row, col):
    return may_enter(agents, cells, overlap, w, a, row, col)


@kernel
def place(agents, cells, overlap, w, a, row, col):
    """Puts an agent into a cell if it may enter; returns whether it did."""
    if not may_enter(agents, cells, overlap, w, a, row, col):
        return False
    if agents[w, a].placed:
        leave_cell(agents, cells, w, a)
    enter_cell(agents, cells, w, a, row, col)
    return True


@kernel
def remove(agents, cells, w, a):
    """Takes an agent off the grid."""
    leave_cell(agents, cells, w, a)


@kernel
def refresh(agents, cells, w, a):
    """Updates an agent's cell after a change of its encoding or blocking."""
    refresh_cell(agents, cells, w, agents[w, a].row, agents[w, a].col)


@kernel
def clear(agents, cells, w):
    """Takes all agents off the grid."""
    clear_grid(agents, cells, w)
