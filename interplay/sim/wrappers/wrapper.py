"""Wrappers: simulations around simulations, which change or recode inputs and outputs.

Source: manual 2.1.4 and 7.3; specification 2.4.
"""

from __future__ import annotations

import copy
from abc import abstractmethod
from typing import Any

import numpy as np
from gymnasium import spaces

from interplay.core.errors import Refused
from interplay.sim.agents import ActingAgent, ObservingAgent, is_unset
from interplay.sim.checks import refuse, require
from interplay.sim.simulation import AgentBasedSimulation


class Wrapper(AgentBasedSimulation):
    """Forwards every call to a simulation; its copies of the agents may have other spaces.

    Args:
        sim: the next layer, a simulation or a wrapper.

    Raises:
        AssertionError: for anything else.
    """

    def __init__(self, sim: AgentBasedSimulation, **kwargs: Any) -> None:
        require(
            isinstance(sim, AgentBasedSimulation),
            f"sim {sim!r} is no AgentBasedSimulation; wrap one or a wrapper",
        )
        self.sim = sim
        self.agents = copy.deepcopy(sim.agents)

    @property
    def unwrapped(self) -> AgentBasedSimulation:
        """The simulation under all wrappers."""
        return self.sim.unwrapped

    @property
    def rng(self) -> np.random.Generator:
        """The simulation's."""
        return self.sim.rng

    def reseed(self, seed: int) -> None:
        self.sim.reseed(seed)
        self._reseed_spaces(seed)

    def close(self) -> None:
        self.sim.close()

    def reset(self, **kwargs: Any) -> None:
        self.sim.reset(**kwargs)

    def step(self, action: dict[str, Any], **kwargs: Any) -> None:
        self.sim.step(action, **kwargs)

    def render(self, **kwargs: Any) -> Any:
        return self.sim.render(**kwargs)

    def get_obs(self, agent_id: str, **kwargs: Any) -> Any:
        return self.sim.get_obs(agent_id, **kwargs)

    def get_reward(self, agent_id: str, **kwargs: Any) -> Any:
        return self.sim.get_reward(agent_id, **kwargs)

    def get_done(self, agent_id: str, **kwargs: Any) -> Any:
        return self.sim.get_done(agent_id, **kwargs)

    def get_truncated(self, agent_id: str, **kwargs: Any) -> Any:
        return self.sim.get_truncated(agent_id, **kwargs)

    def get_all_done(self, **kwargs: Any) -> Any:
        return self.sim.get_all_done(**kwargs)

    def get_action_mask(self, agent_id: str, **kwargs: Any) -> Any:
        return self.sim.get_action_mask(agent_id, **kwargs)

    def get_info(self, agent_id: str, **kwargs: Any) -> Any:
        return self.sim.get_info(agent_id, **kwargs)


class SARWrapper(Wrapper):
    """Changes states (observations), actions and rewards; subclasses override what they need.

    `wrap_observation` and `wrap_reward` give the trainer's form, `wrap_action` the simulation's. Their agent is the wrapped
    simulation's, with the original spaces. The `unwrap` functions are the inverses.
    """

    def get_obs(self, agent_id: str, **kwargs: Any) -> Any:
        return self.wrap_observation(self.sim.agents[agent_id], self.sim.get_obs(agent_id, **kwargs))

    def get_reward(self, agent_id: str, **kwargs: Any) -> Any:
        return self.wrap_reward(self.sim.get_reward(agent_id, **kwargs))

    def step(self, action: dict[str, Any], **kwargs: Any) -> None:
        inner = {
            agent_id: self.wrap_action(self.sim.agents[agent_id], given) for agent_id, given in action.items()
        }
        self.sim.step(inner, **kwargs)

    def wrap_observation(self, from_agent: Any, observation: Any) -> Any:
        """From the simulation's form to the trainer's."""
        return observation

    def unwrap_observation(self, from_agent: Any, observation: Any) -> Any:
        """From the trainer's form to the simulation's."""
        return observation

    def wrap_action(self, from_agent: Any, action: Any) -> Any:
        """From the trainer's form to the simulation's."""
        return action

    def unwrap_action(self, from_agent: Any, action: Any) -> Any:
        """From the simulation's form to the trainer's."""
        return action

    def wrap_reward(self, reward: Any) -> Any:
        """From the simulation's form to the trainer's."""
        return reward

    def unwrap_reward(self, reward: Any) -> Any:
        """From the trainer's form to the simulation's."""
        return reward


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
