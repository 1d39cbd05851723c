"""Wrappers: simulations around simulations, which change inputs and outputs.

Source: manual 2.1.4 and 7.3; specification 2.4.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from interplay.sim.checks import require
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
