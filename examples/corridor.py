"""A simulation as worlds: a function that makes a manager is all it takes (`docs/simulations.md`).

Train it with ``interplay train examples.corridor:together``, from the repository root.
"""

from __future__ import annotations

from typing import Any

from interplay.sim import DynamicOrderSimulation
from interplay.sim.managers import AllStepManager, DynamicOrderManager, TurnBasedManager
from interplay.worlds.corridor.simulation import MultiCorridor


def together(end: int = 10, num_agents: int = 5, time_limit: int = 60) -> AllStepManager:
    """Everybody moves in every step."""
    return AllStepManager(MultiCorridor(end=end, num_agents=num_agents), time_limit=time_limit)


def in_turns(end: int = 6, num_agents: int = 3, time_limit: int = 90) -> TurnBasedManager:
    """One agent moves after another."""
    return TurnBasedManager(MultiCorridor(end=end, num_agents=num_agents), time_limit=time_limit)


class ForemostFirst(MultiCorridor, DynamicOrderSimulation):
    """A corridor in which always the agent nearest to the end moves."""

    def reset(self, **kwargs: Any) -> None:
        super().reset(**kwargs)
        self.next_agent = self._foremost()

    def step(self, action: dict[str, Any], **kwargs: Any) -> None:
        super().step(action, **kwargs)
        arrived = [agent_id for agent_id in action if self.get_done(agent_id)]
        self.next_agent = [*arrived, *self._foremost()]  # who has just arrived is reported once more

    def _foremost(self) -> list[str]:
        walking = [agent_id for agent_id in self.agents if not self.get_done(agent_id)]
        return sorted(walking, key=lambda agent_id: self.agents[agent_id].position)[-1:]


def foremost_first(end: int = 6, num_agents: int = 3, time_limit: int = 90) -> DynamicOrderManager:
    """The simulation says who moves."""
    return DynamicOrderManager(ForemostFirst(end=end, num_agents=num_agents), time_limit=time_limit)
