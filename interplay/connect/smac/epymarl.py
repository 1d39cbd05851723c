"""A battle in the form of EPyMARL's environments: Gymnasium's reset and step, SMAC's getters."""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.connect.smac.face import SmacFace
from interplay.core.errors import UserError
from interplay.core.policy import Policy

SCALARISATIONS = ("sum", "mean")


class EPyMARLEnv(SmacFace):
    """One battle for EPyMARL: ``REGISTRY["sc2"] = EPyMARLEnv``.

    Args:
        map_name, seed, enemy, **keywords: see `LearningSide`.
        common_reward: a reward is one number; otherwise a list with one for each agent.
        reward_scalarisation: EPyMARL's reduction to one reward. A side has one reward already, so both leave it as it is.

    Example:
        >>> env = EPyMARLEnv("3m", seed=1)
        >>> observations, info = env.reset()
        >>> observations, reward, terminated, truncated, info = env.step([4, 4, 4])
        >>> reward, terminated, truncated
        (0.0, False, False)
    """

    def __init__(
        self,
        map_name: str = "8m",
        seed: int | None = None,
        enemy: Policy | str = "attack_move",
        common_reward: bool = True,
        reward_scalarisation: str = "sum",
        **keywords: Any,
    ) -> None:
        super().__init__(map_name, seed, enemy, **keywords)
        if reward_scalarisation not in SCALARISATIONS:
            raise UserError(
                f"{self.world.id}: reward_scalarisation = {reward_scalarisation!r}; choose {' or '.join(SCALARISATIONS)}"
            )
        if not isinstance(common_reward, bool):
            raise UserError(f"{self.world.id}: common_reward = {common_reward!r}; choose true or false")
        self.common_reward = common_reward

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[list[np.ndarray], dict[str, Any]]:
        """Begins a battle: the agents' observations, and an empty info.

        Args:
            seed: of the battle; None continues the stream.
            options: ignored; the world takes its options when it is made.
        """
        self._begin(seed)
        return self.get_obs(), {}

    def step(self, actions: Any) -> tuple[list[np.ndarray], float | list[float], bool, bool, dict[str, Any]]:
        """Returns observations, reward, terminated, truncated and info.

        Args:
            actions: one number for each agent; of the dead 0.

        Raises:
            AssertionError: for an illegal action; nothing has happened then.
            UserError: before the first reset, or when the battle is over.
        """
        turn = self._advance(actions)
        reward = turn.reward if self.common_reward else [turn.reward] * self.n_agents
        return self.get_obs(), reward, turn.over and not turn.cut, turn.cut, self._info(turn)
