"""The common part of the wrappers around the original's game."""

from __future__ import annotations

from typing import Any

from gymnasium import spaces
from pettingzoo.utils.env import ParallelEnv


class WrappedEnv(ParallelEnv[str, Any, Any]):
    """A game inside another one."""

    def __init__(self, env: Any) -> None:
        self.env = env
        self.metadata, self.render_mode = env.metadata, None
        self.possible_agents = env.possible_agents
        self.observation_spaces, self.action_spaces = env.observation_spaces, env.action_spaces

    @property
    def world(self) -> Any:
        return self.env.world

    @property
    def agents(self) -> list[str]:
        """The seats still in the game."""
        agents: list[str] = self.env.agents
        return agents

    @property
    def queried(self) -> list[str]:
        """The seats that act in the coming phase."""
        queried: list[str] = self.env.queried
        return queried

    @property
    def owed(self) -> dict[str, float]:
        """Seat -> reward not reported yet."""
        owed: dict[str, float] = self.env.owed
        return owed

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return self.action_spaces[agent]
