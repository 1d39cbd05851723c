"""A grid world in which agents only stand somewhere: for examples of builders."""

from __future__ import annotations

from typing import Any

from interplay.gridworld.simulation import GridWorldSimulation
from interplay.gridworld.states import PositionState


class MultiAgentGridSim(GridWorldSimulation):
    """Has only positions: agents neither act, see nor earn anything, and it is never over.

    Args:
        **kwargs: from a builder, and of `PositionState`.

    Attributes:
        position_state: places of the agents.

    Example:
        >>> import numpy as np
        >>> from interplay.gridworld.agents import GridWorldAgent
        >>> sim = MultiAgentGridSim.build_sim_from_array(
        ...     np.array([["A", "."], [".", "A"]]), {"A": lambda n: GridWorldAgent(id=f"agent{n}", encoding=1)}
        ... )
        >>> sim.reset()
        >>> sim.agents["agent1"].position.tolist()
        [1, 1]
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.position_state = PositionState(**{**kwargs, "agents": self.agents, "grid": self.grid})
        self.finalize()

    def reset(self, **kwargs: Any) -> None:
        """Places all agents."""
        self.position_state.reset(**kwargs)

    def step(self, action: dict[str, Any], **kwargs: Any) -> None:
        """Nothing happens."""

    def get_obs(self, agent_id: str, **kwargs: Any) -> dict[str, Any]:
        return {}

    def get_reward(self, agent_id: str, **kwargs: Any) -> float:
        return 0.0

    def get_done(self, agent_id: str, **kwargs: Any) -> bool:
        return False

    def get_all_done(self, **kwargs: Any) -> bool:
        return False

    def get_info(self, agent_id: str, **kwargs: Any) -> dict[str, Any]:
        return {}
