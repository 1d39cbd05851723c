"""Attack profiles, styles by distance (specification 12), and landed attacks on the map (the paper's figure 8)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from interplay.evaluate.lifetimes.tick import NO_SLOT, STYLES, Array, Tick
from interplay.worlds.mmo.tiles import FOREST, SCRUB, WATER

STRAY = 2  # tiles by which attacker and target part in a tick, after the target was chosen


class AttackProfile(NamedTuple):
    """Landed attacks of each population.

    Attributes:
        counts: (K, 3, S, S) int64, by style and by the target's place relative to the attacker (rows down), up to `STRAY` beyond reach.
        edge_share: (K, 3) share of a style's attacks at a distance of its full reach; NaN without attacks.
        kills_per_attack: (K, 3) share of a style's attacks that killed the target; NaN without attacks.
    """

    counts: Array
    edge_share: Array
    kills_per_attack: Array


class AttackRecorder:
    """Counts landed attacks by population, style and offset, and the targets' deaths by them.

    The population is that of the attacker's slot in the tick before, because the slot of an agent that attacked and then died may already
    have a newcomer. A death that several attacks of a tick may have caused counts in equal parts for each of them.

    Args:
        populations: K.
        reach: of each style in tiles (Chebyshev), within view.
        causes: the world's indices of death by melee, range and mage.
    """

    def __init__(self, populations: int, reach: tuple[int, ...], causes: tuple[int, ...]) -> None:
        self._reach, self._radius = reach, max(reach) + STRAY
        side = 2 * self._radius + 1
        self.counts = np.zeros((populations, len(STYLES), side, side), np.int64)
        self.kills = np.zeros((populations, len(STYLES)))
        self._causes = np.array(causes)
        self._population: Array | None = None

    def add(self, tick: Tick) -> None:
        """Adds one tick."""
        before, self._population = self._population, tick.population.astype(np.int64)
        if before is None:
            return
        world, slot = np.nonzero(tick.struck != NO_SLOT)
        population, style = before[world, slot], tick.style[world, slot].astype(np.int64)
        row = tick.struck_row[world, slot].astype(np.int64) + self._radius
        col = tick.struck_col[world, slot].astype(np.int64) + self._radius
        np.add.at(self.counts, (population, style, row, col), 1)
        target = tick.struck[world, slot]
        deadly = tick.died[world, target] & (tick.ended["cause"][world, target] == self._causes[style])
        at, attackers = (world[deadly], target[deadly]), np.zeros(tick.died.shape)
        np.add.at(attackers, at, 1)
        np.add.at(self.kills, (population[deadly], style[deadly]), 1 / attackers[at])

    def profile(self) -> AttackProfile:
        """The profile so far."""
        attacks = self.counts.sum(axis=(2, 3))
        away = np.abs(np.arange(-self._radius, self._radius + 1))
        distance = np.maximum(away[:, None], away)
        at_edge = np.stack(
            [self.counts[:, s, distance == reach].sum(axis=1) for s, reach in enumerate(self._reach)], axis=1
        )
        with np.errstate(invalid="ignore"):
            return AttackProfile(self.counts.copy(), at_edge / attacks, self.kills / attacks)


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
