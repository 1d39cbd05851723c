"""Rewards of each slot: weighted, clipped, normalised, recorded (specification interfaces 8)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from interplay.core.errors import UserError
from interplay.interfaces.match import MatchStep, without_members
from interplay.interfaces.wrappers.wrapper import MatchWrapper


class _Changed(MatchWrapper):
    """Base of wrappers that change rewards; those of teams' members, which stay, are left out of infos."""

    def step(self, action: Sequence[Any]) -> MatchStep:  # type: ignore[override]
        seen, rewards, terminated, truncated, info = super().step(action)
        return seen, self._made(rewards), terminated, truncated, without_members(info)

    def _made(self, rewards: tuple[Any, ...]) -> tuple[Any, ...]:
        raise NotImplementedError


class RewardWeights(_Changed):
    """Makes a number of a vector reward: the weighted sum.

    Args:
        weights: one for each entry of a slot's reward.
    """

    def __init__(self, env: Any, weights: Sequence[float]) -> None:
        super().__init__(env)
        self._weights = np.asarray(weights, np.float64)

    def _made(self, rewards: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(map(self._sum, rewards))

    def _sum(self, reward: Any) -> float:
        if np.shape(reward) != self._weights.shape:
            raise UserError(f"RewardWeights: {len(self._weights)} weights for a reward {reward!r}")
        return float(np.dot(self._weights, reward))


class SignReward(_Changed):
    """Clips every slot's reward to its sign: -1, 0 or 1."""

    def _made(self, rewards: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(map(_sign, rewards))


class RecordEpisodeStatistics(MatchWrapper):
    """Adds ``info["episode"]`` to an episode's last step: ``r``, each slot's return, and ``l``, its number of steps."""

    def _begin(self, seed: int | None) -> None:
        self._returns: list[Any] = [0.0] * self.slots
        self._steps = 0

    def step(self, action: Sequence[Any]) -> MatchStep:  # type: ignore[override]
        seen, rewards, terminated, truncated, info = super().step(action)
        self._returns = [one + other for one, other in zip(self._returns, rewards, strict=True)]
        self._steps += 1
        if terminated or truncated:
            info = {**info, "episode": {"r": tuple(self._returns), "l": self._steps}}
        return seen, rewards, terminated, truncated, info


class NormalizeReward(_Changed):
    """Divides every slot's reward by the standard deviation of its own discounted return so far."""

    def __init__(self, env: Any, gamma: float = 0.99, epsilon: float = 1e-8) -> None:
        super().__init__(env)
        self._gamma, self._epsilon = gamma, epsilon
        self._return, self._mean = np.zeros((2, self.slots))
        self._count, self._spread = 0, np.zeros(self.slots)  # Welford's sums

    def _begin(self, seed: int | None) -> None:
        self._return[:] = 0  # what was learnt of returns stays

    def _made(self, rewards: tuple[Any, ...]) -> tuple[Any, ...]:
        given = np.array([float(reward) for reward in rewards])
        self._return = self._return * self._gamma + given
        self._count += 1
        before = self._return - self._mean
        self._mean = self._mean + before / self._count
        self._spread = self._spread + before * (self._return - self._mean)
        # One return has no spread.
        variance = self._spread / self._count if self._count > 1 else np.ones(self.slots)
        return tuple((given / np.sqrt(variance + self._epsilon)).tolist())


def _sign(reward: Any) -> Any:
    found = np.sign(reward)
    return float(found) if np.ndim(found) == 0 else found
