"""Scaling of rewards for learning: factors by agent name, and the running deviation of returns.

Metrics keep the world's rewards. Advantages, value targets and critics use the scaled ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from interplay.core.agent_names import fits_pattern
from interplay.core.errors import UserError
from interplay.core.world import Kind
from interplay.train.networks.flat import merged
from interplay.train.samples import TrajectoryBuffer

Groups = Literal["kind", "agent"]
Scale = float | Mapping[str, float]  # a factor, or factors by pattern of agents' names
LEAST = 0.1  # least divisor, as a share of the mean return: constant returns would be divided by nearly 0
NOTHING = 1e-7  # deviation of returns that were all 0


def reward_factors(scale: Scale, agents: Sequence[str]) -> np.ndarray:
    """The factor of each agent's rewards, (A,) float32; 1 without a pattern that fits.

    Example:
        >>> reward_factors({"red_0": 0.5, "red_*": 2.0}, ["red_0", "red_1", "blue_0"]).tolist()
        [0.5, 2.0, 1.0]
    """
    if not isinstance(scale, Mapping):
        return np.full(len(agents), scale, np.float32)
    factors = np.ones(len(agents), np.float32)
    for pattern, factor in reversed(list(scale.items())):
        fits = [fits_pattern(agent, pattern) for agent in agents]
        if not any(fits):
            raise UserError(
                f"reward_scale: {pattern!r} fits none of {len(agents)} agents, among them {agents[0]!r}"
            )
        factors[fits] = factor
    return factors


class DiscountedReturns:
    """Running discounted returns of a shard's slots: G_t = gamma G_{t-1} + r_t, from 0 after each end.

    Args:
        by_decision: gamma applies after acting steps alone.

    Attributes:
        now: (W, A) float32, gamma G.
    """

    def __init__(self, shape: tuple[int, int], gamma: float, by_decision: bool = False) -> None:
        self.now = np.zeros(shape, np.float32)
        self._gamma, self._idle = np.float32(gamma), np.float32(1.0 if by_decision else gamma)

    def sums(self, buffer: TrajectoryBuffer, learnt: np.ndarray) -> np.ndarray:
        """(A, 3) float64 over the last rollout: number, sum and sum of squares of G.

        Args:
            learnt: bool, as `buffer.acting`, the steps that count.
        """
        found = np.zeros((self.now.shape[1], 3))
        for t in range(buffer.earlier, buffer.earlier + buffer.steps):
            self.now += buffer.reward[t]
            returns = np.where(learnt[t], self.now, 0.0).astype(np.float64)
            found += np.stack([learnt[t].sum(axis=0), returns.sum(axis=0), (returns**2).sum(axis=0)], axis=1)
            self.now *= np.where(buffer.acting[t], self._gamma, self._idle)
            self.now[buffer.ended[t]] = 0.0
        return found


class ReturnDeviation:
    """The running deviation of discounted returns, of each kind or each agent.

    Attributes:
        names: (G,) of kinds or agents.
    """

    def __init__(self, by: Groups, kinds: Sequence[Kind], agents: Sequence[str]) -> None:
        self.names = [kind.name for kind in kinds] if by == "kind" else list(agents)
        self._group = np.arange(len(agents))
        if by == "kind":
            for index, kind in enumerate(kinds):
                self._group[list(kind.slots)] = index
        zero = np.zeros((len(self.names), 1), np.float32)
        self._moments = (zero, zero, zero)

    def add(self, sums: np.ndarray) -> None:
        """Adds a rollout, `DiscountedReturns.sums` of all shards."""
        grouped = np.zeros((len(self.names), 3))
        np.add.at(grouped, self._group, sums)
        self._moments = merged(*self._moments, grouped)

    @property
    def divisors(self) -> np.ndarray:
        """(G,) float32: the deviation, at least `LEAST` of the mean; 1 before any reward."""
        mean, deviation, _ = (part[:, 0] for part in self._moments)
        found = np.maximum(deviation, np.float32(LEAST) * np.abs(mean))
        return np.where(found > NOTHING, found, np.float32(1.0))

    def of_agents(self) -> np.ndarray:
        """(A,) float32, the divisor of each agent's rewards."""
        return self.divisors[self._group]

    def save(self) -> list[list[float]]:
        """Mean, deviation and number of rows of every group, for the record of a checkpoint."""
        return [[float(number) for number in row] for row in np.concatenate(self._moments, axis=1)]

    def load(self, saved: Any) -> None:
        """Restores what `save` gave."""
        rows = np.array(saved, np.float32)
        if rows.shape != (len(self.names), 3):
            raise UserError(f"return_deviation: {rows.shape} numbers, not {(len(self.names), 3)}")
        self._moments = (rows[:, :1], rows[:, 1:2], rows[:, 2:])
