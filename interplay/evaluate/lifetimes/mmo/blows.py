"""Landed attacks on the map, by the target's cell (the paper's figure 8)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from interplay.evaluate.lifetimes.tick import NO_SLOT, STYLES, Array, Tick
from interplay.worlds.mmo.tiles import FOREST, SCRUB, WATER


class BlowRecorder:
    """Counts landed attacks by the attacker's population, style and the target's cell, over all worlds.

    The attacker is the slot's occupant in the tick before.

    Args:
        populations: K.
        side: T, of the map.

    Attributes:
        counts: (K, 3, T, T) int32.
    """

    def __init__(self, populations: int, side: int) -> None:
        self.counts = np.zeros((populations, len(STYLES), side, side), np.int32)
        self._population: Array | None = None

    def add(self, tick: Tick) -> None:
        """Adds one tick."""
        before, self._population = self._population, tick.population.astype(np.int64)
        if before is None:
            return
        at = np.nonzero(tick.struck != NO_SLOT)
        row = tick.from_row[at].astype(np.int64) + tick.struck_row[at]
        col = tick.from_col[at].astype(np.int64) + tick.struck_col[at]
        np.add.at(self.counts, (before[at], tick.style[at].astype(np.int64), row, col), 1)


class Share(NamedTuple):
    """Shares of counts at places of food and water; NaN without counts."""

    drinking: float  # on cells with water on one of the four sides
    eating: float  # on forest, eaten or not


def share_of(counts: Array, tiles: Array) -> Share:
    """Shares of counts beside water and on forest.

    Args:
        counts: (T, T).
        tiles: (T, T) ids; forest and scrub change from tick to tick, their union does not.
    """
    total = float(counts.sum())
    if not total:
        return Share(float("nan"), float("nan"))
    food = (tiles == FOREST) | (tiles == SCRUB)
    return Share(float(counts[beside_water(tiles)].sum()) / total, float(counts[food].sum()) / total)


def beside_water(tiles: Array) -> Array:
    """(T, T) bool, cells with water on one of their four sides; the border is lava."""
    wet, found = tiles == WATER, np.zeros(tiles.shape, bool)
    found[1:] |= wet[:-1]
    found[:-1] |= wet[1:]
    found[:, 1:] |= wet[:, :-1]
    found[:, :-1] |= wet[:, 1:]
    return found
