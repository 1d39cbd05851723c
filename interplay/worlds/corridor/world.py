"""MultiCorridor under a manager, as a world."""

from __future__ import annotations

from interplay.sim.managers import AllStepManager, SimulationManager, TurnBasedManager
from interplay.worlds.corridor.config import CorridorSettings
from interplay.worlds.corridor.simulation import MultiCorridor


def manager(settings: CorridorSettings) -> SimulationManager:
    """A new corridor under a new manager."""
    order = AllStepManager if settings.order == "all" else TurnBasedManager
    return order(MultiCorridor(settings.end, settings.num_agents), time_limit=settings.time_limit)
