"""External simulators: separate programs, in any language, that are driven over a socket of this machine.

The format of the messages stands in `docs/remote.md`. It lives in `core`, where worlds and simulations can reach it as
well as `interplay.connect.remote`, the documented door above them; and it needs nothing but Python's standard library,
so that a program which serves a simulator starts in milliseconds, without NumPy.

A program::

    from interplay.core.remote import AgentSpaces, Range, Report, serve

and who drives it::

    from interplay.core.remote import RemoteSimulator
"""

from interplay.core.remote.client import Limits, RemoteSimulator
from interplay.core.remote.messages import AgentSpaces, Choice, Range, Report
from interplay.core.remote.server import Simulator, serve
from interplay.core.remote.wire import (
    LARGEST,
    PORT_VARIABLE,
    PROTOCOL,
    TOKEN_VARIABLE,
    RemoteSimulationError,
)

__all__ = [
    "LARGEST",
    "PORT_VARIABLE",
    "PROTOCOL",
    "TOKEN_VARIABLE",
    "AgentSpaces",
    "Choice",
    "Limits",
    "Range",
    "RemoteSimulationError",
    "RemoteSimulator",
    "Report",
    "Simulator",
    "serve",
]
