"""Functions that make managers, by name for the registry and for worker processes."""

from interplay.sim.managers import AllStepManager, TurnBasedManager
from interplay.worlds.corridor.simulation import MultiCorridor


def corridor(end: int = 10, num_agents: int = 5, time_limit: int = 60) -> AllStepManager:
    return AllStepManager(MultiCorridor(end=end, num_agents=num_agents), time_limit=time_limit)


def corridor_in_turns(end: int = 6, num_agents: int = 3, time_limit: int = 90) -> TurnBasedManager:
    return TurnBasedManager(MultiCorridor(end=end, num_agents=num_agents), time_limit=time_limit)
