"""The simulation, declared components alone, and the world of it. Source: manual 6.2.3, specification 9.5."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from interplay.gridworld.agents import GridWorldAgent
from interplay.gridworld.board import Board
from interplay.gridworld.smart import SmartGridWorldSimulation
from interplay.sim.managers import AllStepManager
from interplay.worlds.broadcast import config
from interplay.worlds.broadcast.components import (
    AverageMessageDone,
    BlockingAgent,
    BroadcastingActor,
    BroadcastingAgent,
    BroadcastingState,
    BroadcastObserver,
)
from interplay.worlds.broadcast.config import BROADCASTER, BroadcastSettings


class BroadcastSim(SmartGridWorldSimulation):
    """Broadcasts first, then moves, then every broadcaster averages what it received.

    A failed move costs 0.1, every step 0.01.

    Args:
        broadcast_mapping: encoding -> encodings that it can broadcast to.
        done_tolerance: largest distance from the mean message at the end.
        **kwargs: from a builder; components replace the default ones, and receive the state as `broadcasting_state`.

    Attributes:
        broadcasting_state: stores the messages.

    Example:
        >>> from interplay.worlds import BroadcastingAgent
        >>> agents = {
        ...     name: BroadcastingAgent(id=name, broadcast_range=2, view_range=2, initial_message=message)
        ...     for name, message in (("a", 0.5), ("b", -0.5))
        ... }
        >>> sim = BroadcastSim.build_sim(1, 3, agents=agents, broadcast_mapping={1: 1}, done_tolerance=0.1)
        >>> sim.reset()
        >>> sim.step({"a": {"broadcast": 1}, "b": {"broadcast": 0}})
        >>> agents["a"].message, agents["b"].message
        (0.5, 0.0)
    """

    def __init__(self, **kwargs: Any) -> None:
        self.broadcasting_state: BroadcastingState = kwargs.get("broadcasting_state") or BroadcastingState(
            **kwargs
        )
        given: dict[str, Any] = {
            "states": ["PositionState", self.broadcasting_state],
            "actors": [BroadcastingActor, "MoveActor"],
            "observers": ["PositionCenteredEncodingObserver", BroadcastObserver],
            "dones": [AverageMessageDone],
            "rewards": [
                ("MoveReward", {"failed": config.FAILED_MOVE}),
                ("StepPenalty", {"amount": config.ENTROPY}),
            ],
            "broadcasting_state": self.broadcasting_state,
        }
        super().__init__(**{**given, **kwargs})
        self.finalize()

    def measure(self, board: Board) -> Mapping[str, np.ndarray]:
        """``spread`` (W,): the largest distance of a message from the mean."""
        talkers = [
            self.grid.slot_of(agent) for agent in self.agents.values() if isinstance(agent, BroadcastingAgent)
        ]
        messages = self.broadcasting_state.message[:, talkers]
        return {"spread": np.abs(messages - messages.mean(axis=1, keepdims=True)).max(axis=1, initial=0.0)}


def manager(settings: BroadcastSettings) -> AllStepManager:
    """A new map under a new manager."""
    members: list[GridWorldAgent] = [
        BroadcastingAgent(
            id=f"broadcaster{i}", broadcast_range=settings.broadcast_range, view_range=settings.view_range
        )
        for i in range(settings.broadcasters)
    ]
    members += [
        BlockingAgent(id=f"blocker{i}", move_range=settings.move_range, view_range=settings.view_range)
        for i in range(settings.blockers)
    ]
    sim = BroadcastSim.build_sim(
        settings.rows,
        settings.cols,
        agents={agent.id: agent for agent in members},
        broadcast_mapping={BROADCASTER: BROADCASTER},
        done_tolerance=settings.done_tolerance,
    )
    return AllStepManager(sim, time_limit=settings.time_limit)
