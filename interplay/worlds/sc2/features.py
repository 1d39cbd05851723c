"""The observation of TStarBot1, from a view: pictures of 45 channels and a vector of 299 + 9 A numbers (specification 6.2)."""

from __future__ import annotations

from collections import deque

import numpy as np

from interplay.worlds.sc2.ids import GATHER, IS_COMBAT, MOST_TYPES, UNITS
from interplay.worlds.sc2.regions import Ground, in_region
from interplay.worlds.sc2.view import FLYING, KIND, ORDER, View

FULL_CELL = 5.0  # units of a cell, of a picture's 1
FULL_COUNT, FULL_STORE, FULL_SCORE = 20.0, 2000.0, 3000.0
FOOD_BINS, FOOD_STEP = 10, 3
PROGRESS_BINS, PROGRESS_LOOPS = (60, 20, 8, 4), 24_000
PAST = 8  # macro actions

_GROUPS = """
drone, zergling, roach burrowed_roach, hydralisk, overlord overseer, hatchery lair hive, extractor, queen, ravager, baneling,
lurker burrowed_lurker, viper, mutalisk, corruptor, brood_lord, swarm_host, infestor, ultralisk, changeling, spine_crawler, spore_crawler
"""
_COUNTED = """
larva drone zergling baneling roach burrowed_roach ravager hydralisk lurker burrowed_lurker mutalisk corruptor brood_lord locust ultralisk
broodling overlord overseer queen
"""
_BUILT = """
spine_crawler spore_crawler extractor spawning_pool roach_warren hydralisk_den hatchery evolution_chamber baneling_nest infestation_pit
spire ultralisk_cavern lurker_den lair hive greater_spire
"""
GROUPS = tuple(tuple(group.split()) for group in _GROUPS.split(","))
"""Units of one channel."""
COUNTED, BUILT = tuple(_COUNTED.split()), tuple(_BUILT.split())
"""The 19 unit types and the 16 building types of the vector."""
CHANNELS = 3 + 2 * len(GROUPS)


def _column_of(groups: tuple[tuple[str, ...], ...]) -> np.ndarray:
    """(MOST_TYPES,) unit type -> its group's number, or their number for none."""
    columns = np.full(MOST_TYPES, len(groups))
    for column, names in enumerate(groups):
        columns[[UNITS[name] for name in names]] = column
    return columns


GROUP_OF = _column_of(GROUPS)
COUNTED_OF, BUILT_OF = (_column_of(tuple((name,) for name in names)) for names in (COUNTED, BUILT))


def picture(view: View, ground: Ground, size: int) -> np.ndarray:
    """(45, size, size) float32: own, enemy and neutral units, then the groups of own and of enemy units; rows from the north."""
    x, y = view.places.T
    column = np.clip((x * size / ground.width).astype(np.int64), 0, size - 1)
    row = size - 1 - np.clip((y * size / ground.height).astype(np.int64), 0, size - 1)
    cell = row * size + column
    if ground.turned:
        cell = size * size - 1 - cell
    group = GROUP_OF[view.kinds]
    channels = [
        cell[which] + size * size * number
        for number, which in enumerate((view.own, view.enemy, view.neutral))
    ]
    for number, which in enumerate((view.own, view.enemy)):
        shown = which & (group < len(GROUPS))
        channels.append(cell[shown] + size * size * (3 + number * len(GROUPS) + group[shown]))
    counts = np.bincount(np.concatenate(channels), minlength=CHANNELS * size * size)
    return (counts.reshape(CHANNELS, size, size) / FULL_CELL).astype(np.float32)


def both_scales(counts: np.ndarray) -> np.ndarray:
    """Counts / 20, then log10(counts + 1)."""
    return np.concatenate([counts / FULL_COUNT, np.log10(counts + 1)])


def _counts(view: View, columns: np.ndarray, length: int, within: np.ndarray) -> np.ndarray:
    """(2 length,) own units by type, then the enemy's."""
    column = columns[view.kinds]
    sides = [
        np.bincount(column[which & within], minlength=length + 1)[:length] for which in (view.own, view.enemy)
    ]
    return np.concatenate(sides).astype(np.float64)


def count_units(view: View, ground: Ground, regions: tuple[int, ...] = (0,)) -> np.ndarray:
    """(76 regions,) units by type."""
    parts = [
        both_scales(_counts(view, COUNTED_OF, len(COUNTED), in_region(ground, view.places, region)))
        for region in regions
    ]
    return np.concatenate(parts)


def count_buildings(view: View) -> np.ndarray:
    """(64,)."""
    return both_scales(_counts(view, BUILT_OF, len(BUILT), np.ones(len(view.units), bool)))


def statistics(view: View) -> np.ndarray:
    """(16,) all, combat, ground and air units, own then enemy."""
    flying, fights = view.units[:, FLYING] > 0, IS_COMBAT[view.kinds]
    kinds = (np.ones(len(flying), bool), fights, ~flying, flying)
    counts = [float((which & kind).sum()) for which in (view.own, view.enemy) for kind in kinds]
    return both_scales(np.array(counts))


def player(view: View) -> np.ndarray:
    """(28,) stores, food, workers, army; free food also one-hot: 0, then steps of 3, last above 24."""
    free = max(view.player[3] - view.player[2], 0.0)
    numbers = np.append(view.player, free)
    full = np.full(len(numbers), FULL_COUNT)
    full[:2] = FULL_STORE
    bins = np.zeros(FOOD_BINS)
    bins[min(int(np.ceil(free / FOOD_STEP)), FOOD_BINS - 1)] = 1
    return np.concatenate([numbers / full, np.log10(numbers + 1), bins])


def score(view: View) -> np.ndarray:
    """(20,) ten cumulative values."""
    scaled = view.score / FULL_SCORE
    return np.concatenate([scaled, np.log10(scaled + 1)])


def drones_at_gas(view: View) -> tuple[np.ndarray, np.ndarray]:
    """(n,) bool twice: own drones that gather gas, and those that gather minerals."""
    gathers = view.own & (view.units[:, KIND] == UNITS["drone"]) & (view.units[:, ORDER] == GATHER)
    extractors = view.tags[view.own & (view.units[:, KIND] == UNITS["extractor"])]
    gas = gathers & np.isin(view.targets, extractors)
    return gas, gathers & ~gas


def workers(view: View) -> np.ndarray:
    """(3,) drones at gas, at minerals, others."""
    drones = (view.own & (view.units[:, KIND] == UNITS["drone"])).sum()
    gas, minerals = (int(which.sum()) for which in drones_at_gas(view))
    return np.array([gas, minerals, drones - gas - minerals]) / FULL_COUNT


def progress(loop: int) -> np.ndarray:
    """(92,) the game loop one-hot in bins of four widths; the last bin holds all later loops."""
    parts = []
    for bins in PROGRESS_BINS:
        part = np.zeros(bins)
        part[min(loop // (PROGRESS_LOOPS // bins), bins - 1)] = 1
        parts.append(part)
    return np.concatenate(parts)


def past_actions(past: deque[int], actions: int) -> np.ndarray:
    """(8 actions,) the last actions one-hot, oldest first; zeros before the first."""
    rows = np.zeros((PAST, actions))
    for row, action in enumerate(past, PAST - len(past)):
        rows[row, action] = 1
    return rows.ravel()


def vector(
    view: View, ground: Ground, past: deque[int], mask: np.ndarray, regions: bool = False
) -> np.ndarray:
    """(299 + 9 A,) float32, with `regions` 684 more; `mask` (A,) bool."""
    parts = [
        count_units(view, ground, tuple(range(10)) if regions else (0,)),
        count_buildings(view),
        statistics(view),
        player(view),
        score(view),
        workers(view),
        past_actions(past, len(mask)),
        progress(view.loop),
        mask,
    ]
    return np.concatenate(parts).astype(np.float32)
