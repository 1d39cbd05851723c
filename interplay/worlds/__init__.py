"""The worlds, one folder each; no world imports another.

The classes of first-hand simulations can be imported from here, ``from interplay.worlds import MultiCorridor``. They load on use.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

# Module -> its importable names.
_MODULES = {
    "broadcast.components": (
        "AverageMessageDone",
        "BlockingAgent",
        "BroadcastObserver",
        "BroadcastingActor",
        "BroadcastingAgent",
        "BroadcastingState",
    ),
    "broadcast.simulation": ("BroadcastSim",),
    "corridor.simulation": ("MultiCorridor",),
    "foragers.simulation": (
        "ForagerAgent",
        "ForagingSim",
        "HunterAgent",
        "HunterForagerSim",
        "PredatorAgent",
        "PredatorPreyResourcesSim",
        "PreyAgent",
        "ResourceAgent",
    ),
    "maze_navigation.simulation": (
        "MazeNavigationAgent",
        "MazeNavigationSim",
        "MultiMazeNavigationAgent",
        "MultiMazeNavigationSim",
    ),
    "pacman.components": ("BaddieAgent", "FoodAgent", "PacmanAgent"),
    "pacman.simulation": ("PacmanSim", "PacmanSimSimple"),
    "reach_the_target.simulation": (
        "BarrierAgent",
        "OnlyAgentLeftDone",
        "ReachTheTargetSim",
        "RunningAgent",
        "TargetDone",
    ),
    "small": (
        "EmptyABS",
        "MultiAgentContinuousGymSpaceSim",
        "MultiAgentGridSim",
        "MultiAgentGymSpacesSim",
        "MultiAgentSameSpacesSim",
        "MultiAgentSim",
    ),
    "team_battle.simulation": (
        "BattleAgent",
        "TeamBattleSim",
    ),
    "traffic_corridor.simulation": (
        "TrafficAgent",
        "TrafficCorridorSimulation",
    ),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name in _MODULE_OF:
        return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULE_OF})
