"""The grid: the agents in each cell, and which of them may share one.

It owns the board of one world; ``grid[row, col]`` is a dict of id -> agent.
Source: manual 3.1.3 and 7.5.1; specification 2.6.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from interplay.gridworld.agents import GridWorldAgent
from interplay.gridworld.board import LARGEST_ENCODING, Array, Board, Rows, new_board, widened
from interplay.gridworld.rules import cells as rules
from interplay.sim.checks import is_exactly, require

_ZERO = np.int64(0)
_WHOLE = (int, np.integer)  # an index that is a number, not a slice nor an array


class Grid:
    """Rows and columns of cells with agents in them.

    Args:
        overlapping: encoding -> encodings (an int or a set) that may share its cell; made symmetric. None: no sharing.

    Attributes:
        board: the arrays that hold everything, of one world.

    Example:
        >>> grid = Grid(2, 3, overlapping={1: 2})
        >>> grid.overlapping
        {1: {2}, 2: {1}}
    """

    def __init__(self, rows: int, cols: int, overlapping: Any = None, **kwargs: Any) -> None:
        for name, value in (("rows", rows), ("cols", cols)):
            require(
                is_exactly(value, int) and value > 0, f"grid: {name} {value!r} is no positive int; give one"
            )
        self._agents: list[GridWorldAgent] = []
        self._was_reset = False
        self._rng: np.random.Generator | None = None
        self._set_board(new_board(1, 0, rows, cols))
        entropy = np.random.SeedSequence().generate_state(1, np.uint64)
        self.board.stream[0] = entropy[0], 0, 0  # until a simulation seeds it
        self.overlapping = overlapping

    @property
    def rows(self) -> int:
        return int(self.board.cells.shape[1])

    @property
    def cols(self) -> int:
        return int(self.board.cells.shape[2])

    @property
    def overlapping(self) -> dict[int, set[int]]:
        """Encoding -> encodings that may share its cell."""
        return self._overlapping

    @overlapping.setter
    def overlapping(self, value: Any) -> None:
        given = as_mapping(value, "grid: overlapping") if value is not None else {}
        for encoding in {*given, *(other for others in given.values() for other in others)}:
            require(
                0 < encoding <= LARGEST_ENCODING,
                f"grid: overlapping names {encoding}, which is no encoding; give ints from 1 to {LARGEST_ENCODING}",
            )
        both: dict[int, set[int]] = {}
        for one, others in given.items():
            both.setdefault(one, set())
            for other in others:
                both[one].add(other)
                both.setdefault(other, set()).add(one)
        self._overlapping = both
        self._overlap = as_matrix(both, self.top)

    @property
    def rng(self) -> np.random.Generator:
        """Generator of components that are no kernels; the simulation seeds it."""
        if self._rng is None:
            self._rng = np.random.default_rng()
        return self._rng

    @rng.setter
    def rng(self, value: np.random.Generator) -> None:
        self._rng = value

    @property
    def top(self) -> int:
        """The largest encoding of the agents."""
        return self._rows.top

    @property
    def overlap(self) -> Array:
        """`overlapping` as a matrix (E + 1, E + 1) bool."""
        if len(self._overlap) <= self._rows.top:
            self._overlap = as_matrix(self._overlapping, self._rows.top)
        return self._overlap

    @property
    def agents(self) -> tuple[GridWorldAgent, ...]:
        """All agents of the grid, by slot."""
        return tuple(self._agents)

    def __getitem__(self, subscript: Any) -> Any:
        """The occupants of a cell, ``grid[row, col]``: id -> agent, in the order of entry; None before the first reset.

        Rows, columns and windows are indexed as in a NumPy array: ``grid[0]``, ``grid[:, 2]`` and ``grid[1:3, 4:]`` are arrays of
        objects with such a dict, or None, for each cell.

        Raises:
            IndexError: for an index outside, or not of two dimensions.
        """
        if type(subscript) is tuple and len(subscript) == 2:
            row, col = subscript
            if isinstance(row, _WHOLE) and isinstance(col, _WHOLE):
                return self._occupants(row, col)
        places: Any = np.arange(self.rows * self.cols).reshape(self.rows, self.cols)[subscript]
        if np.ndim(places) == 0:
            return self._occupants(*divmod(int(places), self.cols))
        found = np.full(np.shape(places), None, object)
        for index, place in np.ndenumerate(places):
            found[index] = self._occupants(*divmod(int(place), self.cols))
        return found

    def _occupants(self, row: Any, col: Any) -> dict[str, GridWorldAgent] | None:
        if not self._was_reset:
            return None
        found = {}
        slot = int(self.board.cells["first"][0, row, col])
        while slot >= 0:
            found[self._agents[slot].id] = self._agents[slot]
            slot = self._rows.next.item(slot)
        return found

    def reset(self, **kwargs: Any) -> None:
        """Empties every cell."""
        self._was_reset = True
        rules.clear(self.board.agents, self.board.cells, _ZERO)

    def query(self, agent: GridWorldAgent, ndx: Any) -> bool:
        """Whether a cell is free, or all its occupants may share it with the agent; only encodings count."""
        row, col = self._cell(ndx)
        if not self._holds(agent):  # a query does not make the agent join
            occupants = (self[row, col] or {}).values()
            return all(other.encoding in self._overlapping.get(agent.encoding, ()) for other in occupants)
        return bool(rules.query(self.board.agents, self.board.cells, self.overlap, 0, agent._slot, row, col))

    def place(self, agent: GridWorldAgent, ndx: Any) -> bool:
        """Places an agent into a cell if it is available, and returns whether it was. The agent joins the grid if necessary."""
        row, col = self._cell(ndx)
        self.join([agent])
        slot, self._was_reset = agent._slot, True
        return bool(rules.place(self.board.agents, self.board.cells, self.overlap, 0, slot, row, col))

    def remove(self, agent: GridWorldAgent, ndx: Any) -> None:
        """Takes an agent out of a cell.

        Raises:
            KeyError: if it is not there.
        """
        row, col = self._cell(ndx)
        holds, rows, slot = self._holds(agent), self._rows, agent._slot
        if not (holds and rows.placed[slot]) or (rows.row.item(slot), rows.col.item(slot)) != (row, col):
            raise KeyError(f"grid: {agent.id} is not at ({row}, {col}); it is at {agent.position}")
        rules.remove(self.board.agents, self.board.cells, _ZERO, slot)

    def join(self, agents: Iterable[GridWorldAgent]) -> None:
        """Adds agents: from now on their values are stored in this grid's board, and no longer in another grid's."""
        new = list({id(agent): agent for agent in agents if not self._holds(agent)}.values())
        for agent in new:
            if any(agent is member for member in self._agents):
                self._take_back(agent)
        new = [agent for agent in new if agent._rows is not self._rows]
        if not new:
            return
        narrow = self._rows
        self._set_board(widened(self.board, len(self._agents) + len(new)))
        for agent in self._agents:
            if agent._rows is narrow:  # and not already of another grid
                agent._rows = self._rows
        for agent in new:
            self._agents.append(agent)
            agent._bind(self._rows, len(self._agents) - 1)

    def slot_of(self, agent: GridWorldAgent) -> int:
        """The agent's column in the board; one without a grid joins this one."""
        if agent._rows is not self._rows:
            self._refuse_lent(agent)
            self.join([agent])
        return agent._slot

    def check_members(self) -> None:
        """Refuses agents that have moved to another grid."""
        rows = self._rows
        for agent in self._agents:
            if agent._rows is not rows:
                self._refuse_lent(agent)

    def _refuse_lent(self, agent: GridWorldAgent) -> None:
        require(
            self._holds(agent) or agent._rows.size is None,
            f"agent {agent.id} belongs to another grid now; give each simulation agents of its own: copy.deepcopy(agents)",
        )

    def _holds(self, agent: Any) -> bool:
        require(isinstance(agent, GridWorldAgent), f"grid: {agent!r} is no agent; give a GridWorldAgent")
        return bool(agent._rows is self._rows)

    def _take_back(self, agent: GridWorldAgent) -> None:
        """Returns an agent that was in another grid to its own slot."""
        slot = next(slot for slot, member in enumerate(self._agents) if member is agent)
        if self._rows.placed[slot]:
            rules.remove(self.board.agents, self.board.cells, _ZERO, slot)
        agent._bind(self._rows, slot)

    def _cell(self, ndx: Any) -> tuple[int, int]:
        try:
            row, col = (int(number) for number in ndx)
            whole = (row, col) == tuple(ndx)
        except (TypeError, ValueError, OverflowError):
            whole = False
        require(whole, f"grid: cell {ndx!r} is no pair of integers; give row and column")
        inside = 0 <= row < self.rows and 0 <= col < self.cols
        require(
            inside,
            f"grid: cell ({row}, {col}) is outside; rows are 0..{self.rows - 1}, columns 0..{self.cols - 1}",
        )
        return row, col

    def _set_board(self, board: Board) -> None:
        self.board = board
        self._rows = Rows(board.agents, self._show, (self.rows, self.cols))

    def _show(self, slot: int) -> None:
        rules.refresh(self.board.agents, self.board.cells, _ZERO, slot)

    def __copy__(self) -> Grid:
        raise TypeError("a grid and its agents hold one board; copy both with copy.deepcopy")

    def __deepcopy__(self, memo: dict[int, Any]) -> Grid:
        """A grid with copies of the agents."""
        twin = type(self).__new__(type(self))
        memo[id(self)] = twin
        for name, value in self.__dict__.items():
            if name not in ("board", "_rows", "_agents"):
                twin.__dict__[name] = copy.deepcopy(value, memo)
        twin._agents = [copy.deepcopy(agent, memo) for agent in self._agents]
        twin._set_board(Board(*(array.copy() for array in self.board)))
        for slot, agent in enumerate(twin._agents):
            if self._agents[slot]._rows is self._rows:
                agent._rows, agent._slot = twin._rows, slot
        return twin


def as_mapping(value: Any, name: str, containers: tuple[type, ...] = (set, frozenset)) -> dict[int, set[int]]:
    """A mapping of encodings with sets as values; the argument is not changed (C2, C3)."""
    require(is_exactly(value, dict), f"{name} {value!r} is no dict; give encoding -> encodings")
    for key in value:
        require(is_exactly(key, int), f"{name}: key {key!r} is no encoding; give ints")
    return {key: as_encodings(others, f"{name}[{key}]", containers) for key, others in value.items()}


def as_encodings(value: Any, name: str, containers: tuple[type, ...] = (set, frozenset)) -> set[int]:
    """One encoding or several, as a set."""
    if is_exactly(value, int):
        return {value}
    if not isinstance(value, containers):
        raise TypeError(f"{name} is {value!r}; give an int or a set of ints")
    members: Any = value
    for member in members:
        require(is_exactly(member, int), f"{name} holds {member!r}, which is no encoding; give ints")
    return set(members)


def as_matrix(mapping: Mapping[int, Iterable[int]], top: int) -> Array:
    """A mapping of encodings as a matrix (E + 1, E + 1) bool, at least up to ``top``."""
    known = range(1, LARGEST_ENCODING + 1)
    pairs = [
        (one, other) for one, others in mapping.items() for other in others if one in known and other in known
    ]
    top = max([top, *(max(pair) for pair in pairs)])
    matrix = np.zeros((top + 1, top + 1), bool)
    for one, other in pairs:
        matrix[one, other] = True
    return matrix
