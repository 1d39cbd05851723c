"""Rewards of environments in turns: those of PettingZoo's ``last()``, in the step that earns them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from pettingzoo.utils.env import AECEnv

from interplay.core.errors import UserError

TOLERANCE = 1e-5  # of rewards that were added up in float32


class TurnRewards:
    """Credits every change of ``_cumulative_rewards``.

    ``last()`` pays an agent its ``_cumulative_rewards`` at its turn. From one turn to the next the credits add up to that,
    whether the environment sets ``rewards`` and accumulates them, adds to ``_cumulative_rewards`` itself, or leaves
    ``rewards`` standing. The credit counts from 0 when an agent has its turn.
    """

    def __init__(self, env: AECEnv[Any, Any, Any]) -> None:
        self.env = env
        self._credited: dict[Any, float] = {}
        self._owed = 0.0  # to the agent that has its turn, from before it: the rewards of reset
        self._stood: dict[Any, Any] = {}

    def reset(self) -> None:
        """Begins an episode."""
        self._credited = {}

    def take_turn(self, agent: Any) -> None:
        """Marks an agent's turn, before its action."""
        self._owed = self.credit(agent)
        self._credited[agent] = 0.0
        self._stood = dict(self.env.rewards)

    def credit(self, agent: Any) -> float:
        """The agent's reward since the last call."""
        before = self._credited.get(agent, 0.0)
        total = self._credited[agent] = self.env._cumulative_rewards.get(agent, before)
        return float(total - before)

    def credit_turn(self, turn: Any, names: Iterable[Any]) -> dict[Any, float]:
        """Returns the reward of each agent for the action of the turn.

        Raises:
            UserError: where ``rewards`` names a reward that ``_cumulative_rewards`` does not hold.
        """
        credited, totals, said = self._credited, self.env._cumulative_rewards, self.env.rewards
        rewards = {}
        for name in names:
            before = credited.get(name, 0.0)
            total = credited[name] = totals.get(name, before)
            rewards[name] = float(total - before)
            reward = said.get(name, 0.0)
            if reward and reward != rewards[name]:
                self._check(name, reward, rewards[name], total)
        rewards[turn] += self._owed
        return rewards

    def _check(self, name: Any, reward: float, grown: float, total: float) -> None:
        room = TOLERANCE * max(1.0, abs(total), abs(reward))
        if min(abs(grown - reward), abs(total - reward)) <= room or not math.isfinite(grown + reward):
            return
        if not grown and self._stood.get(name) == reward:
            return  # left standing from an earlier step
        raise UserError(
            f"{name}: rewards = {reward:g} in a step in which _cumulative_rewards, which last() pays, grew by {grown:g}; set "
            "_cumulative_rewards[agent_selection] = 0 at the start of step() and call _accumulate_rewards() once at its end"
        )
