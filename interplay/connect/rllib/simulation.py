"""An RLlib `MultiAgentEnv` as a simulation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gymnasium import spaces
from ray.rllib.env.multi_agent_env import MultiAgentEnv

from interplay.connect.readers import idle
from interplay.core.errors import Refused
from interplay.sim import Agent, DynamicOrderSimulation
from interplay.sim.agents import is_unset
from interplay.sim.checks import require

ALL = "__all__"


class MultiAgentABS(DynamicOrderSimulation):
    """An RLlib environment as a simulation; its agents' ids become text.

    An agent's observation and info are the environment's last ones; its reward adds up from action to action. It is done when the
    environment has terminated or truncated it. `next_agent`, for a `DynamicOrderManager`, are the agents with an observation that
    is not None; an environment in which all agents act in every step suits the `AllStepManager`.

    Args:
        null_observation, null_action: id -> point; agents without an entry have none.
    """

    def __init__(
        self,
        env: MultiAgentEnv,
        null_observation: Mapping[str, Any] | None = None,
        null_action: Mapping[str, Any] | None = None,
    ) -> None:
        require(isinstance(env, MultiAgentEnv), f"env {env!r} is no RLlib MultiAgentEnv; give one")
        self.env = env
        self.metadata = dict(getattr(env, "metadata", None) or {})
        self._ids = {str(theirs): theirs for theirs in agents_of(env)}
        observed, acted = dict(null_observation or {}), dict(null_action or {})
        unknown = [str(name) for name in (*observed, *acted) if name not in self._ids]
        require(not unknown, f"null points for {', '.join(unknown)}; the agents are {', '.join(self._ids)}")
        self.agents = {
            name: Agent(
                id=name,
                observation_space=env.get_observation_space(theirs),
                action_space=env.get_action_space(theirs),
                null_observation=observed.get(name),
                null_action=acted.get(name),
            )
            for name, theirs in self._ids.items()
        }
        self.finalize()

    def reset(self, seed: int | None = None, **kwargs: Any) -> None:
        """Starts an episode; the seed reaches the environment."""
        observations, infos = self.env.reset(seed=seed, **kwargs)
        self._observations = _given(observations)
        self._infos = dict(infos)
        self._earned = dict.fromkeys(self._ids.values(), 0)
        self._terminated: set[Any] = set()
        self._truncated: set[Any] = set()
        self.next_agent = [str(theirs) for theirs in self._observations]

    def step(self, action: dict[str, Any], **kwargs: Any) -> None:
        """Goes on with the agents' actions."""
        for name in action:
            self._earned[self._ids[name]] = 0
        given = {self._ids[name]: chosen for name, chosen in action.items()}
        observations, rewards, terminateds, truncateds, infos = self.env.step(given)
        seen = _given(observations)
        self._observations |= seen
        self._infos |= infos
        for theirs, reward in rewards.items():
            self._earned[theirs] = self._earned[theirs] + reward
        self._terminated |= {theirs for theirs, flag in terminateds.items() if flag}
        self._truncated |= {theirs for theirs, flag in truncateds.items() if flag}
        self.next_agent = [str(theirs) for theirs in seen]

    def render(self, **kwargs: Any) -> Any:
        return self.env.render()

    def get_obs(self, agent_id: str, **kwargs: Any) -> Any:
        """The agent's last observation; before its first one its null observation, or zeros."""
        theirs = self._ids[agent_id]
        if theirs in self._observations:
            return self._observations[theirs]
        agent = self.agents[agent_id]
        return idle(agent.observation_space) if is_unset(agent.null_observation) else agent.null_observation

    def get_action_mask(self, agent_id: str, **kwargs: Any) -> Any:
        """The ``"action_mask"`` of the agent's last info."""
        return (self._infos.get(self._ids[agent_id]) or {}).get("action_mask")

    def get_reward(self, agent_id: str, **kwargs: Any) -> Any:
        """The agent's reward since its last action."""
        return self._earned[self._ids[agent_id]]

    def get_done(self, agent_id: str, **kwargs: Any) -> bool:
        """Whether the agent was terminated or truncated, alone or with all."""
        return bool({self._ids[agent_id], ALL} & (self._terminated | self._truncated))

    def get_truncated(self, agent_id: str, **kwargs: Any) -> bool:
        """Whether the agent was truncated, alone or with all, and not terminated."""
        theirs = self._ids[agent_id]
        if theirs in self._terminated:
            return False
        return theirs in self._truncated or (ALL in self._truncated and ALL not in self._terminated)

    def get_all_done(self, **kwargs: Any) -> bool:
        """Whether all were."""
        return ALL in self._terminated | self._truncated

    def get_info(self, agent_id: str, **kwargs: Any) -> Any:
        return self._infos.get(self._ids[agent_id], {})


def _given(observations: Mapping[Any, Any]) -> dict[Any, Any]:
    """Observations that are not None."""
    return {theirs: seen for theirs, seen in observations.items() if seen is not None}


def agents_of(env: MultiAgentEnv) -> list[Any]:
    """The ids of all possible agents of an RLlib environment, in its order.

    RLlib reads them in its own constructor. An environment that sets its spaces later lists none, so the spaces are read too.

    Raises:
        AssertionError: if neither the environment nor its spaces name an agent.
    """
    listed = (
        env.possible_agents,
        dict.fromkeys([*env.agents, *(env.observation_spaces or ())]),
        _shared_keys(env.observation_space, env.action_space),
        sorted(getattr(env, "_agent_ids", ()), key=str),  # the old stack's, a set
    )
    for ids in listed:
        if ids:
            return list(ids)
    raise Refused(f"env {type(env).__name__} names no agents; set possible_agents or observation_spaces")


def _shared_keys(observation_space: Any, action_space: Any) -> list[Any]:
    """Keys of both Dict spaces: the agents' ids on the old stack."""
    if not (isinstance(observation_space, spaces.Dict) and isinstance(action_space, spaces.Dict)):
        return []
    return [one for one in observation_space.spaces if one in action_space.spaces]


multi_agent_to_simulation = MultiAgentABS
