"""Small grid worlds under managers, for the neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.gridworld.actors import CrossMoveActor
from interplay.gridworld.agents import GridWorldAgent
from interplay.worlds.maze_navigation.config import MazeSettings
from interplay.worlds.maze_navigation.simulation import MazeNavigationAgent, MazeNavigationSim, maze
from interplay.worlds.team_battle.simulation import BattleAgent, TeamBattleSim
from interplay.worlds.traffic_corridor.simulation import (
    TargetAgent,
    TrafficAgent,
    TrafficCorridorSimulation,
    WallAgent,
)


def traffic(**options: Any) -> TrafficCorridorSimulation:
    """Two travellers of each team, in a corridor of five cells."""
    legend = {
        "l": lambda n: TrafficAgent(id=f"left{n}", encoding=1),
        "r": lambda n: TrafficAgent(id=f"right{n}", encoding=2),
        "L": lambda n: TargetAgent(id="left_target", encoding=1),
        "R": lambda n: TargetAgent(id="right_target", encoding=2),
        "W": lambda n: WallAgent(id=f"wall{n}", encoding=3),
    }
    rows = np.array([list("lWWWr"), list("R___L"), list("lWWWr")])
    return TrafficCorridorSimulation.build_sim_from_array(
        rows, legend, overlapping={1: {1}, 2: {2}}, **options
    )


def cross_traffic(**options: Any) -> TrafficCorridorSimulation:
    """The same, moving to the four sides: ``Dict(move=Discrete(5))``."""
    return traffic(actors=[CrossMoveActor], **options)


def battle(**options: Any) -> TeamBattleSim:
    """Two against two on 4 x 4 cells, anywhere."""
    fighters = {
        f"agent{i}": BattleAgent(id=f"agent{i}", encoding=i % 2 + 1, initial_health=1, view_range=2)
        for i in range(4)
    }
    return TeamBattleSim.build_sim(
        4, 4, agents=fighters, attack_mapping={1: {2}, 2: {1}}, overlapping={1: {1}, 2: {2}}, **options
    )


def open_maze(**options: Any) -> MazeNavigationSim:
    """A navigator that sees all 4 x 4 cells and the target in the other corner, nothing between."""
    agents = {
        "navigator": MazeNavigationAgent(
            id="navigator", encoding=1, view_range=3, initial_position=np.array([0, 0])
        ),
        "target": GridWorldAgent(id="target", encoding=2, initial_position=np.array([3, 3])),
    }
    return MazeNavigationSim.build_sim(4, 4, agents=agents, overlapping={1: {2}}, **options)


def usual_maze() -> MazeNavigationSim:
    """The registered one."""
    return maze(MazeSettings())
