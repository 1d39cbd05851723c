"""People, places and small declared simulations for the tests of actors, dones, rewards and batches."""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.gridworld import SmartGridWorldSimulation
from interplay.gridworld.agents import (
    AmmoAgent,
    AttackingAgent,
    GridObservingAgent,
    GridWorldAgent,
    MovingAgent,
    OrientationAgent,
)
from interplay.gridworld.grid import Grid
from interplay.gridworld.states import HealthState, PositionState


class Fighter(GridObservingAgent, MovingAgent, AttackingAgent):
    """Sees, moves and attacks."""

    def __init__(self, **kwargs: Any) -> None:
        defaults = {
            "view_range": 2,
            "move_range": 1,
            "attack_range": 1,
            "attack_strength": 0.5,
            "attack_accuracy": 1,
        }
        super().__init__(**(defaults | kwargs))


class Gunner(Fighter, AmmoAgent):
    """A fighter that needs ammo."""


class Car(GridObservingAgent, MovingAgent, OrientationAgent):
    """Sees and drives the way it faces."""


class Soldier(Fighter, AmmoAgent, OrientationAgent):
    """Everything at once."""


def at(row: int, col: int) -> np.ndarray:
    return np.array([row, col])


def someone(name: str, encoding: int, row: int, col: int, **kwargs: Any) -> GridWorldAgent:
    """A passive agent with full health."""
    return GridWorldAgent(
        id=name, encoding=encoding, initial_position=at(row, col), **{"initial_health": 1, **kwargs}
    )


def settle(
    agents: list[Any], rows: int = 5, cols: int = 5, seed: int = 0, overlapping: Any = None
) -> dict[str, Any]:
    """Agents in their places: the keyword arguments of components."""
    grid = Grid(rows, cols, overlapping=overlapping)
    grid.board.stream[0] = seed, 0, 0
    those = {"agents": {agent.id: agent for agent in agents}, "grid": grid}
    PositionState(**those).reset()
    HealthState(**those).reset()
    return those


TEAMS = {1: {2, 3}, 2: {1, 3}, 3: {1, 2}}


def declared(
    actors: Any = ("BinaryAttackActor", "MoveActor"),
    observers: Any = ("PositionCenteredEncodingObserver",),
    dones: Any = ("OneTeamRemainingDone",),
    rewards: Any = ("AttackReward", "MoveReward", "StepPenalty"),
    make: Any = SmartGridWorldSimulation.build_sim,
    people: int = 6,
    kind: type = Soldier,
    between: bool = False,
    **kwargs: Any,
) -> Any:
    """Soldiers of three teams and a wall on a small field; `between`: things stand before and among them in the list."""
    agents: dict[str, Any] = {
        f"agent{i}": kind(
            id=f"agent{i}",
            encoding=i % 3 + 1,
            attack_accuracy=0.8,
            simultaneous_attacks=2,
            **({"initial_ammo": 6} if issubclass(kind, AmmoAgent) else {}),
        )
        for i in range(people)
    }
    agents["wall"] = someone("wall", 4, 2, 2, blocking=True)
    if between:
        agents = {"wall": agents.pop("wall"), **agents}
        agents["tree"] = someone("tree", 4, 0, 0, blocking=True)
        agents[f"agent{people - 1}"] = agents.pop(f"agent{people - 1}")
    options: dict[str, Any] = {
        "states": ["PositionState", "HealthState", "AmmoState", "OrientationState"],
        "actors": actors,
        "observers": observers,
        "dones": dones,
        "rewards": rewards,
        "overlapping": {1: {1}, 2: {2}, 3: {3, 1}},
        "attack_mapping": TEAMS,
    }
    return make(5, 6, agents=agents, **(options | kwargs))
