"""Reach the target: runners move to its cell, the target shoots at them. Source: specification 9.4."""

from __future__ import annotations

from typing import Any

from interplay.gridworld.actors import SelectiveAttackActor
from interplay.gridworld.dones import ActiveDone
from interplay.gridworld.observers import PositionCenteredEncodingObserver
from interplay.gridworld.rewards import AttackReward, MoveReward, StepPenalty
from interplay.gridworld.smart import SmartGridWorldSimulation, with_defaults
from interplay.gridworld.states import HealthState, PositionState
from interplay.worlds.reach_the_target.agents import TARGET, BarrierAgent, RunningAgent, TargetAgent
from interplay.worlds.reach_the_target.components import (
    ArrivalReward,
    OnlyAgentLeftDone,
    RunActor,
    TargetDone,
    named_target,
)

__all__ = [
    "BarrierAgent",
    "OnlyAgentLeftDone",
    "ReachTheTargetSim",
    "RunningAgent",
    "TargetAgent",
    "TargetDone",
]


class ReachTheTargetSim(SmartGridWorldSimulation):
    """The target attacks, then runners move; a runner on the target's cell leaves the grid and is done.

    A kill is worth 1 to the target and -1 to the runner, reaching the target 1; a failed attack and a failed move cost 0.1,
    and every action of a runner 0.01. It is over when at most one learning agent is active.

    Args:
        agents: id -> agent; one is called ``target``.
        **kwargs: grid, from a builder; ``states``, ``observers``, ``dones``, ``actors`` and ``rewards`` replace the default
            components; ``attack_mapping``, and keyword arguments of the other components.
    """

    def __init__(self, agents: Any = None, **kwargs: Any) -> None:
        named_target(TARGET, agents, type(self).__name__)
        usual = {
            "states": [HealthState, PositionState],
            "observers": [PositionCenteredEncodingObserver],
            "dones": [ActiveDone, TargetDone, OnlyAgentLeftDone],
            "actors": [SelectiveAttackActor, RunActor],
            "rewards": [AttackReward, MoveReward, ArrivalReward, (StepPenalty, {"only": _is_runner})],
        }
        super().__init__(agents=agents, **with_defaults(kwargs, usual))
        self.finalize()

    @property
    def target(self) -> Any:
        return self.agents[TARGET]


def _is_runner(agent: Any) -> bool:
    return isinstance(agent, RunningAgent)
