"""Integrations: PettingZoo, Gymnasium, Stable-Baselines3, RLlib, OpenSpiel, SMAC.

The connectors of simulations can be imported from here, too; each loads its neighbour when it is first asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from interplay.connect.dense import DenseEnv, make_dense
    from interplay.connect.gymnasium import (
        GymABS,
        GymWrapper,
        WorldGymEnv,
        gym_to_simulation,
        world_to_gym,
    )
    from interplay.connect.managers import to_aec, to_parallel
    from interplay.connect.openspiel import OpenSpielListWrapper, OpenSpielWrapper
    from interplay.connect.rllib import (
        MultiAgentABS,
        MultiAgentWrapper,
        multi_agent_to_simulation,
        world_to_rllib,
    )
    from interplay.connect.world_simulation import WorldSimulation, world_to_simulation

__all__ = [
    "DenseEnv",
    "GymABS",
    "GymWrapper",
    "MultiAgentABS",
    "MultiAgentWrapper",
    "OpenSpielListWrapper",
    "OpenSpielWrapper",
    "WorldGymEnv",
    "WorldSimulation",
    "gym_to_simulation",
    "make_dense",
    "multi_agent_to_simulation",
    "to_aec",
    "to_parallel",
    "world_to_gym",
    "world_to_rllib",
    "world_to_simulation",
]

_ROOMS = {
    "DenseEnv": "dense",
    "GymABS": "gymnasium",
    "GymWrapper": "gymnasium",
    "MultiAgentABS": "rllib",
    "MultiAgentWrapper": "rllib",
    "OpenSpielListWrapper": "openspiel",
    "OpenSpielWrapper": "openspiel",
    "WorldGymEnv": "gymnasium",
    "WorldSimulation": "world_simulation",
    "gym_to_simulation": "gymnasium",
    "make_dense": "dense",
    "multi_agent_to_simulation": "rllib",
    "to_aec": "managers",
    "to_parallel": "managers",
    "world_to_gym": "gymnasium",
    "world_to_rllib": "rllib",
    "world_to_simulation": "world_simulation",
}


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return getattr(import_module(f"{__name__}.{_ROOMS[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
