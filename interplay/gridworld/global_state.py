"""The global state of a grid world: place and condition of every agent, learning or not."""

from __future__ import annotations

import numpy as np
from gymnasium import spaces

from interplay.gridworld.board import Array, Board

# Of each agent, between 0 and 1: is on the grid, is active, health; row and column, counted from 1, over their number, 0 if never
# placed; orientation in quarters, 0 = none.
_FIELDS = 6


def space_of(board: Board) -> spaces.Box:
    """Six numbers per agent."""
    return spaces.Box(0.0, 1.0, (board.agents.shape[1] * _FIELDS,), np.float32)


def global_state(board: Board) -> Array:
    """(W, 6 A) float32, agents in the order of their slots. Internal arrays of components are not included."""
    agents, (_, rows, cols) = board.agents, board.cells.shape
    fields = [
        agents["placed"],
        agents["active"],
        agents["health"],
        (agents["row"] + 1) / rows,
        (agents["col"] + 1) / cols,
        agents["orientation"] / 4,
    ]
    return np.stack(fields, axis=2).reshape(len(agents), -1).astype(np.float32)
