"""Somebody else's environments in the form of a PettingZoo parallel environment: those that take turns, and those of one agent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium
from pettingzoo.utils.env import AECEnv

from interplay.sim.batch.managed import as_environment

ALONE = "agent"  # who plays a Gymnasium environment

Step = tuple[dict[Any, Any], dict[Any, float], dict[Any, bool], dict[Any, bool], dict[Any, Any]]


class TurnsEnv:
    """An `AECEnv` in which everybody is listed and one acts at a time, as infos say by ``acting``.

    One step is one turn. Who has finished is stepped with None as PettingZoo asks for, without a step of its own.

    Args:
        env: whose agents are known beforehand.
    """

    def __init__(self, env: AECEnv[Any, Any, Any]) -> None:
        self.env = env
        self.metadata = env.metadata
        self.render_mode = getattr(env, "render_mode", None)
        self.possible_agents = list(env.possible_agents)
        self.agents: list[Any] = []
        self.state_space = getattr(env, "state_space", None)

    def observation_space(self, agent: Any) -> Any:
        """Of one agent."""
        return self.env.observation_space(agent)

    def action_space(self, agent: Any) -> Any:
        """Of one agent."""
        return self.env.action_space(agent)

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[Any, Any], dict[Any, Any]]:
        """Starts an episode: what everybody sees, and infos."""
        self.env.reset(seed=seed, options=options)
        self.agents = list(self.env.agents)
        return self._seen(self.agents), self._told(self.agents)

    def step(self, actions: Mapping[Any, Any]) -> Step:
        """Goes on with the action of whose turn it is."""
        before = list(self.agents)
        self.env.step(actions[self.env.agent_selection])
        rewards = {name: float(self.env.rewards.get(name, 0.0)) for name in before}
        terminated = {name: bool(self.env.terminations.get(name, False)) for name in before}
        truncated = {name: bool(self.env.truncations.get(name, False)) for name in before}
        seen, infos = self._seen(before), {name: dict(self.env.infos.get(name, {})) for name in before}
        while self.env.agents and self._finished(self.env.agent_selection):
            self.env.step(None)
        self.agents = [name for name in self.env.agents if not self._finished(name)]
        return seen, rewards, terminated, truncated, infos | self._told(self.agents)

    def state(self) -> Any:
        """As the environment does."""
        return self.env.state()

    def render(self) -> Any:
        """As the environment does."""
        return self.env.render()

    def close(self) -> None:
        """Closes the environment."""
        self.env.close()

    def _finished(self, name: Any) -> bool:
        return bool(self.env.terminations.get(name, False) or self.env.truncations.get(name, False))

    def _seen(self, names: list[Any]) -> dict[Any, Any]:
        return {name: self.env.observe(name) for name in names}

    def _told(self, names: list[Any]) -> dict[Any, Any]:
        turn = self.env.agent_selection
        return {name: {**self.env.infos.get(name, {}), "acting": name == turn} for name in names}


class AloneEnv:
    """A `gymnasium.Env` with one agent, called ``"agent"``.

    Args:
        env: whose spaces become the agent's.
    """

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        self.env = env
        self.metadata = {**(env.metadata or {}), "name": name_of(env)}
        self.render_mode = env.render_mode
        self.possible_agents = [ALONE]
        self.agents: list[str] = []

    def observation_space(self, agent: str) -> Any:
        """Of the environment."""
        return self.env.observation_space

    def action_space(self, agent: str) -> Any:
        """Of the environment."""
        return self.env.action_space

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Starts an episode."""
        seen, info = self.env.reset(seed=seed, options=options)
        self.agents = [ALONE]
        return {ALONE: seen}, {ALONE: info}

    def step(self, actions: Mapping[str, Any]) -> Step:
        """Goes on with the agent's action."""
        seen, reward, terminated, truncated, info = self.env.step(actions[ALONE])
        if terminated or truncated:
            self.agents = []
        ends = {ALONE: bool(terminated)}, {ALONE: bool(truncated)}
        return {ALONE: seen}, {ALONE: float(reward)}, *ends, {ALONE: info}

    def render(self) -> Any:
        """As the environment does."""
        return self.env.render()

    def close(self) -> None:
        """Closes the environment."""
        self.env.close()


def as_parallel(made: Any) -> Any:
    """What a factory made in the form of a parallel environment: those that take turns, of one agent, and managers; others as they are."""
    if isinstance(made, gymnasium.Env):
        return AloneEnv(made)
    return TurnsEnv(made) if isinstance(made, AECEnv) else as_environment(made)


def name_of(env: Any) -> str:
    """What an environment calls itself: its Gymnasium id, its metadata's name, or its class."""
    spec = getattr(env, "spec", None)
    metadata = getattr(env, "metadata", None) or {}
    return str(getattr(spec, "id", None) or metadata.get("name") or type(env).__name__)
