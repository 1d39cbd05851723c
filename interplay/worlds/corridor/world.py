"""MultiCorridor under a manager, as a world."""

from __future__ import annotations

from functools import partial

from interplay.sim.adapt import SimulationWorld
from interplay.sim.managers import AllStepManager, SimulationManager, TurnBasedManager
from interplay.worlds.corridor.config import CorridorSettings
from interplay.worlds.corridor.simulation import MultiCorridor


def make(
    settings: CorridorSettings, *, num_worlds: int = 1, seed: int = 0, threads: int = 1, first_world: int = 0
) -> SimulationWorld:
    """What the registry calls."""
    return SimulationWorld(
        partial(manager, settings), num_worlds, seed, first_world=first_world, threads=threads
    )


def manager(settings: CorridorSettings) -> SimulationManager:
    """A new corridor under a new manager."""
    order = AllStepManager if settings.order == "all" else TurnBasedManager
    return order(MultiCorridor(settings.end, settings.num_agents), time_limit=settings.time_limit)
