"""A simulation with getters that return texts."""

from __future__ import annotations

from typing import Any

from gymnasium.spaces import Discrete

from interplay.sim import Agent, AgentBasedSimulation, PrincipleAgent


class MultiAgentSim(AgentBasedSimulation):
    """Returns texts such as ``"obs of agent0"``, which are in no space: whatever passes them on must not change them (C5).

    Args:
        num_agents: learning agents, ``agent0`` and on.
        num_principle_agent: passive ones, ``principle_agent0`` and on.

    Example:
        >>> MultiAgentSim().get_reward("agent1")
        'reward of agent1'
    """

    def __init__(self, num_agents: int = 3, num_principle_agent: int = 2) -> None:
        learning = [
            Agent(id=f"agent{i}", observation_space=Discrete(2), action_space=Discrete(2))
            for i in range(num_agents)
        ]
        passive = [PrincipleAgent(id=f"principle_agent{i}") for i in range(num_principle_agent)]
        self.agents = {agent.id: agent for agent in [*learning, *passive]}
        self.action: dict[str, Any] = {}
        self.finalize()

    def reset(self, **kwargs: Any) -> None:
        self.action = {}

    def step(self, action: dict[str, Any], **kwargs: Any) -> None:
        self.action = {**action}

    def render(self, **kwargs: Any) -> None: ...

    def get_obs(self, agent_id: str, **kwargs: Any) -> str:
        return f"obs of {agent_id}"

    def get_reward(self, agent_id: str, **kwargs: Any) -> str:
        return f"reward of {agent_id}"

    def get_done(self, agent_id: str, **kwargs: Any) -> str:
        """A text, which is truthy."""
        return f"done of {agent_id}"

    def get_all_done(self, **kwargs: Any) -> str:
        return "all done"

    def get_info(self, agent_id: str, **kwargs: Any) -> Any:
        """The agent's last action, or None."""
        return self.action.get(agent_id)
