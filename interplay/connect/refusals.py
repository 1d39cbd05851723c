"""The error for an object that is no manager."""

from __future__ import annotations

from typing import Any

from interplay.core.world import World


def no_manager(given: Any, name: str) -> str:
    """One line for a `given` object that is no `SimulationManager`; `name` is the argument's."""
    if isinstance(given, World):
        return (
            f"{name} {given.id} is a world, which is a batch by itself: slots and the mask acting; "
            "or use interplay.make, SB3VecEnv, world_to_rllib"
        )
    return f"{name} {given!r} is no SimulationManager; put the simulation under one"
