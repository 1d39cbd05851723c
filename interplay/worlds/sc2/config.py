"""Settings of matches in the real game, each number once with unit and source (specification 6)."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from interplay.core.settings import Settings
from interplay.worlds.battle.config import VARIANTS as BATTLES
from interplay.worlds.battle.config import BattleSettings

LOOPS_PER_SECOND = 16  # game loops, at "normal" speed (specification 4.2)
LONGEST_MATCH = 86_400  # loops: 90 minutes


class GameSettings(Settings):
    """Settings of the processes of StarCraft II."""

    game_version: str = (
        "4.10"  # first numbers of the version to run; "any" takes every one (specification 6.1)
    )
    start_seconds: Annotated[float, Field(gt=0, le=3_600)] = (
        180.0  # until a started process must listen, and a match must have begun
    )
    answer_seconds: Annotated[float, Field(gt=0, le=3_600)] = 60.0  # until a request must be answered
    matches: Annotated[int, Field(ge=1, le=100_000)] = (
        100  # of one process, which then is replaced (specification 6.5)
    )


class GameBattleSettings(BattleSettings, GameSettings):
    """A battle of `interplay.worlds.battle` in the real game.

    The numbers of the fight are the game's. `jitter`, `barrier`, `bounce_radius` and `mutalisk_regeneration` therefore have no effect, and
    random cooldowns can't be set.
    """

    map: str = "Flat64"  # of Blizzard's melee pack; the field lies in its middle
    lives: Annotated[int, Field(ge=1, le=100_000)] = 100  # battles of one match (specification 4.5)


BATTLE_VARIANTS: dict[str, dict[str, Any]] = {
    f"battle-{name}": BATTLES[name] for name in ("5i", "3i2z", "mab")
}
"""The scenarios of the paper: name -> settings that differ from the defaults (specification 4.1)."""
