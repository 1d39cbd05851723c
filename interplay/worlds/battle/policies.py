"""Scripted players (specification 4.6). They act for all units of the batch and see the whole field, as in the paper.

They choose among legal actions. A unit steps away by the best of four moves (eight with `diagonals`), and walks towards an enemy that
is out of reach.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from interplay.core.errors import UserError
from interplay.core.policy import Policy, RandomPolicy, by_name
from interplay.core.world import TimeStep, World
from interplay.worlds.battle import tactics
from interplay.worlds.battle.state import STOP


class Still(Policy):
    """Stands and does nothing."""

    name = "still"

    def act(self, timestep: TimeStep) -> np.ndarray:
        return np.where(timestep.acting, STOP, 0)


class Tactician(Policy):
    """Base of the players by a fixed rule."""

    tactic: ClassVar[int]
    no_memory = (*Policy.no_memory, "_battle")

    def start(self, world: World, seed: int = 0) -> None:
        super().start(world, seed)
        self._battle: Any = world
        if not hasattr(world, "body") or not hasattr(world, "state"):
            raise UserError(f"{self.name}: {world.id} is no battle; it plays battle/...")

    def act(self, timestep: TimeStep) -> np.ndarray:
        """(W, A) actions; 0 for idle slots."""
        action = np.zeros(timestep.acting.shape, np.int64)
        assert timestep.action_mask is not None
        battle, mask = self._battle, timestep.action_mask["action"]
        tactics.choose_actions(
            battle.state, battle.body, battle.table, mask, timestep.acting, self.tactic, action
        )
        return action


class HitAndRun(Tactician):
    """Attacks the nearest enemy when its weapon is ready; meanwhile steps away from one that has it in range, or nearly."""

    name, tactic = "hit_and_run", tactics.HIT_AND_RUN


class AttackNearest(Tactician):
    """Walks to the nearest enemy that it can hit and attacks it."""

    name, tactic = "attack_nearest", tactics.ATTACK_NEAREST


class AttackMove(Tactician):
    """Walks to where the enemy's formation begins and fights enemies in sight."""

    name, tactic = "attack_move", tactics.ATTACK_MOVE


class FocusWeakest(Tactician):
    """Attacks the enemy in reach with the fewest points left, else walks to the nearest."""

    name, tactic = "focus_weakest", tactics.FOCUS_WEAKEST


POLICIES = by_name(RandomPolicy, Still, AttackNearest, AttackMove, FocusWeakest, HitAndRun)
