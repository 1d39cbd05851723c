"""Mazes by randomised Prim growth (specification U1): passages are connected and have no loops.

The release opens a wall only if exactly one of the neighbours above and below, or of those left and right, was not visited yet. Cells
beyond the edge count as never visited. Without that condition there are some more passages.
"""

import numpy as np

from interplay.core.jit import kernel, phase
from interplay.kernels.philox import integer_below

PASSAGE, WALL = 0, 1
_WAITING = 2  # a wall in the frontier


@phase
def open_neighbours(maze, row, col):
    """Number of a cell's four neighbours that are passages."""
    several = 0
    several += row > 0 and maze[row - 1, col] == PASSAGE
    several += col > 0 and maze[row, col - 1] == PASSAGE
    several += row + 1 < maze.shape[0] and maze[row + 1, col] == PASSAGE
    several += col + 1 < maze.shape[1] and maze[row, col + 1] == PASSAGE
    return several


@phase
def is_fresh(maze, row, col):
    """Whether a cell was not visited yet: no passage, and never in the frontier."""
    if row < 0 or col < 0 or row >= maze.shape[0] or col >= maze.shape[1]:
        return True
    return maze[row, col] == WALL


@phase
def leads_on(maze, row, col):
    """Whether two opposite neighbours of a cell differ in having been visited."""
    upright = is_fresh(maze, row - 1, col) != is_fresh(maze, row + 1, col)
    return upright or is_fresh(maze, row, col - 1) != is_fresh(maze, row, col + 1)


@phase
def await_neighbours(maze, row, col, frontier, waiting):
    """Adds a cell's walls to the frontier; returns its new length."""
    for k in range(4):
        r = row + (k == 1) - (k == 3)
        c = col + (k == 2) - (k == 0)
        if r >= 0 and c >= 0 and r < maze.shape[0] and c < maze.shape[1] and maze[r, c] == WALL:
            maze[r, c] = _WAITING
            frontier[waiting] = r * maze.shape[1] + c
            waiting += 1
    return waiting


@phase
def grow_maze(stream, w, row, col, strict, maze, frontier):
    """Fills ``maze`` (R, C) int8 with passages and walls, beginning at a passage.

    Args:
        strict: open only walls that lead on.
        frontier: (R * C,) int32 scratch.
    """
    for r in range(maze.shape[0]):
        for c in range(maze.shape[1]):
            maze[r, c] = WALL
    maze[row, col] = PASSAGE
    waiting = await_neighbours(maze, row, col, frontier, 0)
    while waiting > 0:
        pick = integer_below(stream[w, 0], stream[w, 1], stream[w, 2], waiting)
        stream[w, 2] += np.uint64(1)
        cell = frontier[pick]
        waiting -= 1
        frontier[pick] = frontier[waiting]
        r, c = cell // maze.shape[1], cell % maze.shape[1]
        if open_neighbours(maze, r, c) < 2 and (not strict or leads_on(maze, r, c)):
            maze[r, c] = PASSAGE
            waiting = await_neighbours(maze, r, c, frontier, waiting)
    for r in range(maze.shape[0]):
        for c in range(maze.shape[1]):
            if maze[r, c] != PASSAGE:
                maze[r, c] = WALL


@kernel
def draw_maze(stream, w, row, col, strict, maze, frontier):
    grow_maze(stream, w, row, col, strict, maze, frontier)
