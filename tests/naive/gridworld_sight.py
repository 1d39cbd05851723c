"""Slow, obvious masking of blockers: rays as lines in floating point. The twin of `gridworld/rules/sight.py`.

Cells are squares of side 1 with their centres on whole numbers; the observer's centre is (0, 0), rows grow downwards.
"""

from __future__ import annotations

import math

Cell = tuple[int, int]


def corners(cell: Cell) -> list[tuple[float, float]]:
    """The four corners of a cell."""
    row, col = cell
    return [(row + dr, col + dc) for dr in (-0.5, 0.5) for dc in (-0.5, 0.5)]


def angle(point: tuple[float, float], middle: float) -> float:
    """The direction of a point from the observer, against another direction, in -pi..pi."""
    turn = math.atan2(point[0], point[1]) - middle
    return math.remainder(turn, 2 * math.pi)


def masks(blocker: Cell, cell: Cell) -> bool:
    """Whether a blocker hides a cell: its centre lies strictly between the two outermost rays, and not nearer."""
    if blocker in ((0, 0), cell):
        return False
    middle = math.atan2(blocker[0], blocker[1])
    seen = [angle(corner, middle) for corner in corners(blocker)]
    between = min(seen) + 1e-9 < angle((float(cell[0]), float(cell[1])), middle) < max(seen) - 1e-9
    nearer = [
        (there > 0 and here < there) or (there < 0 and here > there)
        for there, here in zip(blocker, cell, strict=True)
    ]
    return between and not any(nearer)


def window(at: Cell, reach: int, size: Cell, shown: dict[Cell, int], blockers: set[Cell]) -> list[list[int]]:
    """What an observer sees around it.

    Args:
        at: where it is.
        reach: cells in each direction.
        size: rows and columns of the grid.
        shown: cell -> encoding.
        blockers: cells of active blockers.
    """
    near = [(row - at[0], col - at[1]) for row, col in blockers]
    near = [(row, col) for row, col in near if max(abs(row), abs(col)) <= reach]
    view = []
    for down in range(-reach, reach + 1):
        line = []
        for right in range(-reach, reach + 1):
            row, col = at[0] + down, at[1] + right
            if any(masks(blocker, (down, right)) for blocker in near):
                line.append(-2)
            elif 0 <= row < size[0] and 0 <= col < size[1]:
                line.append(shown.get((row, col), 0))
            else:
                line.append(-1)
        view.append(line)
    return view
