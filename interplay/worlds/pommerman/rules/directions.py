"""Directions on a board whose cells are numbered row by row."""

from interplay.core.jit import phase
from interplay.worlds.pommerman.state import DOWN, LEFT, RIGHT, UP


@phase
def step_along(direction, side):
    """What a direction adds to a cell's number."""
    if direction == UP:
        return -side
    if direction == DOWN:
        return side
    if direction == LEFT:
        return -1
    return 1 if direction == RIGHT else 0


@phase
def edge_between(cell, other):
    """A number for the side that two neighbours share; cells of one column are further apart than 1."""
    first = min(cell, other)
    return 2 * first + (max(cell, other) - first > 1)
