"""The worlds, one folder each; no world imports another.

The classes of first-hand simulations can be imported from here, ``from interplay.worlds import MultiCorridor``. They load on use.
"""

from __future__ import annotations

from typing import Any

from interplay.core.loading import load

# Importable name -> its module.
_NAMES = {
    "AverageMessageDone": "interplay.worlds.broadcast.components:AverageMessageDone",
    "BlockingAgent": "interplay.worlds.broadcast.agents:BlockingAgent",
    "BroadcastObserver": "interplay.worlds.broadcast.components:BroadcastObserver",
    "BroadcastSim": "interplay.worlds.broadcast.simulation:BroadcastSim",
    "BroadcastingActor": "interplay.worlds.broadcast.components:BroadcastingActor",
    "BroadcastingAgent": "interplay.worlds.broadcast.agents:BroadcastingAgent",
    "BroadcastingState": "interplay.worlds.broadcast.components:BroadcastingState",
    "ForagerAgent": "interplay.worlds.foragers.agents:ForagerAgent",
    "ForagingSim": "interplay.worlds.foragers.simulation:ForagingSim",
    "HunterAgent": "interplay.worlds.foragers.agents:HunterAgent",
    "HunterForagerSim": "interplay.worlds.foragers.simulation:HunterForagerSim",
    "PredatorAgent": "interplay.worlds.foragers.agents:PredatorAgent",
    "PredatorPreyResourcesSim": "interplay.worlds.foragers.simulation:PredatorPreyResourcesSim",
    "PreyAgent": "interplay.worlds.foragers.agents:PreyAgent",
    "ResourceAgent": "interplay.worlds.foragers.agents:ResourceAgent",
    "BarrierAgent": "interplay.worlds.reach_the_target.simulation:BarrierAgent",
    "BattleAgent": "interplay.worlds.team_battle.simulation:BattleAgent",
    "BaddieAgent": "interplay.worlds.pacman.agents:BaddieAgent",
    "FoodAgent": "interplay.worlds.pacman.agents:FoodAgent",
    "PacmanAgent": "interplay.worlds.pacman.agents:PacmanAgent",
    "PacmanSim": "interplay.worlds.pacman.simulation:PacmanSim",
    "PacmanSimSimple": "interplay.worlds.pacman.simulation:PacmanSimSimple",
    "EmptyABS": "interplay.worlds.small.empty:EmptyABS",
    "MazeNavigationAgent": "interplay.worlds.maze_navigation.simulation:MazeNavigationAgent",
    "MazeNavigationSim": "interplay.worlds.maze_navigation.simulation:MazeNavigationSim",
    "MultiAgentContinuousGymSpaceSim": "interplay.worlds.small.constant:MultiAgentContinuousGymSpaceSim",
    "MultiAgentGridSim": "interplay.worlds.small.grid:MultiAgentGridSim",
    "MultiAgentGymSpacesSim": "interplay.worlds.small.constant:MultiAgentGymSpacesSim",
    "MultiAgentSameSpacesSim": "interplay.worlds.small.constant:MultiAgentSameSpacesSim",
    "MultiAgentSim": "interplay.worlds.small.texts:MultiAgentSim",
    "MultiCorridor": "interplay.worlds.corridor.simulation:MultiCorridor",
    "MultiMazeNavigationAgent": "interplay.worlds.maze_navigation.simulation:MultiMazeNavigationAgent",
    "MultiMazeNavigationSim": "interplay.worlds.maze_navigation.simulation:MultiMazeNavigationSim",
    "OnlyAgentLeftDone": "interplay.worlds.reach_the_target.simulation:OnlyAgentLeftDone",
    "ReachTheTargetSim": "interplay.worlds.reach_the_target.simulation:ReachTheTargetSim",
    "RunningAgent": "interplay.worlds.reach_the_target.simulation:RunningAgent",
    "TargetDone": "interplay.worlds.reach_the_target.simulation:TargetDone",
    "TeamBattleSim": "interplay.worlds.team_battle.simulation:TeamBattleSim",
    "TrafficAgent": "interplay.worlds.traffic_corridor.simulation:TrafficAgent",
    "TrafficCorridorSimulation": "interplay.worlds.traffic_corridor.simulation:TrafficCorridorSimulation",
}


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return load(_NAMES[name])


def __dir__() -> list[str]:
    return sorted({*globals(), *_NAMES})
