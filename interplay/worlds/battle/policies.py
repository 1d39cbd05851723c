"""Scripted players (specification 4.6). They act for all units of the batch and know the whole field, as both sides of the paper do.

They choose among the actions that are legal: a unit steps away by the best of the four moves, or of eight with `diagonals`, and walks
towards an enemy that is too far to be attacked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from interplay.core.errors import UserError
from interplay.core.policy import Policy, RandomPolicy
from interplay.core.world import TimeStep, World
from interplay.worlds.battle import tactics
from interplay.worlds.battle.state import STOP


class Still(Policy):
    """Stands and does nothing."""

    name = "still"

    def act(self, timestep: TimeStep) -> np.ndarray:
        return np.where(timestep.acting, STOP, 0)


class Tactician(Policy):
    """What players by a fixed rule have in common."""

    tactic: ClassVar[int]
    no_memory = (*Policy.no_memory, "_battle")

    def start(self, world: World, seed: int = 0) -> None:
        """Prepares for playing a battle.

        Raises:
            UserError: if the world's state is no battle's.
        """
        super().start(world, seed)
        self._battle: Any = world
        if not hasattr(world, "body") or not hasattr(world, "state"):
            raise UserError(f"{self.name}: {world.id} is no battle; it plays battle/...")

    def act(self, timestep: TimeStep) -> np.ndarray:
        """(W, A) actions; 0 where nobody acts."""
        action = np.zeros(timestep.acting.shape, np.int64)
        assert timestep.action_mask is not None
        battle, mask = self._battle, timestep.action_mask["action"]
        tactics.choose_actions(
            battle.state, battle.body, battle.table, mask, timestep.acting, self.tactic, action
        )
        return action


class HitAndRun(Tactician):
    """Attacks the nearest enemy when its weapon is ready, and steps away from one that can hit it and has it in range, or nearly, while it is not."""

    name, tactic = "hit_and_run", tactics.HIT_AND_RUN


class AttackNearest(Tactician):
    """Walks to the nearest enemy that it can hit and attacks it."""

    name, tactic = "attack_nearest", tactics.ATTACK_NEAREST


class AttackMove(Tactician):
    """Walks to where the enemy's formation begins and fights what comes in sight."""

    name, tactic = "attack_move", tactics.ATTACK_MOVE


class FocusWeakest(Tactician):
    """Attacks the one with the fewest points left of those in reach, else walks to the nearest."""

    name, tactic = "focus_weakest", tactics.FOCUS_WEAKEST


POLICIES: dict[str, Callable[[], Policy]] = {
    policy.name: policy
    for policy in (RandomPolicy, Still, AttackNearest, AttackMove, FocusWeakest, HitAndRun)
}
