"""Agents and components of communication: state, actor, observer, done. Source: manual 6.2.3, specification 9.5.

The components share the tables of one `BroadcastingState`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from interplay.core.ranges import Range, count
from interplay.gridworld.actors.actor import ActionResult, BoardActor, Outcome, Turn, as_ints
from interplay.gridworld.agents import GridObservingAgent, GridWorldAgent, MovingAgent
from interplay.gridworld.board import Board
from interplay.gridworld.component import GridWorldBaseComponent
from interplay.gridworld.dones import BoardDone
from interplay.gridworld.grid import as_mapping, as_matrix
from interplay.gridworld.observers import BoardObserver
from interplay.gridworld.states import BoardState
from interplay.sim.agents import ActingAgent, ObservingAgent
from interplay.sim.checks import Checked, is_exactly, refuse, require
from interplay.sim.spaces import Box
from interplay.worlds.broadcast import config, rules


def _cells(value: Any, name: str) -> int:
    require(is_exactly(value, int) and value >= 0, f"{name} {value!r} is no int from 0; give one")
    return int(value)


def _message(value: Any, name: str) -> float | None:
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    fits = value is None or (number and -1 <= value <= 1)
    require(fits, f"{name} {value!r} is not in -1..1; give a number that is, or None")
    return None if value is None else float(value)


def _begin_with(agent: Any, message: float | None) -> None:
    if message is not None:
        agent.message = message


class BroadcastingAgent(ActingAgent, GridObservingAgent):
    """Has a message and can broadcast it; does not move.

    Args:
        broadcast_range: cells in each direction.
        initial_message: in -1..1, at the beginning of each episode; None = drawn.
        **kwargs: of `GridObservingAgent`; the encoding is 1 unless given.
    """

    def __init__(
        self, broadcast_range: int | None = None, initial_message: float | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**{"encoding": config.BROADCASTER, "render_color": "green", **kwargs})
        # A column of the state component's table, once there is one.
        self._messages, self._column = np.zeros((1, 1)), 0
        self._broadcast_range: int | None = None
        if broadcast_range is not None:
            self.broadcast_range = broadcast_range
        self.initial_message = initial_message

    broadcast_range = Checked(_cells, "Cells in each direction; None until it is given.")
    initial_message = Checked(_message, "At the beginning of each episode; None = drawn.", _begin_with)

    @property
    def message(self) -> float:
        """The agent's current message, clipped to -1..1."""
        return float(self._messages[0, self._column])

    @message.setter
    def message(self, value: float) -> None:
        self._messages[0, self._column] = min(max(float(value), -1.0), 1.0)

    @property
    def configured(self) -> bool:
        return super().configured and self.broadcast_range is not None


class BlockingAgent(MovingAgent, GridObservingAgent):
    """Moves, and blocks sight, attacks and broadcasts behind it, but no movement."""

    def __init__(self, **kwargs: Any) -> None:
        given = {"encoding": config.BLOCKER, "render_color": "black", "render_shape": "s"}
        super().__init__(**{**given, "blocking": True, **kwargs})


class BroadcastingState(BoardState):
    """Messages and receptions. Agents average once a step, after all broadcasts.

    Attributes:
        message: (W, A) float64; an agent's `message` is its column of the first world.
        heard: (W, A, A) uint8, receiver x sender, broadcasts of the current step.
        received: (W, A, A) float64, receiver x sender, messages of the last step; 0 = none.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.prepare(self.grid.board)

    def _supported_agent(self, agent: GridWorldAgent) -> bool:
        return isinstance(agent, BroadcastingAgent)

    def prepare(self, board: Board) -> None:
        worlds, agents = board.agents.shape
        if getattr(self, "message", np.zeros(0)).shape == (worlds, agents):
            return
        self.message = np.zeros((worlds, agents))
        self.heard = np.zeros((worlds, agents, agents), np.uint8)
        self.received = np.zeros((worlds, agents, agents))
        self._talkers = self.supported_slots()
        for agent in self.supported():
            message = agent.message  # type: ignore[attr-defined]
            agent._messages, agent._column = self.message, self.grid.slot_of(agent)  # type: ignore[attr-defined]
            agent.message = message  # type: ignore[attr-defined]

    def arrays(self) -> dict[str, np.ndarray]:
        return {"message": self.message, "heard": self.heard, "received": self.received}

    def ranges(self) -> dict[str, Range]:
        return {"message": Range(-1.0, 1.0), "heard": count(1), "received": Range(-1.0, 1.0)}

    def begin(self, board: Board, which: np.ndarray) -> None:
        self.prepare(board)
        initial = np.full(board.agents.shape[1], np.inf)
        for agent in self.supported():
            given = agent.initial_message  # type: ignore[attr-defined]
            initial[self.grid.slot_of(agent)] = np.nan if given is None else given
        rules.begin_messages(board.stream, which, initial, self.message, self.heard, self.received)

    def update_receipients(self, from_agent: Any, to_agents: Any) -> None:
        """Marks receivers of a broadcast; agents without a message are skipped."""
        sender = self.grid.slot_of(from_agent)
        for agent in to_agents:
            if self.supports(agent):
                self.heard[0, self.grid.slot_of(agent), sender] = 1

    def end_all(self, board: Board, acted: np.ndarray, lo: int, hi: int) -> None:
        """Averages the messages; a custom `step` calls `end_step` for it."""
        rules.average(acted, self._talkers, self.message, self.heard, self.received, lo, hi)


class BroadcastingActor(BoardActor):
    """Agents broadcast (1) or are silent (0).

    A broadcast reaches all agents in range with a mapped encoding that no blocker hides.

    Args:
        broadcast_mapping: encoding -> encodings (an int, a set or a list) that it can broadcast to.
        broadcasting_state: stores the messages; without one `process_action` only returns the receivers.
        **kwargs: of the component.
    """

    def __init__(
        self,
        broadcast_mapping: Any = None,
        broadcasting_state: BroadcastingState | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.broadcast_mapping = broadcast_mapping
        self._state = _checked_state(broadcasting_state)
        self._reaches = np.zeros(len(self.grid.agents), np.int32)
        for agent in self.supported():
            self._reaches[self.grid.slot_of(agent)] = min(agent.broadcast_range, max(self.rows, self.cols))  # type: ignore[attr-defined]

    key = "broadcast"

    def _supported_agent(self, agent: GridWorldAgent) -> bool:
        return isinstance(agent, BroadcastingAgent)

    @property
    def broadcast_mapping(self) -> dict[int, set[int]]:
        """Encoding -> encodings that it can broadcast to."""
        return self._broadcast_mapping

    @broadcast_mapping.setter
    def broadcast_mapping(self, value: Any) -> None:
        self._broadcast_mapping = as_mapping(value, "broadcast_mapping", (set, frozenset, list))
        self._matrix = as_matrix(self._broadcast_mapping, self.grid.top)

    def process_action(self, agent: Any, action_dict: dict[str, Any], **kwargs: Any) -> list[Any] | None:
        """Broadcasts, if that was chosen.

        Returns:
            All receivers; None for a silent agent, or one that cannot broadcast.

        Raises:
            AssertionError: for an action that is not 0 or 1.
        """
        if not self.supports(agent):
            return None
        value = action_dict[self.key]
        whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
        if not whole or not 0 <= value <= 1:
            self._refuse(agent, value)
        board, slot = self._grid.board, self._grid.slot_of(agent)
        if not value:
            board.stream[0, 2] += np.uint64(1)
            return None
        found = np.zeros(board.agents.shape[1], np.int32)
        number = rules.broadcast(
            board.agents, board.cells, self._matrix, board.stream, 0, slot, self._reaches[slot], found
        )
        reached = [self._grid.agents[other] for other in found[:number].tolist()]
        if self._state is not None:
            self._state.update_receipients(agent, reached)
        return reached

    def as_result(self, answer: Any) -> ActionResult:
        if answer is None:
            return ActionResult(False, False)
        return ActionResult(True, bool(answer), tuple(answer))

    def channel(self, agent: Any) -> tuple[spaces.Space, Any]:
        return spaces.Discrete(2), 0

    def choice_names(self, agent: Any) -> dict[str, tuple[str, ...]]:
        return {self.key: ("silent", "broadcast")}

    def bounds(self, agent: Any) -> tuple[Any, Any]:
        return 0, 1

    def encode(self, agent: Any, value: Any, codes: np.ndarray) -> None:
        codes[..., 0] = as_ints(value, codes.shape[:-1])

    def most_hits(self) -> int:
        return len(self.grid.agents)

    def run(
        self,
        board: Board,
        overlap: np.ndarray,
        turn: Turn,
        codes: np.ndarray,
        outcome: Outcome,
        lo: int,
        hi: int,
    ) -> None:
        if self._state is None:
            refuse(
                "BroadcastingActor: broadcasting_state is missing; pass the simulation's BroadcastingState"
            )
        rules.broadcast_all(
            board.agents,
            board.cells,
            self._matrix,
            board.stream,
            turn.order,
            turn.length,
            codes,
            self.users,
            self._reaches,
            np.zeros(board.agents.shape[1], np.int32),  # of this thread
            self._state.heard,
            outcome.attempted,
            outcome.num_hits,
            outcome.hits,
            lo,
            hi,
        )


class BroadcastObserver(BoardObserver):
    """The messages of the last step by sender (0 = none), and the agent's own current message."""

    def __init__(self, broadcasting_state: BroadcastingState | None = None, **kwargs: Any) -> None:
        state = _checked_state(broadcasting_state)
        if state is None:
            refuse(
                "BroadcastObserver: broadcasting_state is missing; pass the simulation's BroadcastingState"
            )
        self._state = state
        super().__init__(**kwargs)
        self._columns = {agent.id: self.grid.slot_of(agent) for agent in _talkers(self)}

    key = "message"

    def _supported_agent(self, agent: GridWorldAgent) -> bool:
        return isinstance(agent, BroadcastingAgent) and isinstance(agent, ObservingAgent)

    def channel(self, agent: Any) -> tuple[spaces.Space, Any]:
        names = [other.id for other in _talkers(self)]
        parts: Any = {name: Box(-1, 1, (1,), np.float32) for name in names}
        return spaces.Dict(parts), {name: np.zeros(1, np.float32) for name in names}

    def get_obs(self, agent: Any, **kwargs: Any) -> dict[str, Any]:
        """Observing has no side effect."""
        if not self.supports(agent):
            return {}
        slot = self.grid.slot_of(agent)
        messages = self._state.received[0, slot].astype(np.float32)
        messages[slot] = self._state.message[0, slot]
        return {self.key: {name: messages[column : column + 1] for name, column in self._columns.items()}}

    def seen_cells(self, agent: Any, seen: Any, row: int, col: int) -> np.ndarray | None:
        """No cells: messages are not on the board."""
        return np.zeros((self.rows, self.cols), bool)

    def look_all(
        self, board: Board, slots: np.ndarray, queried: np.ndarray, out: Any, lo: int, hi: int
    ) -> None:
        observing = queried[lo:hi, slots]
        for name, column in self._columns.items():
            messages = self._state.received[lo:hi, slots, column].copy()
            own = slots == column
            messages[:, own] = self._state.message[lo:hi, slots[own]]
            np.copyto(out[name][lo:hi, :, 0], messages, where=observing, casting="same_kind")


def _tolerance(value: Any, name: str) -> Any:
    fits = (is_exactly(value, int) or is_exactly(value, float)) and value > 0
    require(fits, f"{name} {value!r} is no number above 0; give one")
    return value


class AverageMessageDone(BoardDone):
    """A broadcaster is done while its message is near the mean; the simulation ends when all are.

    Args:
        done_tolerance: largest distance from the mean, above 0.
        **kwargs: of the component.
    """

    def __init__(self, done_tolerance: float | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.done_tolerance = done_tolerance

    done_tolerance = Checked(_tolerance, "Largest distance from the mean, above 0.")

    def _supported_agent(self, agent: GridWorldAgent) -> bool:
        return isinstance(agent, BroadcastingAgent)

    def evaluate(self, board: Board, done: np.ndarray, over: np.ndarray, lo: int, hi: int) -> None:
        talkers = _talkers(self)
        if not talkers:
            over[lo:hi] = 1
            return
        message = talkers[0]._messages  # the table that all of them share
        rules.evaluate_consensus(
            message, self.supported_slots(), float(self.done_tolerance), done, over, lo, hi
        )


def _talkers(component: GridWorldBaseComponent) -> list[Any]:
    """All agents with a message."""
    return [agent for agent in component.agents.values() if isinstance(agent, BroadcastingAgent)]


def _checked_state(value: Any) -> BroadcastingState | None:
    require(
        value is None or isinstance(value, BroadcastingState),
        f"broadcasting_state {value!r} is no BroadcastingState; pass the simulation's",
    )
    state: BroadcastingState | None = value
    return state
