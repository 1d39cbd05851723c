"""Numbers of each area with resources (specification interfaces 10: ZergAreaObsItf)."""

from __future__ import annotations

import numpy as np

from interplay.worlds.sc2.features import COUNTED
from interplay.worlds.sc2.ids import IS_BASE, UNITS
from interplay.worlds.sc2.regions import Ground, area_of
from interplay.worlds.sc2.view import (
    ASSIGNED,
    FULL_HEALTH,
    GAS,
    HEALTH,
    IDEAL,
    MINERALS,
    ORDER,
    View,
)

FEATURES = 2 * len(COUNTED) + 6


def area_rows(view: View, ground: Ground, areas: int) -> np.ndarray:
    """(areas, 44) float32, nearest to the own start first; zeros for areas that the map does not have.

    Columns: own and enemy units by type, share of the own base's health, free places of mineral workers and of gas workers, idle
    workers, minerals and gas left (those in sight). A unit belongs to the nearest area.
    """
    rows = np.zeros((areas, FEATURES), np.float32)
    if not len(ground.areas):
        return rows
    home = area_of(ground, view.places)
    units, kinds = view.units, view.kinds
    is_base = view.own & IS_BASE[kinds]
    is_extractor = view.own & (kinds == UNITS["extractor"])
    idle = view.own & (kinds == UNITS["drone"]) & (units[:, ORDER] == 0)
    free = np.maximum(units[:, IDEAL] - units[:, ASSIGNED], 0)
    sums = [
        *(view.own & (kinds == UNITS[name]) for name in COUNTED),
        *(view.enemy & (kinds == UNITS[name]) for name in COUNTED),
        np.where(is_base, units[:, HEALTH] / np.maximum(units[:, FULL_HEALTH], 1), 0),
        np.where(is_base, free, 0),
        np.where(is_extractor, free, 0),
        idle,
        np.where(view.neutral, units[:, MINERALS], 0),
        np.where(view.neutral, units[:, GAS], 0),
    ]
    for column, weights in enumerate(sums):
        rows[:, column] = np.bincount(home, weights, minlength=areas)[:areas]
    bases = np.bincount(home, is_base, minlength=areas)[:areas]
    rows[:, 2 * len(COUNTED)] /= np.maximum(bases, 1)  # several bases: their mean
    return rows
