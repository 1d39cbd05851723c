"""Integrations: PettingZoo, Gymnasium, Stable-Baselines3, RLlib, OpenSpiel, SMAC.

The connectors of simulations can be imported from here, too; each loads its library on first use.
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

_MODULES = {
    "dense": ("DenseEnv", "make_dense"),
    "gymnasium": ("GymABS", "GymWrapper", "WorldGymEnv", "gym_to_simulation", "world_to_gym"),
    "managers": ("to_aec", "to_parallel"),
    "openspiel": ("OpenSpielListWrapper", "OpenSpielWrapper"),
    "rllib": ("MultiAgentABS", "MultiAgentWrapper", "multi_agent_to_simulation", "world_to_rllib"),
    "world_simulation": ("WorldSimulation", "world_to_simulation"),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name in _MODULE_OF:
        return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
