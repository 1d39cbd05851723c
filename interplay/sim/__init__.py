"""Simulations written agent by agent in plain Python, as the Abmarl manual teaches.

A simulation holds the rules, a manager the order of turns::

    from interplay.sim import Agent, AgentBasedSimulation
    from interplay.sim.managers import AllStepManager
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from interplay.sim.agents import ActingAgent, Agent, ObservingAgent, PrincipleAgent, is_agent
    from interplay.sim.simulation import AgentBasedSimulation, DynamicOrderSimulation
    from interplay.sim.spaces import Box, check_space, make_dict

__all__ = [
    "ActingAgent",
    "Agent",
    "AgentBasedSimulation",
    "Box",
    "DynamicOrderSimulation",
    "ObservingAgent",
    "PrincipleAgent",
    "check_space",
    "is_agent",
    "make_dict",
]

_MODULE_OF = {
    **dict.fromkeys(("ActingAgent", "Agent", "ObservingAgent", "PrincipleAgent", "is_agent"), "agents"),
    **dict.fromkeys(("AgentBasedSimulation", "DynamicOrderSimulation"), "simulation"),
    **dict.fromkeys(("Box", "check_space", "make_dict"), "spaces"),
}


def __getattr__(name: str) -> Any:
    # On first use: a program that serves a simulator (`interplay.sim.remote`) starts without NumPy.
    if name in _MODULE_OF:
        return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
