"""A side's view of the field as a picture of cells (specification games 4.4): own channels, then the enemy's."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces

from interplay.interfaces.battle.fields import (
    DAMAGES,
    HITS_AIR,
    RANGES,
    TYPES,
    Field,
    check_side,
    read_field,
)
from interplay.interfaces.generic.adding import Feature
from interplay.interfaces.interface import Interface
from interplay.interfaces.nests import Array, Nest
from interplay.worlds.battle.observe import COOLDOWN, HEALTH, SHIELD

FULL_DAMAGE, FULL_RANGE = 50.0, 6.0
ANY = ""  # a channel of units of all types


class FieldImage(Feature):
    """Base of the pictures: the whole field is visible, and values of one channel in one cell are added.

    It needs a side's tuple of observations: ``InterfacedWorld(world, {"team0": ["Img5IObsItf"]}, teams=True)`` of a world with
    `see_field`.
    """

    name = "image"
    grid: ClassVar[int]
    types: ClassVar[tuple[str, ...]]
    channels: ClassVar[tuple[tuple[str, str], ...]]  # type or ANY, and its quantity

    def __init__(self, inner: Interface | None = None, mode: str = "replace", key: str | None = None) -> None:
        super().__init__(inner, mode, key)

    def _feature_space(self, obs_space: spaces.Space, act_space: spaces.Space) -> spaces.Space:
        self._members = check_side(self._called(), self.ctx.raw_observation_space, self.grid, self.types)
        shape = (self.grid, self.grid, 2 * len(self.channels))
        return spaces.Box(0.0, np.inf, shape, np.float32)

    def _feature(self, obs: Nest) -> Any:
        field = read_field(self.ctx.raw, self.grid)
        quantities = _quantities(field)
        image = np.zeros((len(field.table), self.grid, self.grid, 2 * len(self.channels)), np.float32)
        enemy = np.arange(field.alive.shape[1]) >= self._members
        for number, (kind, what) in enumerate(self.channels):
            shown = field.alive & ((field.types == TYPES.index(kind)) if kind else True)
            b, k = np.nonzero(shown)
            channel = number + len(self.channels) * enemy[k]
            np.add.at(image, (b, field.row[b, k], field.column[b, k], channel), quantities[what][b, k])
        return image


class Img5IObsItf(FieldImage):
    """(8, 8, 6): HP, shield and cooldown of the own Immortals, then of the enemy's."""

    grid, types = 8, ("immortal",)
    channels = tuple((ANY, what) for what in ("health", "shield", "cooldown"))


class Img3I2ZObsItf(FieldImage):
    """(8, 8, 16): HP, shield, cooldown and damage of own Immortals, own Zealots, enemy Immortals, enemy Zealots."""

    grid, types = 8, ("immortal", "zealot")
    channels = tuple(
        (kind, what) for kind in ("immortal", "zealot") for what in ("health", "shield", "cooldown", "damage")
    )


class ImgMABObsItf(FieldImage):
    """(16, 16, 18): own HP of Mutalisks, Hydralisks, Roaches, Zerglings and Banelings, cooldown, range, damage, can hit air; then the enemy's."""

    grid, types = 16, ("mutalisk", "hydralisk", "roach", "zergling", "baneling")
    channels = (
        *((kind, "health") for kind in types),
        *((ANY, what) for what in ("cooldown", "range", "damage", "hits_air")),
    )


def _quantities(field: Field) -> dict[str, Array]:
    """Values of channels -> (B, K)."""
    return {
        "health": field.table[..., HEALTH],
        "shield": field.table[..., SHIELD],
        "cooldown": field.table[..., COOLDOWN],
        "damage": DAMAGES[field.types] / FULL_DAMAGE,
        "range": RANGES[field.types] / FULL_RANGE,
        "hits_air": HITS_AIR[field.types],
    }
