"""One world whose agents all stay to its end, for trainers that need a fixed number of agents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gymnasium import spaces

from interplay.connect.pettingzoo import Infos, WorldEnv


class KeptEnv(WorldEnv):
    """A `WorldEnv`, or a `numbered_lives.NumberedLivesEnv`, from which nobody leaves before the world ends.

    `agents` are all `possible_agents` until then, and all end in the same step: truncated if a limit cut anybody in it, else
    terminated. Whoever has left the inner environment, or was not born yet, sees zeros (or what is nearest to them in the space), earns
    0, and has exactly one legal action, the first choice of every head; so has everybody else who does not act. Infos of who
    has left go on saying what the last one said, with ``acting`` False. In worlds where the dead go on earning they go on
    seeing and earning.

    Args:
        env: the environment, which is driven by nobody else from now on.

    Attributes:
        env: the same.
    """

    def __init__(self, env: WorldEnv) -> None:
        self.env, self.world = env, env.world
        env.one_choice = self.one_choice = True
        self.one_life = env.one_life
        self.render_mode, self.metadata = env.render_mode, env.metadata
        self.remove_dead, self.mask_in_observation, self.flat = (
            env.remove_dead,
            env.mask_in_observation,
            env.flat,
        )
        self.possible_agents = list(env.possible_agents)
        self.observation_spaces = {name: env.observation_space(name) for name in self.possible_agents}
        self.action_spaces = {name: env.action_space(name) for name in self.possible_agents}
        self.agents: list[str] = []
        self._window = None
        self._kinds = env._kinds
        self._offer_state()
        self._left: Infos = {}

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], Infos]:
        """Starts an episode, see `WorldEnv.reset`."""
        observation, infos = self.env.reset(seed=seed, options=options)
        self.agents = list(self.possible_agents)
        self._left = {}
        return self._filled(observation), self._told(infos)

    def step(
        self, actions: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], Infos]:
        """Steps the world; actions of who has left are not read.

        Raises:
            UserError: as `WorldEnv.step` does.
        """
        if not self.agents:
            return {}, {}, {}, {}, {}
        absent = set(self.possible_agents) - set(self.env.agents)
        given = {name: action for name, action in actions.items() if name not in absent}
        observation, rewards, terminated, truncated, infos = self.env.step(given)
        over, cut = not self.env.agents, any(truncated.values())
        for name, info in infos.items():
            if terminated[name] or truncated[name]:
                self._left[name] = {**info, "acting": False}
        told = (
            self._filled(observation),
            {name: rewards.get(name, 0.0) for name in self.agents},
            dict.fromkeys(self.agents, over and not cut),
            dict.fromkeys(self.agents, over and cut),
            self._told(infos),
        )
        if over:
            self.agents = []
        return told

    def render(self) -> Any:
        return self.env.render()

    def close(self) -> None:
        self.env.close()

    def _filled(self, observation: dict[str, Any]) -> dict[str, Any]:
        return {
            name: observation[name] if name in observation else self.env.blank(name)
            for name in self.possible_agents
        }

    def _told(self, infos: Infos) -> Infos:  # type: ignore[override]
        found: Infos = {}
        for name in self.possible_agents:
            if name in infos:
                found[name] = infos[name]
            elif name in self._left:
                found[name] = {**self._left[name], "action_mask": self.env.idle_mask(name)}
            else:
                found[name] = self.env.blank_info(name)
        return found
