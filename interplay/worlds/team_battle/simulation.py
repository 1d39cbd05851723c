"""Team battle: teams on a grid fight until one is left.

Source: manual 6.2.1, specification 9.2.
"""

from __future__ import annotations

from typing import Any

from interplay.gridworld.actors import BinaryAttackActor, MoveActor
from interplay.gridworld.agents import AttackingAgent, GridObservingAgent, MovingAgent
from interplay.gridworld.dones import OneTeamRemainingDone
from interplay.gridworld.observers import PositionCenteredEncodingObserver
from interplay.gridworld.rewards import AttackReward, MoveReward, StepPenalty
from interplay.gridworld.smart import SmartGridWorldSimulation, with_defaults
from interplay.gridworld.states import HealthState, PositionState


class BattleAgent(GridObservingAgent, MovingAgent, AttackingAgent):
    """A fighter: moves one cell, attacks its neighbours, kills with one hit and sees three cells far.

    Args:
        **kwargs: of the agent; they override these numbers.
    """

    def __init__(self, **kwargs: Any) -> None:
        usual = {
            "move_range": 1,
            "attack_range": 1,
            "attack_strength": 1,
            "attack_accuracy": 1,
            "view_range": 3,
        }
        super().__init__(**{**usual, **kwargs})


class TeamBattleSim(SmartGridWorldSimulation):
    """All attacks come before the moves of the survivors; the last team alive wins.

    A kill is worth 1 to the killer and -1 to the killed; an attack without a hit, and an impossible move, -0.1;
    every action costs 0.01, even if the agent died before its turn. A team is an encoding.

    Args:
        **kwargs: agents and grid, from a builder; ``states``, ``observers``, ``dones``, ``actors`` and ``rewards`` replace the default
            components; ``attack_mapping``, and keyword arguments of the other components.

    Example:
        >>> import numpy as np
        >>> fighters = {
        ...     f"agent{i}": BattleAgent(id=f"agent{i}", encoding=i + 1, initial_position=np.array([0, i])) for i in range(2)
        ... }
        >>> sim = TeamBattleSim.build_sim(2, 3, agents=fighters, attack_mapping={1: {2}, 2: {1}})
        >>> sim.reset()
        >>> sim.step({"agent0": {"attack": 1, "move": np.array([1, 0])}})
        >>> round(sim.get_reward("agent0"), 2), sim.get_done("agent1"), sim.get_all_done()
        (0.99, True, True)
    """

    def __init__(self, **kwargs: Any) -> None:
        usual = {
            "states": [PositionState, HealthState],
            "observers": [PositionCenteredEncodingObserver],
            "dones": [OneTeamRemainingDone],
            "actors": [BinaryAttackActor, MoveActor],
            "rewards": [AttackReward, MoveReward, StepPenalty],
        }
        super().__init__(**with_defaults(kwargs, usual))
        self.finalize()
