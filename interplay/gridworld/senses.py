"""Observers beyond the manual's: health of agents in view, and direction of a target (specification 7)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces

from interplay.gridworld.agents import GridObservingAgent, GridWorldAgent
from interplay.gridworld.board import Array, Board
from interplay.gridworld.dones import target_ids, target_slots
from interplay.gridworld.observers import BoardObserver
from interplay.gridworld.rules.health import look_at_health
from interplay.sim.agents import ObservingAgent
from interplay.sim.spaces import Box


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
        look_at_health(*board, slots, queried, out[..., None], lo, hi)


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
