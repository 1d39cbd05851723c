"""A world with respawns as an RLlib `MultiAgentEnv`: each life is an agent."""

from __future__ import annotations

from typing import Any

from interplay.connect.agent_names import PREFIX
from interplay.connect.rllib.worlds import Members, WorldMultiAgentEnv
from interplay.connect.world_env import WorldEnv
from interplay.core.errors import UserError

MAX_WAIT = 10_000  # steps until the first birth


class LivesMultiAgentEnv(WorldMultiAgentEnv):
    """A `WorldEnv` of lives for RLlib, which needs all agents beforehand: their number is limited.

    The step in which one more would be born truncates the episode. If all its agents die in one step, the episode ends, as RLlib
    ends it then. The next `reset` begins another episode of the world.

    Args:
        env: with an open number of lives.
        lives: of an episode, at least 1; agents are ``life_0`` .. ``life_<lives - 1>``.

    Raises:
        UserError: if `lives` is missing, or, from `reset`, if more live at the beginning.
    """

    def __init__(self, env: WorldEnv, lives: int | None = None) -> None:
        if lives is None or lives < 1:
            given = "" if lives is None else f", lives = {lives}"
            raise UserError(
                f"{env.world.id}: RLlib needs all agents beforehand, here each life is one{given}; "
                "pass lives=N, after which an episode is cut"
            )
        self._lives = [f"{PREFIX}{number}" for number in range(lives)]
        if len(env.world.kinds) > 1:
            raise UserError(
                f"{env.world.id}: RLlib needs the kind of each life beforehand, here are several; use our trainer"
            )
        super().__init__(env, self._lives)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Members, Members]:
        """Starts an episode: observations and infos of the acting agents."""
        observations, infos = super().reset(seed=seed, options=options)
        waited = 0
        while not (observations or self.env.over):
            observations, _, _, _, infos = super().step({})
            waited += 1
            if waited == MAX_WAIT:
                raise UserError(f"{self.env.world.id}: no life began in {MAX_WAIT:,} steps; see its settings")
        if len(self.env.agents) > len(self._lives):
            raise UserError(
                f"{self.env.world.id}: {len(self.env.agents)} agents live at the beginning, lives = {len(self._lives)}; raise lives"
            )
        self.agents = list(self.env.agents)
        return observations, infos

    def step(self, action_dict: Members) -> tuple[Members, Members, Members, Members, Members]:
        """As `WorldMultiAgentEnv.step`; new lives have reward 0."""
        before = self.env.agents
        told = super().step(action_dict)
        if self.env.over:
            return told
        if not set(before) & set(self.env.agents):
            return self._end(told, before, cut=False)
        if any(int(name.removeprefix(PREFIX)) >= len(self._lives) for name in told[0]):
            return self._end(told, before, cut=True)
        return told

    def _is_over(self) -> bool:
        return self.env.over

    def _end(self, told: Any, before: list[str], cut: bool) -> Any:
        """Ends the episode in this step, without its new lives; `cut` truncates the survivors."""
        observations, rewards, terminated, truncated, infos = (
            {name: value for name, value in part.items() if name in before} for part in told
        )
        if cut:
            truncated = {name: not terminated[name] for name in observations}
        self.agents = [name for name in self.agents if name in before]
        return (
            observations,
            rewards,
            {**terminated, "__all__": not cut},
            {**truncated, "__all__": cut},
            infos,
        )
