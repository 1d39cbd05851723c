"""Observers of the grid, of an agent's own fields and of its target (manual 3.2.5 to 3.2.9; specification 2.9 and 7)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces

from interplay.gridworld.agents import AmmoAgent, GridObservingAgent, GridWorldAgent, OrientationAgent
from interplay.gridworld.board import Array, Board
from interplay.gridworld.component import GridWorldBaseComponent, attach
from interplay.gridworld.dones import target_ids, target_slots
from interplay.gridworld.rules import windows
from interplay.sim.agents import ObservingAgent, is_agent
from interplay.sim.checks import Checked, flag
from interplay.sim.spaces import Box

HIDDEN = -2  # of a cell that an agent cannot see


class ObserverBaseComponent(GridWorldBaseComponent):
    """Base of observers, which fill the channel ``key`` of agents' observations."""

    @property
    @abstractmethod
    def key(self) -> str:
        """The channel of the observation that the observer fills."""

    @abstractmethod
    def get_obs(self, agent: Any, **kwargs: Any) -> dict[str, Any]:
        """The agent's channel, key -> observation; an empty dict for an unsupported agent."""


class BoardObserver(ObserverBaseComponent):
    """An observer that also works on a whole batch at once."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        for agent in self.supported():
            attach(agent, "observation", self.key, *self.channel(agent))

    @abstractmethod
    def channel(self, agent: Any) -> tuple[spaces.Space, Any]:
        """The space of an agent's channel, and its null observation."""

    def seen_cells(self, agent: Any, seen: Any, row: int, col: int) -> Array | None:
        """Cells that an agent at a place sees, (rows, cols) bool, for human players; None: unknown.

        ``seen`` is the observer's last output for the agent.
        """
        return None

    def look_at_once(self, agents: list[Any], slots: Array) -> list[dict[str, Any]]:
        """`get_obs` of several agents in these slots."""
        return [self.get_obs(agent) for agent in agents]

    @abstractmethod
    def look_all(self, board: Board, slots: Array, queried: Array, out: Array, lo: int, hi: int) -> None:
        """Writes the observations of the agents in ``slots`` (K,) where ``queried`` (W, A) into ``out`` (W, K, ...).

        Where the channel is a Dict of spaces, ``out`` is a dict of such arrays.
        """


class WindowObserver(BoardObserver):
    """The common part of the observers of the grid."""

    form = windows.CENTRED
    with_self = True
    needs = GridObservingAgent

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._shapes = {agent.id: self._shape(agent) for agent in self.supported()}
        shapes = {self._shapes.get(agent.id) for agent in self.agents.values() if is_agent(agent)}
        self._common = shapes.pop() if len(shapes) == 1 else None  # of all learning agents
        self._everybody = np.ones((1, 0), bool)

    @abstractmethod
    def _shape(self, agent: Any) -> tuple[int, int, int]:
        """Rows, columns and channels of an agent's view."""

    def channel(self, agent: Any) -> tuple[spaces.Space, Any]:
        shape = self._shape(agent)
        shape_of_point = shape if self.form == windows.STACKED else shape[:2]
        high = len(self.agents) if self.form == windows.STACKED else self.largest_encoding
        return Box(-2, high, shape_of_point, int), np.full(shape_of_point, -2, int)

    def get_obs(self, agent: Any, **kwargs: Any) -> dict[str, Any]:
        shape = self._shapes.get(agent.id)
        if shape is None:
            return {}
        out = np.empty(shape, np.int64)
        slot = self._grid.slot_of(agent)
        windows.look(*self._grid.board, 0, slot, self.form, self.with_self, out)
        return {self.key: out if self.form == windows.STACKED else out[:, :, 0]}

    def look_at_once(self, agents: list[Any], slots: Array) -> list[dict[str, Any]]:
        if self._common is None:
            return super().look_at_once(agents, slots)
        board = self._grid.board
        out = np.empty((1, len(agents), *self._common), np.int64)
        if len(self._everybody[0]) != board.agents.shape[1]:
            self._everybody = np.ones((1, board.agents.shape[1]), bool)
        windows.look_all(*board, self.form, self.with_self, slots, self._everybody, out, 0, 1)
        key = self.key
        views = out[0] if self.form == windows.STACKED else out[0, :, :, :, 0]
        return [{key: view} for view in views]

    def look_all(self, board: Board, slots: Array, queried: Array, out: Array, lo: int, hi: int) -> None:
        channels = out if self.form == windows.STACKED else out[..., None]
        windows.look_all(*board, self.form, self.with_self, slots, queried, channels, lo, hi)

    def seen_cells(self, agent: Any, seen: Any, row: int, col: int) -> Array | None:
        """All cells of its view that are not hidden."""
        shown = np.asarray(seen) != HIDDEN
        if self.form == windows.STACKED:
            shown = shown.any(axis=2)
        if self.form == windows.ABSOLUTE:
            return shown
        reach = shown.shape[0] // 2
        cells = np.zeros((self.rows + 2 * reach, self.cols + 2 * reach), bool)
        cells[row : row + 2 * reach + 1, col : col + 2 * reach + 1] = shown
        return cells[reach : reach + self.rows, reach : reach + self.cols]

    def _side(self, agent: Any) -> int:
        return 2 * self.reach(agent, "view_range") + 1


class PositionCenteredEncodingObserver(WindowObserver):
    """The grid around the agent, itself in the middle: encodings, 0 empty, -1 outside, -2 hidden.

    Args:
        observe_self: whether the agent counts as an occupant of its cell.
    """

    key = "position_centered_encoding"

    def __init__(self, observe_self: bool = True, **kwargs: Any) -> None:
        self.observe_self = observe_self
        super().__init__(**kwargs)

    observe_self = Checked(flag, "Whether the agent counts as an occupant of its cell.")

    @property
    def with_self(self) -> bool:  # type: ignore[override]
        return self.observe_self

    def _shape(self, agent: Any) -> tuple[int, int, int]:
        return self._side(agent), self._side(agent), 1


class StackedPositionCenteredEncodingObserver(WindowObserver):
    """The grid around the agent, one layer for each encoding with its number in a cell; -1 outside, -2 hidden."""

    form = windows.STACKED
    key = "stacked_position_centered_encoding"

    def _shape(self, agent: Any) -> tuple[int, int, int]:
        return self._side(agent), self._side(agent), self.largest_encoding


class AbsoluteEncodingObserver(WindowObserver):
    """The whole grid from above: encodings, 0 empty, -1 the agent itself, -2 hidden or too far away."""

    form = windows.ABSOLUTE
    key = "absolute_encoding"

    def _shape(self, agent: Any) -> tuple[int, int, int]:
        self.reach(agent, "view_range")
        return self.rows, self.cols, 1


class FieldObserver(BoardObserver):
    """The common part of the observers of an agent's own fields.

    Attributes:
        fields: names of the board's fields that make up the observation.
    """

    fields: tuple[str, ...] = ()
    needs = ObservingAgent

    def seen_cells(self, agent: Any, seen: Any, row: int, col: int) -> Array | None:
        """No cells: the observation is about the agent itself."""
        return np.zeros((self.rows, self.cols), bool)

    def look_all(self, board: Board, slots: Array, queried: Array, out: Array, lo: int, hi: int) -> None:
        ask = queried[lo:hi, slots]
        for place, name in enumerate(self.fields):
            # A scalar channel is (W, K); a box has its numbers last.
            column = out[lo:hi] if out.ndim == 2 else out[lo:hi, :, place]
            np.copyto(column, board.agents[name][lo:hi, slots], where=ask, casting="unsafe")


class AbsolutePositionObserver(FieldObserver):
    """The agent's own row and column."""

    fields = ("row", "col")
    key = "position"

    def channel(self, agent: Any) -> tuple[spaces.Space, Any]:
        ends = np.array([self.rows - 1, self.cols - 1])
        return Box(np.zeros(2, int), ends, (2,), int), np.zeros(2, int)

    def get_obs(self, agent: Any, **kwargs: Any) -> dict[str, Any]:
        return {self.key: agent.position} if self.supports(agent) else {}


class AmmoObserver(FieldObserver):
    """The agent's own ammo."""

    fields = ("ammo",)
    key = "ammo"

    def _supported_agent(self, agent: GridWorldAgent) -> bool:
        return isinstance(agent, AmmoAgent) and isinstance(agent, ObservingAgent)

    def channel(self, agent: Any) -> tuple[spaces.Space, Any]:
        return Box(0, max(agent.initial_ammo, 0), (1,), int), 0

    def get_obs(self, agent: Any, **kwargs: Any) -> dict[str, Any]:
        return {self.key: agent.ammo} if self.supports(agent) else {}


class HealthObserver(FieldObserver):
    """The agent's own health, one float32."""

    fields = ("health",)
    key = "health"

    def channel(self, agent: Any) -> tuple[spaces.Space, Any]:
        return Box(0, 1, (1,), np.float32), np.zeros(1, np.float32)

    def get_obs(self, agent: Any, **kwargs: Any) -> dict[str, Any]:
        return {self.key: np.array([agent.health], np.float32)} if self.supports(agent) else {}


class OrientationObserver(FieldObserver):
    """The agent's direction: 1 left, 2 down, 3 right, 4 up."""

    fields = ("orientation",)
    key = "orientation"

    def _supported_agent(self, agent: GridWorldAgent) -> bool:
        return isinstance(agent, OrientationAgent) and isinstance(agent, ObservingAgent)

    def channel(self, agent: Any) -> tuple[spaces.Space, Any]:
        return Box(1, 4, (1,), int), np.ones(1, int)

    def get_obs(self, agent: Any, **kwargs: Any) -> dict[str, Any]:
        return {self.key: np.array([agent.orientation])} if self.supports(agent) else {}


class PositionCenteredHealthObserver(BoardObserver):
    """The health of agents in view, the observer in the middle: 0 empty, -1 outside, -2 hidden; float32.

    Of several agents in a cell it is the one that `PositionCenteredEncodingObserver` shows.
    """

    key = "position_centered_health"
    needs = GridObservingAgent

    def channel(self, agent: Any) -> tuple[spaces.Space, Any]:
        side = 2 * self.reach(agent, "view_range") + 1
        return Box(-2, 1, (side, side), np.float32), np.full((side, side), -2, np.float32)

    def get_obs(self, agent: Any, **kwargs: Any) -> dict[str, Any]:
        if not self.supports(agent):
            return {}
        board, slot = self._grid.board, self._grid.slot_of(agent)
        out = np.empty((1, 1, *agent.observation_space[self.key].shape), np.float32)
        self.look_all(board, np.array([slot], np.int32), np.ones((1, board.agents.shape[1]), bool), out, 0, 1)
        return {self.key: out[0, 0]}

    def look_all(self, board: Board, slots: Array, queried: Array, out: Array, lo: int, hi: int) -> None:
        windows.look_at_health(*board, slots, queried, out[..., None], lo, hi)


class TargetObserver(BoardObserver):
    """Rows and columns to the agent's target.

    Args:
        target_mapping: id -> id of its target.
    """

    def __init__(self, target_mapping: Mapping[str, str] | None = None, **kwargs: Any) -> None:
        self.target_mapping = target_ids(target_mapping, kwargs.get("agents") or {}, type(self).__name__)
        super().__init__(**kwargs)

    key = "target"

    def _supported_agent(self, agent: GridWorldAgent) -> bool:
        return isinstance(agent, ObservingAgent) and agent.id in self.target_mapping

    def channel(self, agent: Any) -> tuple[spaces.Space, Any]:
        ends = np.array([self.rows - 1, self.cols - 1])
        return Box(-ends, ends, (2,), int), np.zeros(2, int)

    def get_obs(self, agent: Any, **kwargs: Any) -> dict[str, Any]:
        if not self.supports(agent):
            return {}
        target = self.agents[self.target_mapping[agent.id]]
        return {self.key: target.position - agent.position}

    def look_all(self, board: Board, slots: Array, queried: Array, out: Array, lo: int, hi: int) -> None:
        known = self._remembered("_targets", lambda: target_slots(self.target_mapping, self))
        targets, ask = known[slots], queried[lo:hi, slots]
        for place, name in enumerate(("row", "col")):
            away = board.agents[name][lo:hi, targets] - board.agents[name][lo:hi, slots]
            np.copyto(out[lo:hi, :, place], away, where=ask, casting="unsafe")
