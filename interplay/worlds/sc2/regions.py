"""Places of a map: the frame of a player, the nine regions, and the areas with resources (specification 6.2 and 6.3)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from interplay.worlds.sc2.ids import IS_BASE
from interplay.worlds.sc2.view import View

REGIONS = 10  # 0 is the whole map, 1 to 9 a grid of 3 x 3, by rows from the north-west
CLUSTER = 8.5  # resources that near belong together; fields of one base do, those of neighbouring ones do not


class Ground(NamedTuple):
    """A match's map, as one player sees it."""

    width: float
    height: float
    start: tuple[float, float]  # of the own first base
    turned: bool  # the frame is turned by 180 degrees: the player starts in the west
    areas: np.ndarray  # (areas, 2) centres of the resources, nearest to the start first

    @property
    def home(self) -> int:
        """Region of the own start, in the player's frame."""
        return int(region_of(self, np.array([self.start]))[0])


def ground_of(width: float, height: float, view: View, data: Any) -> Ground:
    """The map of a match by its first observation and a `ResponseData`.

    Resources count by their types: those out of sight have no contents.
    """
    bases = view.places[view.own & IS_BASE[view.kinds]]
    start = bases[0] if len(bases) else np.array([width, height]) / 2
    types = [row.unit_id for row in data.units if row.has_minerals or row.has_vespene]
    areas = _clusters(view.places[view.neutral & np.isin(view.kinds, types)])
    order = np.argsort(np.hypot(*(areas - start).T), kind="stable")
    return Ground(width, height, (float(start[0]), float(start[1])), bool(start[0] < width / 2), areas[order])


def turn(ground: Ground, region: np.ndarray | int) -> np.ndarray | int:
    """The map's number of a region of the player's frame; its own inverse. The whole map stays."""
    return np.where(region, REGIONS - region, 0) if ground.turned else region


def region_of(ground: Ground, places: np.ndarray) -> np.ndarray:
    """(n,) 1 to 9, in the player's frame."""
    column = np.clip((3 * places[:, 0] / ground.width).astype(np.int64), 0, 2)
    row = 2 - np.clip((3 * places[:, 1] / ground.height).astype(np.int64), 0, 2)
    return np.asarray(turn(ground, 1 + 3 * row + column))


def centre_of(ground: Ground, region: int) -> np.ndarray:
    """(2,) the middle of a region; of the whole map the place opposite to the own start, where the enemy's is."""
    if region == 0:
        return np.array([ground.width, ground.height]) - ground.start
    row, column = divmod(int(turn(ground, region)) - 1, 3)
    return np.array([(column + 0.5) * ground.width / 3, (2.5 - row) * ground.height / 3])


def in_region(ground: Ground, places: np.ndarray, region: int) -> np.ndarray:
    """(n,) bool."""
    return region_of(ground, places) == region if region else np.ones(len(places), bool)


def area_of(ground: Ground, places: np.ndarray) -> np.ndarray:
    """(n,) the nearest area."""
    away = places[:, None] - ground.areas[None]
    return np.hypot(away[..., 0], away[..., 1]).argmin(axis=1)


def _clusters(places: np.ndarray) -> np.ndarray:
    """(areas, 2) means of the groups in which each resource has another within CLUSTER, or stands alone."""
    left = np.ones(len(places), bool)
    middles = []
    while left.any():
        group = np.zeros(len(places), bool)
        group[left.argmax()] = True
        while True:
            away = places[:, None] - places[group][None]
            near = left & (np.hypot(away[..., 0], away[..., 1]).min(axis=1) <= CLUSTER)
            if (near == group).all():
                break
            group = near
        middles.append(places[group].mean(axis=0))
        left &= ~group
    return np.array(middles).reshape(-1, 2)
