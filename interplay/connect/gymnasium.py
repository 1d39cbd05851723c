"""Gymnasium in both directions: a simulation with one learning agent as an `Env`, and an `Env` as a simulation.

Source: manual 2.1.5 and 7.4; specification 2.12, X1 and X2, and section 3, rows 15 and 16.
"""

from __future__ import annotations

from typing import Any

import gymnasium

from interplay.connect.refusals import no_manager
from interplay.core.masks import drawable
from interplay.sim import Agent, AgentBasedSimulation, is_agent
from interplay.sim.checks import require
from interplay.sim.managers import SimulationManager

AGENT = "agent"  # the only agent of a simulation made from an Env


class GymWrapper(gymnasium.Env[Any, Any]):
    """A manager whose simulation has exactly one learning agent, as a Gymnasium environment.

    Where the simulation has an action mask, infos hold it as ``action_mask``, in the form that ``action_space.sample(mask)`` takes.

    Args:
        sim: the manager; there may be any number of agents who cannot learn.

    Attributes:
        sim: the manager.
        agent: the learning agent.
        agent_id: its id.

    Raises:
        AssertionError: for anything but a manager, and for another number of learning agents.
    """

    def __init__(self, sim: SimulationManager) -> None:
        require(isinstance(sim, SimulationManager), no_manager(sim, "sim"))
        learning = [name for name, agent in sim.agents.items() if is_agent(agent)]
        require(
            len(learning) == 1,
            f"{len(learning)} agents learn ({', '.join(learning) or 'nobody'}); a Gymnasium environment has exactly one",
        )
        self.sim = sim
        self.agent_id = learning[0]
        self.agent = sim.agents[self.agent_id]
        self.observation_space = self.agent.observation_space
        self.action_space = self.agent.action_space

    @property
    def unwrapped(self) -> Any:
        """The manager."""
        return self.sim

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """The first observation and an info that is empty but for an action mask."""
        return self.sim.reset(seed=seed)[self.agent_id], self._told({})

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, Any]:
        """Observation, reward, terminated, truncated (by the manager's time limit) and info."""
        observations, rewards, dones, infos = self.sim.step({self.agent_id: action})
        truncated = self.sim.truncated
        terminated = not truncated and bool(dones[self.agent_id] or dones["__all__"])
        name = self.agent_id
        told = infos[name] if terminated or truncated else self._told(infos[name])
        return observations[name], rewards[name], terminated, truncated, told

    def render(self) -> Any:
        """Has the simulation draw itself."""
        return self.sim.render()

    def _told(self, info: Any) -> Any:
        mask = drawable(self.action_space, self.sim.sim.get_action_mask(self.agent_id))
        return info if mask is None else {**info, "action_mask": mask}


class GymABS(AgentBasedSimulation):
    """A Gymnasium environment as a simulation with one agent, called ``"agent"``.

    What it says of observation, reward and info is what the last `reset` or `step` said; the agent is done when the
    environment has terminated or was truncated.

    Args:
        env: the environment.
        null_observation, null_action: of the agent.
    """

    def __init__(
        self, env: gymnasium.Env[Any, Any], null_observation: Any = None, null_action: Any = None
    ) -> None:
        require(isinstance(env, gymnasium.Env), f"env {env!r} is no gymnasium.Env; give one")
        self.env = env
        self.agents = {
            AGENT: Agent(
                id=AGENT,
                observation_space=env.observation_space,
                action_space=env.action_space,
                null_observation=null_observation,
                null_action=null_action,
            )
        }
        self._said: tuple[Any, Any, bool, dict[str, Any]] = (None, 0.0, False, {})
        self.finalize()

    def reset(self, seed: int | None = None, **kwargs: Any) -> None:
        """Starts an episode; the seed reaches the environment."""
        observation, info = self.env.reset(seed=seed, **kwargs)
        self._said = (observation, 0.0, False, info)

    def step(self, action: dict[str, Any], **kwargs: Any) -> None:
        """Goes on with the agent's action."""
        observation, reward, terminated, truncated, info = self.env.step(action[AGENT])
        self._said = (observation, reward, bool(terminated or truncated), info)

    def render(self, **kwargs: Any) -> Any:
        """Has the environment draw itself."""
        return self.env.render()

    def get_obs(self, agent_id: str, **kwargs: Any) -> Any:
        """The last observation."""
        return self._said[0]

    def get_reward(self, agent_id: str, **kwargs: Any) -> Any:
        """The last reward."""
        return self._said[1]

    def get_done(self, agent_id: str, **kwargs: Any) -> bool:
        """Whether the environment has ended."""
        return self._said[2]

    def get_all_done(self, **kwargs: Any) -> bool:
        """Whether the environment has ended."""
        return self._said[2]

    def get_info(self, agent_id: str, **kwargs: Any) -> dict[str, Any]:
        """The last info."""
        return self._said[3]


def gym_to_simulation(
    env: gymnasium.Env[Any, Any], null_observation: Any = None, null_action: Any = None
) -> GymABS:
    """A Gymnasium environment as a simulation.

    Raises:
        AssertionError: for anything but a `gymnasium.Env`, and for a null point outside its space.

    Example:
        >>> from interplay.sim.managers import AllStepManager
        >>> manager = AllStepManager(gym_to_simulation(gymnasium.make("CartPole-v1")))
        >>> sorted(manager.reset(seed=1))
        ['agent']
    """
    return GymABS(env, null_observation, null_action)
