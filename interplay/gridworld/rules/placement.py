"""Initial placement of agents (manual 3.2.1; specification S1 to S6)."""

from typing import NamedTuple

import numpy as np

from interplay.core.jit import kernel, phase
from interplay.gridworld.board import NOWHERE, Array
from interplay.gridworld.rules.cells import clear_grid, enter_cell, may_enter
from interplay.gridworld.rules.mazes import grow_maze
from interplay.kernels.philox import integer_below

OK, NO_ROOM, OCCUPIED, OUTSIDE, ON_TARGET = 0, 1, 2, 3, 4
FREE, BARRIER, OTHER = 0, 1, 2  # roles around a target
_TRIES = 24


class Manner(NamedTuple):
    """Options of placement; all but the first two are relative to a target."""

    sharing: bool  # agents at random may share cells where overlapping allows
    shuffled: bool  # in random order within each group
    maze: bool = False  # a maze is drawn from the target's cell; barriers are placed on its walls, free agents on its passages
    strict: bool = True  # see `interplay.gridworld.rules.mazes`
    cluster: bool = False  # barriers take the open cells nearest to the target
    scatter: bool = False  # free agents take the furthest


class Scratch(NamedTuple):
    """Working arrays of a placement, and its error."""

    order: Array  # (A,) int32
    ground: Array  # (R, C) int8
    frontier: Array  # (R * C,) int32
    trouble: Array  # (2,) int64: error code and slot


@phase
def is_open(agents, cells, overlap, sharing, w, a, row, col):
    """Whether a cell is still available to an agent."""
    return cells[w, row, col].shown == 0 or (sharing and may_enter(agents, cells, overlap, w, a, row, col))


@phase
def draw_open_cell(agents, cells, overlap, stream, sharing, w, a, ground, kind):
    """A cell, uniform among those open to an agent, as row * C + col; -1 if there is none.

    Args:
        ground: (R, C) int8, the kind of each cell.
        kind: only cells of this kind; -1 = any.
    """
    rows, cols = cells.shape[1], cells.shape[2]
    for _ in range(_TRIES):  # most grids have free cells: far cheaper than a list of them
        cell = integer_below(stream[w, 0], stream[w, 1], stream[w, 2], rows * cols)
        stream[w, 2] += np.uint64(1)
        row, col = cell // cols, cell % cols
        if (kind < 0 or ground[row, col] == kind) and is_open(
            agents, cells, overlap, sharing, w, a, row, col
        ):
            return cell
    several = 0
    for cell in range(rows * cols):
        row, col = cell // cols, cell % cols
        several += (kind < 0 or ground[row, col] == kind) and is_open(
            agents, cells, overlap, sharing, w, a, row, col
        )
    if several == 0:
        return np.int64(-1)
    pick = integer_below(stream[w, 0], stream[w, 1], stream[w, 2], several)
    stream[w, 2] += np.uint64(1)
    for cell in range(rows * cols):
        row, col = cell // cols, cell % cols
        if (kind < 0 or ground[row, col] == kind) and is_open(
            agents, cells, overlap, sharing, w, a, row, col
        ):
            if pick == 0:
                return np.int64(cell)
            pick -= 1
    return np.int64(-1)


@phase
def nearest_open_cell(agents, cells, overlap, sharing, w, a, ground, kind, row0, col0, furthest):
    """The open cell nearest to, or furthest from, a cell; ties: the first in reading order. -1 if there is none."""
    best, found = np.int64(-1), np.int64(-1)
    for row in range(cells.shape[1]):
        for col in range(cells.shape[2]):
            if kind >= 0 and ground[row, col] != kind:
                continue
            if not is_open(agents, cells, overlap, sharing, w, a, row, col):
                continue
            distance = np.int64((row - row0) ** 2 + (col - col0) ** 2)
            if best < 0 or (distance > best if furthest else distance < best):
                best, found = distance, np.int64(row * cells.shape[2] + col)
    return found


@phase
def put_at_start(agents, cells, overlap, w, a):
    """Places an agent at its initial position: OK, OUTSIDE or OCCUPIED."""
    row, col = agents[w, a].first_row, agents[w, a].first_col
    if row < 0 or col < 0 or row >= cells.shape[1] or col >= cells.shape[2]:
        return OUTSIDE
    if not may_enter(agents, cells, overlap, w, a, row, col):
        return OCCUPIED
    enter_cell(agents, cells, w, a, row, col)
    return OK


@phase
def order_slots(agents, stream, members, shuffled, w, order):
    """Slots with an initial position, then the others, each group in its order or at random.

    Returns:
        Lengths of the first group, and of both.
    """
    first = 0
    for a in range(agents.shape[1]):
        if members[a] and agents[w, a].first_row != NOWHERE:
            order[first] = a
            first += 1
    at = first
    for a in range(agents.shape[1]):
        if members[a] and agents[w, a].first_row == NOWHERE:
            order[at] = a
            at += 1
    if shuffled:
        shuffle_part(stream, w, order, 0, first)
        shuffle_part(stream, w, order, first, at)
    return first, at


@phase
def shuffle_part(stream, w, order, lo, hi):
    """Fisher and Yates on ``order[lo:hi]``."""
    for i in range(hi - 1, lo, -1):
        j = lo + integer_below(stream[w, 0], stream[w, 1], stream[w, 2], i - lo + 1)
        stream[w, 2] += np.uint64(1)
        order[i], order[j] = order[j], order[i]


@kernel
def shuffle_orders(stream, order, count, lo, hi):
    """Shuffles the first ``count[w]`` entries of each row of ``order``."""
    for w in range(lo, hi):
        for i in range(count[w] - 1, 0, -1):
            j = integer_below(stream[w, 0], stream[w, 1], stream[w, 2], i + 1)
            stream[w, 2] += np.uint64(1)
            order[w, i], order[w, j] = order[w, j], order[w, i]


@kernel
def place_agents(board, overlap, which, members, manner, scratch):
    """Clears the grids of the worlds in ``which`` and places all members: initial positions first, then at random.

    Args:
        which: (W,) bool.
        members: (A,) bool, agents to place; the others stay off the grid.
        scratch: `trouble` is written.
    """
    agents, cells, stream = board.agents, board.cells, board.stream
    order, ground, trouble = scratch.order, scratch.ground, scratch.trouble
    for w in range(which.shape[0]):
        if not which[w]:
            continue
        clear_grid(agents, cells, w)
        first, both = order_slots(agents, stream, members, manner.shuffled, w, order)
        for i in range(both):
            a = order[i]
            if i < first:
                problem = put_at_start(agents, cells, overlap, w, a)
            else:
                cell = draw_open_cell(agents, cells, overlap, stream, manner.sharing, w, a, ground, -1)
                problem = OK if cell >= 0 else NO_ROOM
                if cell >= 0:
                    enter_cell(agents, cells, w, a, cell // cells.shape[2], cell % cells.shape[2])
            if problem != OK:
                trouble[0], trouble[1] = problem, a
                return


@kernel
def place_around_target(board, overlap, which, members, target, roles, manner, scratch):
    """As `place_agents`, with the target first, barriers and free agents in relation to it.

    Args:
        target: slot.
        roles: (A,) int8: FREE, BARRIER or OTHER.
    """
    agents, cells, stream = board.agents, board.cells, board.stream
    sharing, shuffled, maze, strict, cluster, scatter = manner
    order, ground, frontier, trouble = scratch
    cols = cells.shape[2]
    for w in range(which.shape[0]):
        if not which[w]:
            continue
        clear_grid(agents, cells, w)
        problem = OK
        if agents[w, target].first_row != NOWHERE:
            problem = put_at_start(agents, cells, overlap, w, target)
        else:
            cell = draw_open_cell(agents, cells, overlap, stream, sharing, w, target, ground, -1)
            enter_cell(agents, cells, w, target, cell // cols, cell % cols)
        if problem != OK:
            trouble[0], trouble[1] = problem, target
            return
        row0, col0 = agents[w, target].row, agents[w, target].col
        if maze:
            grow_maze(stream, w, row0, col0, strict, ground, frontier)
        first, both = order_slots(agents, stream, members, shuffled, w, order)
        for i in range(both):
            a = order[i]
            if a == target:
                continue
            if i < first:
                problem = put_at_start(agents, cells, overlap, w, a)
                if problem == OCCUPIED and agents[w, a].first_row == row0 and agents[w, a].first_col == col0:
                    problem = ON_TARGET
            else:
                kind = -1 if not maze or roles[a] == OTHER else roles[a]
                if cluster and roles[a] == BARRIER:
                    cell = nearest_open_cell(
                        agents, cells, overlap, sharing, w, a, ground, kind, row0, col0, False
                    )
                elif scatter and roles[a] == FREE:
                    cell = nearest_open_cell(
                        agents, cells, overlap, sharing, w, a, ground, kind, row0, col0, True
                    )
                else:
                    cell = draw_open_cell(agents, cells, overlap, stream, sharing, w, a, ground, kind)
                problem = OK if cell >= 0 else NO_ROOM
                if cell >= 0:
                    enter_cell(agents, cells, w, a, cell // cols, cell % cols)
            if problem != OK:
                trouble[0], trouble[1] = problem, a
                return
