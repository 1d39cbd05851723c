"""Simulations written agent by agent in plain Python, as the Abmarl manual teaches.

A simulation says what happens, a manager whose turn it is::

    from interplay.sim import Agent, AgentBasedSimulation
    from interplay.sim.managers import AllStepManager
"""

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
