"""A battle as SMAC's own `StarCraft2Env`, for PyMARL and its successors."""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.connect.smac.face import SmacFace


class StarCraft2Env(SmacFace):
    """One battle in SMAC's form; see `LearningSide` for its arguments.

    Example:
        >>> env = StarCraft2Env("3m", seed=1)
        >>> observations, state = env.reset()
        >>> len(observations), observations[0].shape, state.shape, env.get_avail_agent_actions(0)
        (3, (30,), (48,), [0, 1, 1, 1, 1, 1, 0, 0, 0])
        >>> reward, terminated, info = env.step([4, 4, 4])
        >>> reward, terminated, info
        (0.0, False, {'battle_won': False, 'dead_allies': 0, 'dead_enemies': 0})
    """

    def reset(self) -> tuple[list[np.ndarray], np.ndarray]:
        """Begins a battle: the agents' observations, and the state."""
        self._begin()
        return self.get_obs(), self.get_state()

    def step(self, actions: Any) -> tuple[float, bool, dict[str, Any]]:
        """Returns reward, terminated and info.

        Args:
            actions: one number for each agent; of the dead 0.

        Raises:
            AssertionError: for an illegal action; nothing has happened then.
            UserError: before the first reset, or when the battle is over.
        """
        turn = self._advance(actions)
        return turn.reward, turn.over, self._info(turn)
