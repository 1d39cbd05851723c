"""A Gymnasium environment as a simulation."""

from __future__ import annotations

from typing import Any

import gymnasium

from interplay.sim import Agent, AgentBasedSimulation
from interplay.sim.checks import require

AGENT = "agent"  # the only agent of a simulation made from an Env


class GymABS(AgentBasedSimulation):
    """A Gymnasium environment as a simulation with one agent, called ``"agent"``.

    Getters return the values of the last `reset` or `step`. The agent is done when the environment has terminated or was truncated.

    Example:
        >>> from interplay.sim.managers import AllStepManager
        >>> manager = AllStepManager(gym_to_simulation(gymnasium.make("CartPole-v1")))
        >>> sorted(manager.reset(seed=1))
        ['agent']
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
        self._outputs: tuple[Any, Any, bool, dict[str, Any]] = (None, 0.0, False, {})
        self._truncated = False
        self.finalize()

    def reset(self, seed: int | None = None, **kwargs: Any) -> None:
        """Starts an episode; the seed reaches the environment."""
        observation, info = self.env.reset(seed=seed, **kwargs)
        self._outputs = (observation, 0.0, False, info)

    def step(self, action: dict[str, Any], **kwargs: Any) -> None:
        """Goes on with the agent's action."""
        observation, reward, terminated, truncated, info = self.env.step(action[AGENT])
        self._outputs = (observation, reward, bool(terminated or truncated), info)
        self._truncated = bool(truncated and not terminated)

    def render(self, **kwargs: Any) -> Any:
        return self.env.render()

    def get_obs(self, agent_id: str, **kwargs: Any) -> Any:
        return self._outputs[0]

    def get_reward(self, agent_id: str, **kwargs: Any) -> Any:
        return self._outputs[1]

    def get_done(self, agent_id: str, **kwargs: Any) -> bool:
        return self._outputs[2]

    def get_truncated(self, agent_id: str, **kwargs: Any) -> bool:
        return self._truncated

    def get_all_done(self, **kwargs: Any) -> bool:
        return self._outputs[2]

    def get_info(self, agent_id: str, **kwargs: Any) -> dict[str, Any]:
        return self._outputs[3]

    def get_action_mask(self, agent_id: str, **kwargs: Any) -> Any:
        """The ``"action_mask"`` of the last info."""
        return self._outputs[3].get("action_mask")


gym_to_simulation = GymABS
