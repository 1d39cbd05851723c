"""The town as a grid of 20 x 20 cells: a fast proxy made from the same map (manual 4.2.4).

Fences are not in it. In our map they join neighbouring barrier cells, so a path between open cells is free in the town, too.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

import numpy as np

from interplay.core.errors import UserError
from interplay.worlds.navigation.config import CELLS, COVERED, SIDE
from interplay.worlds.navigation.geometry import Point
from interplay.worlds.navigation.town import Town, load_town

WALL, EMPTY, START, TARGET = "W", ".", "N", "T"
Cell = tuple[int, int]  # row from the north, column from the west

_SIZE = SIDE / CELLS


def proxy_map(town: Town | None = None) -> np.ndarray:
    """The town as characters.

    A cell is a barrier where a building covers its centre, or buildings cover half of it.

    Args:
        town: by default the one of `map.json`. Its buildings do not overlap.

    Returns:
        (20, 20) str, row 0 in the north: ``W`` wall, ``N`` navigator, ``T`` target, ``.`` empty.

    Raises:
        UserError: if start and waypoint lie in one cell, or one of them in a barrier.

    Example:
        >>> proxy_map().shape
        (20, 20)
    """
    town = town or load_town()
    grid = np.full((CELLS, CELLS), EMPTY)
    for cell in np.ndindex(CELLS, CELLS):
        if is_barrier((cell[0], cell[1]), town):
            grid[cell] = WALL
    for name, point, mark in (("start", town.start, START), ("waypoint", town.waypoint, TARGET)):
        cell = cell_of(point)
        if grid[cell] != EMPTY:
            raise UserError(f"{name} {point} lies in cell {cell}, which is {grid[cell]} already; move it")
        grid[cell] = mark
    return grid


def is_barrier(cell: Cell, town: Town) -> bool:
    """Whether buildings make a cell impassable in the grid."""
    (x, y), half = centre_of(cell), _SIZE / 2
    covered = 0.0
    for west, south, east, north in town.buildings:
        if west <= x <= east and south <= y <= north:
            return True
        across = min(east, x + half) - max(west, x - half)
        along = min(north, y + half) - max(south, y - half)
        covered += max(across, 0.0) * max(along, 0.0)
    return covered >= COVERED * _SIZE**2


def cell_of(point: Point) -> Cell:
    """The cell of a point.

    Example:
        >>> cell_of((0.0, 0.0)), cell_of((2100.0, 2100.0))
        ((19, 0), (0, 19))
    """
    column, up = (min(int(part / _SIZE), CELLS - 1) for part in point)
    return CELLS - 1 - up, column


def centre_of(cell: Cell) -> Point:
    """The point in the middle of a cell."""
    return (cell[1] + 0.5) * _SIZE, SIDE - (cell[0] + 0.5) * _SIZE


def steps_to_target(grid: np.ndarray) -> dict[Cell, int]:
    """Fewest moves to the target, one cell along a row or a column each, for every connected cell."""
    target = tuple(int(part[0]) for part in np.nonzero(grid == TARGET))
    steps = {(target[0], target[1]): 0}
    waiting = deque(steps)
    while waiting:
        cell = waiting.popleft()
        for near in neighbours(cell):
            if grid[near] != WALL and near not in steps:
                steps[near] = steps[cell] + 1
                waiting.append(near)
    return steps


def neighbours(cell: Cell) -> Iterator[Cell]:
    """The up to four cells that share a side with a cell."""
    for down, right in ((-1, 0), (0, 1), (1, 0), (0, -1)):
        row, column = cell[0] + down, cell[1] + right
        if 0 <= row < CELLS and 0 <= column < CELLS:
            yield row, column
