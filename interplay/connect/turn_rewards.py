"""Rewards of environments in turns: what PettingZoo's loop over ``last()`` pays, credited when it is earned."""

from __future__ import annotations

import math
from typing import Any

from pettingzoo.utils.env import AECEnv

from interplay.core.errors import UserError

TOLERANCE = 1e-5  # of rewards that were added up in float32


class TurnRewards:
    """Credits every change of ``_cumulative_rewards``.

    ``last()`` pays an agent its ``_cumulative_rewards`` at its turn. From one turn to the next the credits add up to that,
    whether the environment sets ``rewards`` and accumulates them, adds to ``_cumulative_rewards`` itself, or leaves
    ``rewards`` standing. The credit counts from 0 when an agent has its turn.

    Args:
        env: the environment.
    """

    def __init__(self, env: AECEnv[Any, Any, Any]) -> None:
        self.env = env
        self._credited: dict[Any, float] = {}
        self._owed: dict[Any, float] = {}  # from before the agent's turn: what reset paid
        self._stood: dict[Any, Any] = {}

    def reset(self) -> None:
        """Begins an episode."""
        self._credited = {}

    def take_turn(self, agent: Any) -> None:
        """Marks an agent's turn, before its action."""
        self._owed = {agent: self.credit(agent)}
        self._credited[agent] = 0.0
        self._stood = dict(self.env.rewards)

    def credit(self, agent: Any) -> float:
        """What the agent has earned since the last call, or since its turn."""
        credited = self._credited.get(agent, 0.0)
        total = float(self.env._cumulative_rewards.get(agent, credited))
        self._credited[agent] = total
        return total - credited + self._owed.pop(agent, 0.0)

    def credit_turn(self, agent: Any) -> float:
        """`credit` of the turn's own action.

        Raises:
            UserError: where ``rewards`` names a reward that ``_cumulative_rewards`` does not hold.
        """
        owed = self._owed.get(agent, 0.0)
        credit = self.credit(agent)
        self._check(agent, credit - owed)
        return credit

    def _check(self, agent: Any, grown: float) -> None:
        said = self.env.rewards.get(agent, 0.0)
        if not said or not math.isfinite(said + grown):
            return
        total = self._credited[agent]
        room = TOLERANCE * max(1.0, abs(total), abs(said))
        if abs(grown - said) <= room or abs(total - said) <= room:
            return
        if not grown and self._stood.get(agent) == said:
            return  # left standing from an earlier step
        raise UserError(
            f"{agent}: rewards = {said:g} in a step in which _cumulative_rewards, which last() pays, grew by {grown:g}; set "
            "_cumulative_rewards[agent_selection] = 0 at the start of step() and call _accumulate_rewards() once at its end"
        )
