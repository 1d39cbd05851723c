"""Visible cells of an agent, for authors of components (specification O8)."""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.gridworld.agents import GridWorldAgent
from interplay.gridworld.board import Array
from interplay.gridworld.grid import Grid
from interplay.gridworld.rules.windows import hide
from interplay.sim.checks import require


def create_grid_and_mask(
    agent: GridWorldAgent, grid: Grid, grid_range: int, agents: dict[str, Any] | None = None
) -> tuple[Array, Array]:
    """The cells around an agent, and which of them it can see.

    Args:
        grid_range: cells in each direction.
        agents: unused; kept for components written for the manual.

    Returns:
        (side, side) objects: a dict id -> agent for each cell, None outside the grid; and (side, side) int, 1 for visible cells,
        where side = 2 * grid_range + 1.
    """
    whole = isinstance(grid_range, int | np.integer) and not isinstance(grid_range, bool)
    require(
        whole and grid_range >= 0, f"grid_range {grid_range!r} is no int from 0; give cells in each direction"
    )
    side = 2 * int(grid_range) + 1
    cells = np.full((side, side), None, object)
    slot, position = grid.slot_of(agent), agent.position
    require(position is not None, f"agent {agent.id} has no position yet; reset the simulation first")
    assert position is not None  # for the type checker
    top, left = int(position[0]) - grid_range, int(position[1]) - grid_range
    for row in range(max(top, 0), min(top + side, grid.rows)):
        for col in range(max(left, 0), min(left + side, grid.cols)):
            cells[row - top, col - left] = grid[row, col]
    mask = np.ones((side, side, 1), np.int64)
    hide(grid.board.agents, grid.board.cells, 0, slot, grid_range, mask)
    return cells, (mask[:, :, 0] > 0).astype(int)
