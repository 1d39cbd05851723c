"""Settings of matches in the real game, each number once with unit and source (specification 6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from interplay.core.settings import Reward, Settings
from interplay.worlds.battle.config import VARIANTS as BATTLES
from interplay.worlds.battle.config import BattleSettings

LOOPS_PER_SECOND = 16  # game loops, at "normal" speed (specification 4.2)
LONGEST_MATCH = 86_400  # loops: 90 minutes
WAITS = (1, 2, 4, 8, 16, 32, 64, 128)  # game loops, of `chosen_waits` (specification 6.1)

Wait = Annotated[int, Field(ge=1, le=WAITS[-1])]


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

    The numbers of the fight are the game's, and random cooldowns can't be set.
    """

    map: str = "Flat64"  # of Blizzard's melee pack; the field lies in its middle
    lives: Annotated[int, Field(ge=1, le=100_000)] = 100  # battles of one match (specification 4.5)

    @model_validator(mode="after")
    def _has_the_games_numbers(self) -> GameBattleSettings:
        for name in ("jitter", "barrier", "bounce_radius", "mutalisk_regeneration"):
            if getattr(self, name) != type(self).model_fields[name].default:
                raise ValueError(f"{name} does nothing in the real game; leave it out")
        return self


class MatchSettings(GameSettings):
    """Zerg against Zerg, for two players that connect, or one against the game's own."""

    map: str = "KairosJunctionLE"  # (specification 6.1)
    opponent: Literal[
        "player",
        "VeryEasy",
        "Easy",
        "Medium",
        "MediumHard",
        "Hard",
        "Harder",
        "VeryHard",
        "CheatVision",
        "CheatMoney",
        "CheatInsane",
    ] = "player"  # the other side: a second agent, or a built-in level
    active: Literal["all", "released"] = "all"  # macro actions: 165, or the 62 of the released code
    control: Literal["macro", "managers"] = (
        "macro"  # managers: one action for each of three managers (specification 6.4)
    )
    scripts: tuple[Literal["production", "resource", "combat"], ...] = ()  # managers that follow a script
    wait: tuple[Wait, Wait] = (32, 32)  # game loops between decisions, of each player (specification 6.4)
    chosen_waits: bool = False  # an action holds its own waiting time besides, see WAITS
    limit: Annotated[int, Field(ge=1, le=LONGEST_MATCH)] = 28_800  # loops: 30 minutes; truncation
    resolution: Annotated[int, Field(ge=8, le=256)] = 32  # cells of a picture's side
    regions: bool = False  # unit counts by region as well
    areas: Annotated[int, Field(ge=1, le=64)] = 16  # places with resources that are observed
    see_areas: bool = False
    see_techs: bool = False
    see_progress: bool = False
    early_end: bool = True  # a side that can rebuild nothing has lost
    reward: Literal["result", "army_sign", "army_change", "vector"] = "result"
    weights: tuple[Reward, Reward, Reward] = (
        1.0,
        1.0,
        1.0,
    )  # of `reward = "vector"`: production, income, combat

    read_with: ClassVar[Mapping[str, tuple[str, Any]]] = {
        "weights": ("reward", "vector"),
        "scripts": ("control", "managers"),
        "active": ("control", "macro"),
        "wait": ("chosen_waits", False),
    }

    @model_validator(mode="after")
    def _reads_what_is_set(self) -> MatchSettings:
        usual = type(self).model_fields
        fights = self.control == "managers" and "combat" not in self.scripts
        if len(set(self.scripts)) == 3:
            raise ValueError(f"scripts = {list(self.scripts)} leaves no manager to play; name two at most")
        if self.areas != usual["areas"].default and not (fights or self.see_areas):
            raise ValueError("areas does nothing without see_areas = true or a combat manager that plays")
        if self.opponent != "player" and self.wait[1] not in (self.wait[0], usual["wait"].default[1]):
            raise ValueError(f"wait = {list(self.wait)}: the game's own player has none; repeat the first")
        return self


BATTLE_VARIANTS: dict[str, dict[str, Any]] = {
    f"battle-{name}": BATTLES[name] for name in ("5i", "3i2z", "mab")
}
"""The scenarios of the paper: name -> settings that differ from the defaults (specification 4.1)."""
