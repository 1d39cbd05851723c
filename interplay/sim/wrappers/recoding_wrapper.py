"""Wrappers that recode points: flattened or ravelled, of observations and actions or of actions alone."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from gymnasium import spaces

from interplay.core.errors import Refused
from interplay.sim.agents import ActingAgent, ObservingAgent, is_unset
from interplay.sim.checks import refuse
from interplay.sim.simulation import AgentBasedSimulation
from interplay.sim.wrappers.wrapper import SARWrapper


class RecodingWrapper(SARWrapper):
    """Recodes the spaces, points and null points of all agents.

    Raises:
        AssertionError: naming the agent with a space that cannot be recoded.
    """

    recodes_observations = True

    def __init__(self, sim: AgentBasedSimulation) -> None:
        super().__init__(sim)
        for agent_id, agent in self.agents.items():
            inner = sim.agents[agent_id]
            if isinstance(agent, ObservingAgent) and self.recodes_observations:
                space = inner.observation_space
                agent.observation_space = self._recoded(space, f"{agent_id}: observation space")
                if not is_unset(inner.null_observation):
                    agent.null_observation = self.encode(space, inner.null_observation)
            if isinstance(agent, ActingAgent):
                space = inner.action_space
                agent.action_space = self._recoded(space, f"{agent_id}: action space")
                if not is_unset(inner.null_action):
                    agent.null_action = self.encode(space, inner.null_action)
        self.finalize()

    @abstractmethod
    def encode_space(self, space: Any) -> spaces.Space[Any]:
        """The space of the recoded points."""

    @abstractmethod
    def encode(self, space: Any, point: Any) -> Any:
        """A point of the original space, recoded."""

    @abstractmethod
    def decode(self, space: Any, point: Any) -> Any:
        """The inverse of `encode`."""

    @abstractmethod
    def holds(self, space: Any, action: Any) -> bool:
        """Whether a recoded action space takes an action."""

    def wrap_observation(self, from_agent: Any, observation: Any) -> Any:
        if not self.recodes_observations:
            return observation
        return self.encode(from_agent.observation_space, observation)

    def unwrap_observation(self, from_agent: Any, observation: Any) -> Any:
        if not self.recodes_observations:
            return observation
        return self.decode(from_agent.observation_space, observation)

    def wrap_action(self, from_agent: Any, action: Any) -> Any:
        """The action of the original space; one outside the recoded space is refused."""
        space = self.agents[from_agent.id].action_space
        if not self.holds(space, action):
            refuse(
                f"agent {from_agent.id}: action {action!r} is outside {space} of {type(self).__name__}; choose from it"
            )
        return self.decode(from_agent.action_space, action)

    def unwrap_action(self, from_agent: Any, action: Any) -> Any:
        return self.encode(from_agent.action_space, action)

    def _recoded(self, space: Any, name: str) -> spaces.Space[Any]:
        try:
            return self.encode_space(space)
        except AssertionError as error:
            raise Refused(f"agent {name}: {error}") from None
