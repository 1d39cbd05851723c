"""Mazes for placing agents in them."""

from __future__ import annotations

import numpy as np

from interplay.gridworld.board import Array
from interplay.gridworld.rules.mazes import draw_maze
from interplay.sim.checks import is_exactly, require


def generate_maze(
    rows: int, cols: int, start: Array | None = None, seed: int | None = None, strict: bool = True
) -> Array:
    """Draws a maze by randomised Prim growth: passages are connected and have no loops.

    Args:
        start: (2,) a cell that becomes a passage; None = any.
        seed: None = random.
        strict: as the release does, open a wall only where two opposite neighbours differ in having been visited; False
            leaves that condition out, for a few more passages (on 8 x 18 cells 91 on average instead of 87).

    Returns:
        (rows, cols) int: 0 passage, 1 wall.

    Raises:
        IndexError: if the start is outside.

    Example:
        >>> int(generate_maze(5, 7, start=np.array([2, 3]))[2, 3])
        0
    """
    for name, value in (("rows", rows), ("cols", cols)):
        require(is_exactly(value, int) and value > 0, f"maze: {name} {value!r} is no positive int; give one")
    require(is_exactly(strict, bool), f"maze: strict {strict!r} is no bool; give True or False")
    rng = np.random.default_rng(seed)
    if start is None:
        start = rng.integers([rows, cols])
    numbers = isinstance(start, np.ndarray) and start.shape == (2,) and start.dtype.kind in "iuf"
    require(
        numbers and bool(np.all(start == np.floor(start))),
        f"maze: start {start!r} is no array of two integers; give row and column",
    )
    row, col = (int(number) for number in start)
    if not (0 <= row < rows and 0 <= col < cols):
        raise IndexError(f"maze: start ({row}, {col}) is outside {rows} x {cols}; give a cell within")
    maze = np.zeros((rows, cols), np.int8)
    stream = np.array([[rng.integers(2**63), 0, 0]], np.uint64)
    draw_maze(stream, 0, row, col, strict, maze, np.zeros(rows * cols, np.int32))
    return maze.astype(int)
