"""State components: the beginning of an episode (manual 3.2.1, 3.2.10, 3.2.11; specification 2.7)."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from interplay.core.errors import NoRoom, Refused
from interplay.gridworld.agents import AmmoAgent, GridWorldAgent, OrientationAgent
from interplay.gridworld.board import Array, Board
from interplay.gridworld.component import GridWorldBaseComponent
from interplay.gridworld.grid import as_encodings
from interplay.gridworld.rules import bodies, placement
from interplay.sim.checks import Checked, flag, require

_HERE = np.ones(1, bool)
_ONE = np.ones(1, np.int64)


class StateBaseComponent(GridWorldBaseComponent):
    """Base of state components."""

    @abstractmethod
    def reset(self, **kwargs: Any) -> None:
        """Begins an episode with this component's part of the state."""

    def end_step(self) -> None:
        """Passive changes of the state at the end of each step, after actions and rewards."""


def _encodings(value: Any, name: str) -> set[int]:
    return set() if value is None else as_encodings(value, name)


class BoardState(StateBaseComponent):
    """A state component that begins the episodes of a whole batch at once."""

    def reset(self, **kwargs: Any) -> None:
        self.grid.check_members()
        self.grid.join(self.agents.values())
        self.begin(self.grid.board, _HERE)
        self.grid._was_reset = True

    def end_step(self) -> None:
        self.end_all(self.grid.board, _ONE, 0, 1)

    def prepare(self, board: Board) -> None:
        """Makes the arrays of `arrays`, for as many worlds as the board has; called before the first `begin`."""

    def end_all(self, board: Board, acted: Array, lo: int, hi: int) -> None:
        """`end_step` for the worlds lo..hi-1; worlds where ``acted``, (W,) int64, is 0 do not change."""

    @abstractmethod
    def begin(self, board: Board, which: Array) -> None:
        """Begins episodes in the worlds of ``which``, (W,) bool."""


class PositionState(BoardState):
    """Places agents: at their initial positions, the others at random.

    Each of the others gets a cell uniformly among those that are open to its encoding, in the order of the dict.

    Args:
        no_overlap_at_reset: randomly placed agents share no cell, even where overlapping allows it.
        randomize_placement_order: shuffle the order of placement at every reset, within the two groups.
    """

    def __init__(
        self, no_overlap_at_reset: bool = False, randomize_placement_order: bool = False, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        require(
            self._only is None,
            f"{type(self).__name__}: only = {self._only!r}; it places all agents, leave it out",
        )
        self.no_overlap_at_reset = no_overlap_at_reset
        self.randomize_placement_order = randomize_placement_order

    no_overlap_at_reset = Checked(flag, "Whether randomly placed agents share no cell.")
    randomize_placement_order = Checked(flag, "Whether the order of placement is shuffled.")

    @property
    def ravelled_positions_available(self) -> dict[int, list[int]]:
        """Encoding -> cells, as row * cols + col, that are still open to it."""
        shown = self.grid.board.cells["first"][0].ravel()
        encodings = sorted({agent.encoding for agent in self.agents.values()})
        return {
            encoding: [cell for cell in range(len(shown)) if self._is_open(encoding, cell)]
            for encoding in encodings
        }

    def _is_open(self, encoding: int, cell: int) -> bool:
        occupants = self.grid[divmod(cell, self.cols)] or {}
        shared = not self.no_overlap_at_reset and all(
            self.grid.overlap[encoding, other.encoding] for other in occupants.values()
        )
        return not occupants or shared

    def begin(self, board: Board, which: Array) -> None:
        ground = np.zeros(board.cells.shape[1:], np.int8)
        order, frontier = np.zeros(board.agents.shape[1], np.int32), np.zeros(ground.size, np.int32)
        scratch = placement.Scratch(order, ground, frontier, np.zeros(2, np.int64))
        self._place(board, which, scratch)
        trouble, slot = scratch.trouble.tolist()
        if trouble != placement.OK:
            _raise(trouble, self.grid.agents[slot])

    def _place(self, board: Board, which: Array, scratch: placement.Scratch) -> None:
        manner = placement.Manner(not self.no_overlap_at_reset, self.randomize_placement_order)
        placement.place_agents(board, self.grid.overlap, which, self.supported_slots(), manner, scratch)


class TargetBarriersFreePlacementState(PositionState):
    """Barriers near a target, free agents far from it.

    The target is placed first, at its initial position or at random; then those with initial positions; then the others in
    the order of the dict.

    Args:
        target_agent: an agent of the simulation, or its id.
        barrier_encodings: an int or a set.
        free_encodings: an int or a set.
        cluster_barriers: each barrier takes the open cell nearest to the target; ties: the first in reading order.
        scatter_free_agents: each free agent takes the furthest.
        others: agents of neither encoding: None: are an error; ``"random"``: go anywhere.
    """

    maze = False
    strict_maze = True

    def __init__(
        self,
        target_agent: Any = None,
        barrier_encodings: Any = None,
        free_encodings: Any = None,
        cluster_barriers: bool = False,
        scatter_free_agents: bool = False,
        others: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.target_agent = target_agent
        self.barrier_encodings = barrier_encodings
        self.free_encodings = free_encodings
        self.cluster_barriers = cluster_barriers
        self.scatter_free_agents = scatter_free_agents
        require(
            others in (None, "random"), f'{type(self).__name__}: others {others!r} is not None or "random"'
        )
        self.others = others

    @property
    def target_agent(self) -> GridWorldAgent:
        """The agent around which the others are placed."""
        return self._target_agent

    @target_agent.setter
    def target_agent(self, value: Any) -> None:
        agent: Any = self.agents.get(value) if isinstance(value, str) else value
        known = any(agent is other for other in self.agents.values())
        require(
            known,
            f"{type(self).__name__}: target_agent {value!r} is not in the simulation; give an agent or its id",
        )
        self._target_agent: GridWorldAgent = agent

    barrier_encodings = Checked(_encodings, "Encodings of barriers.")
    free_encodings = Checked(_encodings, "Encodings of free agents.")
    cluster_barriers = Checked(flag, "Whether barriers stand near the target.")
    scatter_free_agents = Checked(flag, "Whether free agents stand far from the target.")

    def _place(self, board: Board, which: Array, scratch: placement.Scratch) -> None:
        manner = placement.Manner(
            not self.no_overlap_at_reset,
            self.randomize_placement_order,
            self.maze,
            self.strict_maze,
            self.cluster_barriers,
            self.scatter_free_agents,
        )
        target, members = self.grid.slot_of(self.target_agent), self.supported_slots()
        placement.place_around_target(
            board, self.grid.overlap, which, members, target, self._roles(), manner, scratch
        )

    def _role(self, encoding: int) -> int:
        if encoding in self.barrier_encodings:
            return placement.BARRIER
        return placement.FREE if encoding in self.free_encodings else placement.OTHER

    def _roles(self) -> Array:
        roles = np.full(len(self.grid.agents), placement.OTHER, np.int8)
        for slot, agent in enumerate(self.grid.agents):
            roles[slot] = self._role(agent.encoding)
            if roles[slot] == placement.OTHER:
                require(
                    self.others == "random",
                    f"{type(self).__name__}: {agent.id} has encoding {agent.encoding}, which is neither a barrier nor free; "
                    'name it, or pass others="random"',
                )
        return roles


class MazePlacementState(TargetBarriersFreePlacementState):
    """A new maze at every reset, grown from the target's cell: barriers on its walls, free agents on its passages.

    Args:
        strict_maze: as of `interplay.gridworld.maze.generate_maze`: False draws mazes with some more passages.
    """

    maze = True

    def __init__(self, strict_maze: bool = True, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.strict_maze = strict_maze
        self._ground: Array | None = None  # (R, C) int8: the maze of this simulation's episode

    strict_maze = Checked(flag, "Whether walls are opened only as by the release.")

    def _place(self, board: Board, which: Array, scratch: placement.Scratch) -> None:
        super()._place(board, which, scratch)
        if board is self.grid.board:
            self._ground = scratch.ground

    def _is_open(self, encoding: int, cell: int) -> bool:
        role = self._role(encoding)
        off_limits = self._ground is not None and role not in (placement.OTHER, self._ground.flat[cell])
        return not off_limits and super()._is_open(encoding, cell)


class HealthState(BoardState):
    """Health at the beginning: initial, or drawn from (0, 1)."""

    def begin(self, board: Board, which: Array) -> None:
        bodies.fill_health(board.agents, board.stream, which, self.supported_slots())


class AmmoState(BoardState):
    """Ammo at the beginning."""

    needs = AmmoAgent

    def begin(self, board: Board, which: Array) -> None:
        bodies.fill_ammo(board.agents, which, self.supported_slots())


class OrientationState(BoardState):
    """Orientation at the beginning: initial, or any of the four."""

    needs = OrientationAgent

    def begin(self, board: Board, which: Array) -> None:
        bodies.turn(board.agents, board.stream, which, self.supported_slots())


def _raise(trouble: int, agent: GridWorldAgent) -> None:
    """Raises an error for an agent that could not be placed."""
    place = (
        ""
        if agent.initial_position is None
        else f"({agent.initial_position[0]}, {agent.initial_position[1]})"
    )
    if trouble == placement.NO_ROOM:
        raise NoRoom(
            f"no cell is left for {agent.id} (encoding {agent.encoding}); enlarge the grid, take fewer agents or let them overlap"
        )
    if trouble == placement.OUTSIDE:
        raise Refused(f"agent {agent.id}: initial_position {place} is outside the grid; move it in")
    holder = "the target's" if trouble == placement.ON_TARGET else "taken"
    raise Refused(
        f"agent {agent.id}: initial_position {place} is {holder}, and they may not overlap; move one or allow it"
    )
