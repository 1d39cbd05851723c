"""External simulators, in any language, over a socket of this machine: `docs/remote.md` describes the messages.

This file is the door. What is behind it stands lower, so that worlds can be built on it, which may not import connectors:
messages, client and server in `interplay.core.remote` (standard library only, so that a served program starts quickly),
the simulation in `interplay.sim.remote`.

Drive a program::

    from interplay.connect.remote import RemoteSimulation, RemoteSimulator

    simulation = RemoteSimulation(RemoteSimulator(["./tracks", "--map", "town.json"]))

Write one in Python: `interplay.core.remote.serve`, whose module loads nothing heavy.
"""

from __future__ import annotations

from interplay.core.remote import (
    PROTOCOL,
    AgentSpaces,
    Choice,
    Limits,
    Range,
    RemoteSimulationError,
    RemoteSimulator,
    Report,
    Simulator,
    serve,
)
from interplay.sim.remote import RemoteSimulation

__all__ = [
    "PROTOCOL",
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
