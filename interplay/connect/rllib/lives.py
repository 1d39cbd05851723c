"""A world with respawns as an RLlib `MultiAgentEnv`: each life is an agent."""

from __future__ import annotations

from typing import Any

from interplay.connect.lives import PREFIX, LivesEnv
from interplay.connect.rllib.worlds import Members, WorldMultiAgentEnv
from interplay.core.errors import UserError

MAX_WAIT = 10_000  # steps until the first birth


class LivesMultiAgentEnv(WorldMultiAgentEnv):
    """A `LivesEnv` for RLlib, which wants to be told of every agent beforehand: an episode has so many lives.

    The step in which one more would be born cuts everybody, and with them the episode. The episode ends, too, when all whom
    RLlib knows of die in one step, as RLlib ends it then. The next one is another episode of the world.

    Args:
        env: the environment.
        lives: of an episode, at least 1; agents are ``life_0`` .. ``life_<lives - 1>``.

    Raises:
        UserError: if `lives` is missing or too small for those who live at the beginning (the latter from `reset`).
    """

    def __init__(self, env: LivesEnv, lives: int | None = None) -> None:
        if lives is None or lives < 1:
            given = "" if lives is None else f", lives = {lives}"
            raise UserError(
                f"{env.world.id}: RLlib has to know all agents beforehand, here each life is one{given}; "
                "pass lives=N, after which an episode is cut"
            )
        self._lives = [f"{PREFIX}{number}" for number in range(lives)]
        if len(env.world.kinds) > 1:
            raise UserError(
                f"{env.world.id}: lives of several kinds cannot be told to RLlib beforehand; use our trainer"
            )
        super().__init__(env, self._lives)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Members, Members]:
        """Starts an episode: observations and infos of those who act."""
        observations, infos = super().reset(seed=seed, options=options)
        waited = 0
        while not (observations or self.env.over):
            observations, _, _, _, infos = super().step({})
            waited += 1
            if waited == MAX_WAIT:
                raise UserError(
                    f"{self.env.world.id}: nobody was born in {MAX_WAIT:,} steps; see its settings"
                )
        if len(self.env.agents) > len(self._lives):
            raise UserError(
                f"{self.env.world.id}: {len(self.env.agents)} agents live at the beginning, lives = {len(self._lives)}; raise lives"
            )
        self.agents = list(self.env.agents)
        return observations, infos

    def step(self, action_dict: Members) -> tuple[Members, Members, Members, Members, Members]:
        """As `WorldMultiAgentEnv.step`; newcomers are shown with the reward 0."""
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
        """Ends the episode in this step: whoever was there and did not die is cut; nobody hears of newcomers."""
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
