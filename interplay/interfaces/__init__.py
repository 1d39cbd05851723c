"""Interfaces: what an agent sees and does, in other terms than the environment's (`docs/interfaces.md`)."""

from __future__ import annotations

from interplay.interfaces.combine import Combine
from interplay.interfaces.context import Context
from interplay.interfaces.interface import Interface
from interplay.interfaces.names import from_settings, list_interfaces, register, to_settings

__all__ = [
    "Combine",
    "Context",
    "Interface",
    "from_settings",
    "list_interfaces",
    "register",
    "to_settings",
]
