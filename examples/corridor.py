"""A simulation as worlds: a function that makes a manager is all it takes (`docs/simulations.md`).

Train it with ``interplay train examples.corridor:together``, from the repository root.
"""

from __future__ import annotations

from interplay.sim.managers import AllStepManager, TurnBasedManager
from interplay.worlds.corridor.simulation import MultiCorridor


def together(end: int = 10, num_agents: int = 5, time_limit: int = 60) -> AllStepManager:
    """Everybody moves in every step."""
    return AllStepManager(MultiCorridor(end=end, num_agents=num_agents), time_limit=time_limit)


def in_turns(end: int = 6, num_agents: int = 3, time_limit: int = 90) -> TurnBasedManager:
    """One agent moves after another."""
    return TurnBasedManager(MultiCorridor(end=end, num_agents=num_agents), time_limit=time_limit)
