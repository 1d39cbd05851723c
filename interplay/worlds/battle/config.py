"""Settings of a battle, each number once with unit and source, and the scenarios (specification 4.1, 4.5 and 5.4)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from interplay.core.settings import Settings
from interplay.worlds.battle.units import UNITS

TICKS_PER_SECOND = 16
TICKS = 8  # of a decision
MOST_UNITS = 64  # of a side
SHOOT_RANGE, SIGHT_RANGE = 6.0, 9.0  # SMAC's, between centres, for every unit (specification 5.1 and 5.2)
LEAST_RANGE = 2.0  # with `unit_ranges`
STRIDE = 2.0  # length of a move at most
NUDGE = 1.0  # a move is legal if the point this far away lies in the field
LEAST_DAMAGE = 0.5  # points of a strike, whatever the armour
SHIELD_CALM, SHIELD_PER_SECOND = 10.0, 2.0  # seconds without a hit; points
ZERG_PER_SECOND, MUTALISK_PER_SECOND = 0.27, 1.0  # points; the second only with `mutalisk_regeneration`
BARRIER_POINTS, BARRIER_SECONDS, BARRIER_COOLDOWN = 100.0, 2.8, 44.8  # an Immortal's, with `barrier`
UNIT_REWARD = 0.1  # of `reward = "losses"`, for each unit lost or felled
KILL_POINTS, WIN_POINTS, FULL_REWARD, OWN_SHARE = 10.0, 200.0, 20.0, 0.5  # SMAC's

_COUNT = re.compile(r"\s*(\d+)\s+([a-z_]+)\s*")


class BattleSettings(Settings):
    """Settings of one battle. Lengths in world units, times in decisions of half a second."""

    read_with: ClassVar[Mapping[str, tuple[str, Any]]] = {
        "negatives": ("reward", "smac"),
        "defeat": ("reward", "smac"),
    }

    red: str = "3 marine"  # the units of the side that begins on the left: "2 stalker, 3 zealot"
    blue: str = "same"  # of the other side
    drawn: bool = False  # each episode draws 1..n of each type, the same number for both sides
    width: Annotated[float, Field(ge=8, le=128)] = 32.0
    height: Annotated[float, Field(ge=8, le=128)] = 32.0
    limit: Annotated[int, Field(ge=1, le=100_000)] = 60  # decisions; truncation
    randomize: Literal["nothing", "positions", "all"] = "nothing"  # all: HP, shields and cooldowns as well
    mirror: bool = True  # random numbers of red are used for blue too, mirrored
    reward: Literal["result", "losses", "smac", "smac_sparse"] = "smac"
    timeout: Annotated[float, Field(ge=-100, le=100)] = (
        0.0  # both sides' reward for it; the paper's code has -1
    )
    negatives: bool = False  # smac: own losses are subtracted
    defeat: Annotated[float, Field(ge=0, le=10_000)] = 0.0  # smac: points lost by a defeat
    exact_smac: bool = False  # smac: gains of enemies pay as well, and a sparse reward is scaled
    unit_ranges: bool = False  # true ranges and sights instead of SMAC's 6 and 9
    diagonals: bool = False  # four more moves, after the attacks
    look_directions: Annotated[int, Field(ge=0, le=64)] = (
        0  # number of directions to look into, turned to by the last actions; 0: all around
    )
    notice_chance: Annotated[float, Field(ge=0, le=1)] = (
        1.0  # chance of noticing an enemy that another unit of the side saw first
    )
    attack_anyone: bool = False  # any living enemy may be attacked; out of reach without effect
    jitter: bool = False  # -1 to +2 ticks on each cooldown
    barrier: bool = False  # Immortals absorb damage at intervals
    bounce_radius: Annotated[float, Field(ge=0, le=20)] = 3.0  # length of a Mutalisk's bounce; 0 = none
    mutalisk_regeneration: bool = False
    see_last_action: bool = False  # last actions of the own side
    see_time: bool = False
    see_pathing: bool = False  # whether the eight points around lie in the field
    see_heights: bool = False  # nine ones: fields are flat
    see_position: bool = False  # own position
    see_field: bool = False  # also a table of all units, for image interfaces
    state_last_action: bool = True
    state_time: bool = False

    @model_validator(mode="after")
    def _fits(self) -> BattleSettings:
        # Only numbers are compared, so an army of billions is refused before memory is allocated.
        for side, army in zip(("red", "blue"), self.armies, strict=True):
            units = sum(army.values())
            if units > MOST_UNITS:
                raise ValueError(
                    f"{side} = {getattr(self, side)!r} has {units} units, a side at most {MOST_UNITS}; take fewer"
                )
            ground = sum(
                number * (2 * UNITS[name].radius) ** 2
                for name, number in army.items()
                if "flies" not in UNITS[name].attributes
            )
            third = self.width * self.height / 3
            if ground > third:
                raise ValueError(
                    f"{side} = {getattr(self, side)!r} needs {ground:.0f} of ground, a third of a field of {self.width:g} x {self.height:g} has {third:.0f}; "
                    "enlarge the field"
                )
        if self.exact_smac and self.reward not in ("smac", "smac_sparse"):
            raise ValueError('exact_smac does nothing without reward = "smac" or "smac_sparse"; leave it out')
        if self.look_directions == 1:
            raise ValueError("look_directions = 1 leaves no choice; use 0 to see all around, or at least 2")
        if self.drawn and self.blue != "same":
            raise ValueError('drawn = true draws equal armies; use blue = "same"')
        return self

    @property
    def armies(self) -> tuple[dict[str, int], dict[str, int]]:
        """Type -> number of units, of red and of blue."""
        red = _read_army("red", self.red)
        return red, red if self.blue == "same" else _read_army("blue", self.blue)

    @property
    def sides(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The types of red's units and of blue's, in the order of their slots."""
        red, blue = (
            tuple(name for name, number in army.items() for _ in range(number)) for army in self.armies
        )
        return red, blue

    @property
    def types(self) -> tuple[str, ...]:
        """The scenario's types in its order, red's first."""
        red, blue = self.armies
        return tuple(dict.fromkeys([*red, *blue]))


def _read_army(side: str, text: str) -> dict[str, int]:
    """ "2 stalker, 3 zealot" -> {"stalker": 2, "zealot": 3}."""
    army: dict[str, int] = {}
    for part in text.split(","):
        found = _COUNT.fullmatch(part)
        if not found or int(found[1]) == 0:
            raise ValueError(
                f'{side} = {text!r} names no units; write numbers and types, as "2 stalker, 3 zealot"'
            )
        name = found[2]
        if name not in UNITS:
            near = get_close_matches(name, UNITS, 1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(UNITS)}"
            raise ValueError(f"{side} = {text!r}: unknown unit {name}; {hint}")
        if name in army:
            raise ValueError(f"{side} = {text!r} names {name} twice; add the numbers up")
        army[name] = int(found[1])
    return army


_PAPER: dict[str, Any] = {"width": 16.0, "height": 16.0, "limit": 250, "randomize": "all", "reward": "losses"}

VARIANTS: dict[str, dict[str, Any]] = {
    "5i": {**_PAPER, "red": "5 immortal"},
    "3i2z": {**_PAPER, "red": "3 immortal, 2 zealot"},
    "mab": {
        **_PAPER,
        "red": "5 mutalisk, 5 hydralisk, 5 roach, 5 zergling, 5 baneling",
        "drawn": True,
        "width": 32.0,
        "height": 32.0,
    },
    "3m": {},
    "8m": {"red": "8 marine", "limit": 120},
    "10m_vs_11m": {"red": "10 marine", "blue": "11 marine", "limit": 150},
    "2s3z": {"red": "2 stalker, 3 zealot", "limit": 120},
    "3s5z": {"red": "3 stalker, 5 zealot", "limit": 150},
    "bane_vs_bane": {"red": "20 zergling, 4 baneling", "limit": 200},
}
"""The scenarios: name -> settings that differ from the defaults (specification 4.1)."""
