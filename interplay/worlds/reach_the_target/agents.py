"""The agents: barriers, runners, and the target that hunts them. Source: specification 9.4."""

from __future__ import annotations

from typing import Any

from interplay.gridworld.agents import AttackingAgent, GridObservingAgent, GridWorldAgent, MovingAgent

BARRIERS, TARGETS, RUNNERS = 1, 2, 3  # encodings
TARGET = "target"  # id of the target


class BarrierAgent(GridWorldAgent):
    """Blocks the view; runners can enter its cell.

    Args:
        **kwargs: of the agent; they override the encoding and the blocking.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"encoding": BARRIERS, "blocking": True, **kwargs})


class TargetAgent(GridObservingAgent, AttackingAgent):
    """The goal of the runners: it never moves, sees and attacks.

    Args:
        **kwargs: of the agent; they override the id ``target``, the encoding and an accuracy of 1.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"id": TARGET, "encoding": TARGETS, "attack_accuracy": 1, **kwargs})


class RunningAgent(GridObservingAgent, MovingAgent):
    """Runs to the target.

    Args:
        **kwargs: of the agent; they override the encoding.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"encoding": RUNNERS, **kwargs})
