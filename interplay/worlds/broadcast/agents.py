"""Broadcasters and blockers. Source: manual 6.2.3, specification 9.5."""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.gridworld.agents import GridObservingAgent, MovingAgent
from interplay.sim.agents import ActingAgent
from interplay.sim.checks import Checked, is_exactly, require
from interplay.worlds.broadcast import config


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
    """Moves, and blocks sight, attacks and broadcasts behind it, but no movement.

    Args:
        **kwargs: of `MovingAgent` and `GridObservingAgent`; the encoding is 2 unless given.
    """

    def __init__(self, **kwargs: Any) -> None:
        given = {"encoding": config.BLOCKER, "render_color": "black", "render_shape": "s"}
        super().__init__(**{**given, "blocking": True, **kwargs})
