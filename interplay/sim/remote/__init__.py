"""External simulators: separate programs, in any language, driven over a local socket.

The format of the messages is in `docs/remote.md`. Messages, client and server need only Python's standard library,
so that a program that serves a simulator starts in milliseconds, without NumPy; `RemoteSimulation` is loaded on
first use.

A program::

    from interplay.sim.remote import AgentSpaces, Range, Report, serve

and its driver::

    from interplay.sim.remote import RemoteSimulation, RemoteSimulator

    simulation = RemoteSimulation(RemoteSimulator(["./tracks", "--map", "town.json"]))
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interplay.sim.remote.client import Limits, RemoteSimulator
from interplay.sim.remote.messages import AgentSpaces, Choice, Range, Report
from interplay.sim.remote.server import Simulator, serve
from interplay.sim.remote.wire import (
    LARGEST,
    PORT_VARIABLE,
    PROTOCOL,
    TOKEN_VARIABLE,
    RemoteSimulationError,
)

if TYPE_CHECKING:
    from interplay.sim.remote.simulation import RemoteSimulation

__all__ = [
    "LARGEST",
    "PORT_VARIABLE",
    "PROTOCOL",
    "TOKEN_VARIABLE",
    "AgentSpaces",
    "Choice",
    "Limits",
    "Range",
    "RemoteSimulation",
    "RemoteSimulationError",
    "RemoteSimulator",
    "Report",
    "Simulator",
    "serve",
]


def __getattr__(name: str) -> Any:
    if name == "RemoteSimulation":
        from interplay.sim.remote.simulation import RemoteSimulation

        return RemoteSimulation
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
