"""Wrappers around simulations: flat arrays, single numbers, super agents, handshakes, and base classes."""

from interplay.sim.wrappers.communication_handshake_wrapper import CommunicationHandshakeWrapper
from interplay.sim.wrappers.flatten_wrapper import FlattenActionWrapper, FlattenWrapper
from interplay.sim.wrappers.ravel_discrete_wrapper import RavelActionWrapper, RavelDiscreteWrapper
from interplay.sim.wrappers.super_agent_wrapper import SuperAgentWrapper
from interplay.sim.wrappers.wrapper import SARWrapper, Wrapper

__all__ = [
    "CommunicationHandshakeWrapper",
    "FlattenActionWrapper",
    "FlattenWrapper",
    "RavelActionWrapper",
    "RavelDiscreteWrapper",
    "SARWrapper",
    "SuperAgentWrapper",
    "Wrapper",
]
