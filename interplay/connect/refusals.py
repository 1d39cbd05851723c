"""The refusal of what is no manager."""

from __future__ import annotations

from typing import Any

from interplay.core.world import World
from interplay.sim.checks import require
from interplay.sim.managers import SimulationManager


def require_manager(given: Any, name: str) -> None:
    """Refuses an object that is no `SimulationManager` (`AssertionError`); `name` is the argument's."""
    cure = (
        "a world is a batch by itself, slots and the mask acting; or use interplay.make, SB3VecEnv, world_to_rllib"
        if isinstance(given, World)
        else "put the simulation under one"
    )
    require(isinstance(given, SimulationManager), f"{name} {given!r} is no SimulationManager; {cure}")
