"""Versions in which the machines of a command must be equal."""

from __future__ import annotations

import platform
import socket
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version

from interplay.core.errors import UserError

PACKAGES = ("interplay", "numpy", "numba", "jaxlib", "optax", "equinox")


def versions() -> dict[str, str]:
    """Versions of Python and of packages; "none" for a package that is not installed."""
    return {"python": platform.python_version()} | {name: _version(name) for name in PACKAGES}


def check_versions(wanted: Mapping[str, str]) -> None:
    """Refuses this machine if it has another version than the command.

    Args:
        wanted: `versions` of the command; empty: its processes run on its own machine.
    """
    own = versions() if wanted else {}
    for name, value in wanted.items():
        if own[name] != value:
            raise UserError(
                f"machine {socket.gethostname()} has {name} = {own[name]}, this command has {value}; install the same version"
            )


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "none"
