"""The arrays of a grid world: one table of agents and one of cells for a batch of worlds.

They hold the state; agent objects and the grid are views of the row of one world, and every rule is a kernel over them
(`interplay.gridworld.rules`). Axes: W worlds, A agents, R rows, C columns, E the largest encoding.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces

from interplay.core.jit import records

AGENT = np.dtype(
    [
        ("health", np.float64),  # 0..1
        ("reward", np.float64),  # earned since last collected
        ("strength", np.float64),  # health that one attack takes
        ("accuracy", np.float64),  # chance of an attack
        ("first_health", np.float64),  # at reset; NaN = drawn from 0..1
        ("ammo", np.int64),  # rounds left, never below 0
        ("first_ammo", np.int64),  # at reset; may be negative
        ("row", np.int32),  # 0..R-1; -1 = never placed
        ("col", np.int32),
        ("first_row", np.int32),  # at reset; NOWHERE = anywhere
        ("first_col", np.int32),
        ("next", np.int32),  # slot of the next occupant of the cell; -1 = none
        ("encoding", np.int32),  # 1..E
        ("view_range", np.int32),  # cells
        ("move_range", np.int32),
        ("attack_range", np.int32),
        ("attacks", np.int32),  # simultaneous attacks
        ("orientation", np.int32),  # 1 left, 2 down, 3 right, 4 up; 0 = none
        ("first_orientation", np.int32),  # at reset; 0 = any
        ("active", np.bool_),
        ("placed", np.bool_),  # is in its cell
        ("blocking", np.bool_),  # hides cells behind it
        ("has_ammo", np.bool_),  # its attacks need ammo
        ("learns", np.bool_),  # observes and acts
    ],
    align=True,
)

# Summary of a cell, so that most queries need not walk along its occupants.
CELL = np.dtype(
    [
        ("shown", np.int32),  # 0 = empty, else the first occupant's encoding, with the flags below
        ("first", np.int32),  # slot of the first occupant; -1 = none
    ]
)
SEVERAL = 1 << 29  # flag: more than one occupant
SCREEN = 1 << 30  # flag: an occupant may block the view
Array = np.ndarray
LARGEST_ENCODING = 4095
NOWHERE = -(2**31)  # first_row of an agent without initial position


class Board(NamedTuple):
    """W grids with the same agents."""

    agents: Array  # (W, A) AGENT
    cells: Array  # (W, R, C) CELL
    stream: Array  # (W, 3) uint64 random streams, see `interplay.core.seeding`


def new_board(num_worlds: int, num_agents: int, rows: int, cols: int) -> Board:
    """Empty grids, with agents never placed."""
    cells = records((num_worlds, rows, cols), CELL)
    cells["first"] = -1
    return Board(new_agents(num_worlds, num_agents), cells, np.zeros((num_worlds, 3), np.uint64))


def new_agents(num_worlds: int, num_agents: int) -> Array:
    """A table of agents never placed."""
    agents = records((num_worlds, num_agents), AGENT)
    for name in ("row", "col", "next"):
        agents[name] = -1
    agents["first_row"] = agents["first_col"] = NOWHERE
    agents["first_health"] = np.nan
    agents["health"] = 1.0
    agents["active"] = True
    return agents


class Rows:
    """The agents' fields of one world as arrays (A,), which agent objects read and write.

    Args:
        agents: (1, A) AGENT, of a board; only this is pickled, because all holders get the same array.

    Attributes:
        table: (A,) AGENT; each of its fields is an attribute too.
        top: the largest encoding.
        show: updates the cell of a slot; None without a grid.
        size: rows and columns of the grid; None without a grid.
    """

    def __init__(
        self, agents: Array, show: Callable[[int], None] | None = None, size: tuple[int, int] | None = None
    ) -> None:
        self._agents = agents
        self.table = agents[0]
        self.show = show
        self.size = size
        self.top = int(self.table["encoding"].max(initial=0))
        for name in AGENT.names or ():
            setattr(self, name, self.table[name])

    def __getstate__(self) -> Any:
        return self._agents, self.show, self.size, self.top

    def __setstate__(self, state: Any) -> None:
        *given, top = state
        self.__init__(*given)  # type: ignore[misc]
        self.top = top  # the agent with the largest encoding may have left

    def is_cell(self, row: int, col: int) -> bool:
        """Whether the grid, if there is one, has this cell."""
        return self.size is None or (0 <= row < self.size[0] and 0 <= col < self.size[1])

    def copy_into(self, other: Rows, slot: int, other_slot: int = 0) -> None:
        """Copies one agent's fields into other rows, without placing it in a cell."""
        other.table[other_slot] = self.table[slot]
        other.next[other_slot], other.placed[other_slot] = -1, False
        if not other.is_cell(self.row.item(slot), self.col.item(slot)):  # the other grid is smaller
            other.row[other_slot] = other.col[other_slot] = -1
        other.top = max(other.top, self.encoding.item(slot))

    def __getattr__(self, name: str) -> Array:
        raise AttributeError(name)  # tells the type checker that fields are arrays


def widened(board: Board, num_agents: int) -> Board:
    """The same board with room for more agents."""
    agents = new_agents(len(board.agents), num_agents)
    agents[:, : board.agents.shape[1]] = board.agents
    return Board(agents, board.cells, board.stream)


def repeated(board: Board, num_worlds: int) -> Board:
    """The first world of a board, `num_worlds` times, with unseeded streams."""
    return Board(
        np.repeat(board.agents[:1], num_worlds, axis=0).view(type(board.agents)),
        np.repeat(board.cells[:1], num_worlds, axis=0).view(type(board.cells)),
        np.zeros((num_worlds, 3), np.uint64),
    )


def state_space(board: Board) -> spaces.Box:
    """The space of `global_state`: six numbers per agent."""
    return spaces.Box(0.0, 1.0, (6 * board.agents.shape[1],), np.float32)


def global_state(board: Board) -> Array:
    """Place and condition of every agent, learning or not, by slot: (W, 6 A) float32 between 0 and 1.

    On the grid, active, health; row and column, counted from 1, over their number, 0 if never placed; orientation in quarters,
    0 = none. Internal arrays of components are not included.
    """
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
