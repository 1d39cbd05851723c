"""Directions on a board with cells numbered row by row."""

from interplay.core.jit import phase
from interplay.worlds.pommerman.state import DOWN, LEFT, RIGHT, UP


@phase
def step_along(direction, side):
    """The difference of cell numbers along a direction."""
    if direction == UP:
        return -side
    if direction == DOWN:
        return side
    if direction == LEFT:
        return -1
    return 1 if direction == RIGHT else 0


@phase
def edge_between(cell, other):
    """A number for the edge between two neighbouring cells."""
    first = min(cell, other)
    return 2 * first + (max(cell, other) - first > 1)  # numbers differ by more than 1 within a column
