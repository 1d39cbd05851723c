"""One world whose slots live more than once, with agents that are known beforehand: ``interplay.make("mmo/forage", lives=200)``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from gymnasium import spaces

from interplay.connect.lives import PREFIX, LivesEnv
from interplay.connect.pettingzoo import Infos
from interplay.core.errors import UserError
from interplay.core.world import World

T = TypeVar("T")

MAX_WAIT = 10_000  # steps in which nobody lives
MOST = 1_000_000  # lives; each has a name and two spaces before the first step


class NumberedLivesEnv(LivesEnv):
    """A `LivesEnv` whose episode has so many lives: `possible_agents` are ``life_0`` .. ``life_<lives - 1>``.

    The step in which one more would be born ends the episode: whoever did not die in it is truncated, and nobody hears of newcomers.
    Steps in which nobody lives pass by themselves. The next `reset` begins another episode of the world.

    Args:
        world, render_mode, remove_dead, mask_in_observation, flat: see `WorldEnv`.
        lives: of an episode, at least 1.

    Raises:
        UserError: for lives below 1 or above a million, or agents of several kinds; from `reset`, if more live at the beginning; if nobody is born for
            10,000 steps.
    """

    def __init__(
        self,
        world: World,
        render_mode: str | None = None,
        remove_dead: bool = False,
        mask_in_observation: bool = False,
        flat: bool | str = False,
        lives: int = 1,
    ) -> None:
        if type(lives) is not int or not 1 <= lives <= MOST:
            raise UserError(
                f"{world.id}: lives = {lives!r} is not allowed; pass a whole number from 1 to {MOST:,}"
            )
        if len(world.kinds) > 1:
            raise UserError(
                f"{world.id}: which of {len(world.kinds)} kinds a life is of is not known beforehand; leave lives out"
            )
        super().__init__(world, render_mode, remove_dead, mask_in_observation, flat)
        self.lives = lives
        self._names = [f"{PREFIX}{number}" for number in range(lives)]
        self.observation_spaces: dict[str, spaces.Space[Any]] = dict.fromkeys(
            self._names, self._kinds[0].observation_space
        )
        self.action_spaces: dict[str, spaces.Space[Any]] = dict.fromkeys(
            self._names, self._kinds[0].action_space
        )
        self._cut = False

    @property
    def possible_agents(self) -> list[str]:  # type: ignore[override]
        """All that there may be."""
        return list(self._names)

    @property
    def over(self) -> bool:
        """Whether the episode has ended."""
        return self._cut or super().over

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], Infos]:
        """Starts an episode, see `WorldEnv.reset`."""
        self._cut = False
        observation, infos = super().reset(seed=seed, options=options)
        if not self.agents:
            _, infos, observation = self._wait()
        if len(self._born) > self.lives:
            raise UserError(
                f"{self.world.id}: {len(self._born)} agents live at the beginning, lives = {self.lives}; raise lives"
            )
        return observation, infos

    def step(
        self, actions: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], Infos]:
        """Steps the world, as `LivesEnv.step`.

        Raises:
            UserError: as there, and if nobody is born for 10,000 steps.
        """
        if self._cut:
            return {}, {}, {}, {}, {}
        before = list(self.agents)
        observation, rewards, terminated, truncated, infos = super().step(actions)
        if not self.agents and not self.over:
            born, told, seen = self._wait()
            observation, infos = observation | seen, infos | told
            rewards |= dict.fromkeys(born, 0.0)
            terminated |= dict.fromkeys(born, False)
            truncated |= dict.fromkeys(born, False)
        if len(self._born) > self.lives:
            self._cut, self.agents = True, []
            observation, infos = _only(before, observation), _only(before, infos)
            rewards, terminated = _only(before, rewards), _only(before, terminated)
            truncated = {name: not terminated[name] for name in before}
        return observation, rewards, terminated, truncated, infos

    def _wait(self) -> tuple[list[str], Infos, dict[str, Any]]:
        """Lets steps pass until somebody is born, or the world is over: those who were, their infos and what they see."""
        for _ in range(MAX_WAIT):
            if self.agents or self.over:
                break
            observation, _, _, _, infos = super().step({})
        else:
            raise UserError(f"{self.world.id}: nobody was born in {MAX_WAIT:,} steps; see its settings")
        if not self.agents:
            return [], {}, {}
        return list(self.agents), infos, observation


def _only(names: list[str], part: dict[str, T]) -> dict[str, T]:
    return {name: part[name] for name in names}
