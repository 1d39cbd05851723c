"""Maps by seed, without a world: for tests and measurements."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from interplay.worlds.mmo.config import MmoSettings
from interplay.worlds.mmo.terrain import Scratch, allocate_scratch, make_terrain, terrain_numbers


class Map(NamedTuple):
    """The ground of one world. T = interior + 2 border."""

    tiles: np.ndarray  # (T, T) uint8 ids of `tiles`
    reachable: np.ndarray  # (T, T) bool, grass and forest connected to the ring
    R: int  # number of reachable tiles, the denominator of coverage


def generate_map(settings: MmoSettings, seed: int, scratch: Scratch | None = None) -> Map:
    """The map of a seed: the same bits on any machine.

    Args:
        settings: the recipe: interior, border, feature_tiles, octaves, terrain, pockets.
        scratch: of `allocate_scratch`, to reuse memory.
    """
    numbers = terrain_numbers(settings)
    total, queue = allocate_scratch(settings) if scratch is None else scratch
    tiles = np.empty((settings.side, settings.side), np.uint8)
    reachable = np.empty(tiles.shape, np.bool_)
    found = make_terrain(np.uint64(seed), *numbers, tiles, reachable, total, queue)
    return Map(tiles, reachable, int(found))
