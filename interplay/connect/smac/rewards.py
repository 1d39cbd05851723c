"""The factor between the world's reward and SMAC's, by SMAC's switches (specification 5.4)."""

from __future__ import annotations

from interplay.connect.smac.keywords import FaceSettings
from interplay.worlds.battle.config import FULL_REWARD, KILL_POINTS, WIN_POINTS
from interplay.worlds.battle.state import RED
from interplay.worlds.battle.world import BattleWorld


class Rewards:
    """The factor of one environment, battle after battle.

    Attributes:
        scale: of the present battle.
    """

    def __init__(self, settings: FaceSettings) -> None:
        self.scale = 1.0
        self._settings = settings
        self._first = 0.0  # points of a clean win in the first battle

    def begin(self, world: BattleWorld) -> None:
        """Begins a battle; a world that scales its rewards divides them by the battle's army."""
        if not world.table[0]["scaled"]:
            return
        points = points_of(world)
        self._first = self._first or points
        if not self._settings.reward_scale:
            self.scale = points / FULL_REWARD
            return
        # SMAC divides by the first battle's army for ever.
        share = points / self._first if world.settings.exact_smac else 1.0
        self.scale = share * self._settings.reward_scale_rate / FULL_REWARD

    def of(self, paid: float, timeout: float) -> float:
        """The reward of a decision.

        Args:
            paid: by the world.
            timeout: the part paid for the limit, which is no points and not scaled.
        """
        return self.scale * (paid - timeout) + timeout


def points_of(world: BattleWorld) -> float:
    """Points of a clean win over blue's army of this battle."""
    reds = len(world.settings.sides[RED])
    body, present = world.body[reds:], world.state.unit["present"][0, reds:]
    return float(WIN_POINTS + ((KILL_POINTS + body["health"] + body["shield"]) * present).sum())
