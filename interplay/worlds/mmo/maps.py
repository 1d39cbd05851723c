"""Maps by seed, without a world: for tests and viewers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from interplay.core.errors import UserError
from interplay.worlds.mmo.config import MmoSettings
from interplay.worlds.mmo.terrain import POCKETS, TERRAINS, make_terrain, scratch_sizes

_FARTHEST = 2.0**40  # beyond it the noise loses digits, and much later overflows


class Map(NamedTuple):
    """The ground of one world. T = interior + 2 border."""

    tiles: np.ndarray  # (T, T) uint8 ids of `tiles`
    reachable: np.ndarray  # (T, T) bool, grass and forest connected to the ring
    R: int  # number of reachable tiles, the denominator of coverage


class Scratch(NamedTuple):
    """Working memory of `make_terrain`; one per thread is enough."""

    total: np.ndarray  # float64
    queue: np.ndarray  # int32


def allocate_scratch(settings: MmoSettings) -> Scratch:
    """Working memory for maps of these settings: 16 + 4 bytes per tile of the interior."""
    total, queue = scratch_sizes(settings.interior, settings.border)
    return Scratch(np.empty(total, np.float64), np.empty(queue, np.int32))


def terrain_numbers(settings: MmoSettings) -> tuple[int, int, float, int, int, int]:
    """Arguments of `make_terrain` between seed and arrays.

    Raises:
        UserError: if features are so small that the noise would lose its digits.
    """
    farthest = settings.side * 2.0 ** (settings.octaves - 1) / settings.feature_tiles
    if not farthest < _FARTHEST:
        raise UserError(
            f"feature_tiles = {settings.feature_tiles:g} with octaves = {settings.octaves} leaves the range of the noise; "
            f"raise feature_tiles above {settings.side * 2.0 ** (settings.octaves - 1) / _FARTHEST:.2g}"
        )
    return (
        settings.interior,
        settings.border,
        settings.feature_tiles,
        settings.octaves,
        TERRAINS.index(settings.terrain),
        POCKETS.index(settings.pockets),
    )


def generate_map(settings: MmoSettings, seed: int, scratch: Scratch | None = None) -> Map:
    """The map of a seed: the same bits on any machine.

    Args:
        settings: the recipe: interior, border, feature_tiles, octaves, terrain, pockets.
        seed: 0 <= seed < 2**64.
        scratch: of `allocate_scratch`, to reuse memory.

    Raises:
        UserError: if the seed is out of range, or see `terrain_numbers`.
    """
    if not 0 <= seed < 2**64:
        raise UserError(f"map seed {seed} is out of range; give one of 0 .. 2**64 - 1")
    numbers = terrain_numbers(settings)
    total, queue = allocate_scratch(settings) if scratch is None else scratch
    tiles = np.empty((settings.side, settings.side), np.uint8)
    reachable = np.empty(tiles.shape, np.bool_)
    found = make_terrain(np.uint64(seed), *numbers, tiles, reachable, total, queue)
    return Map(tiles, reachable, int(found))


def check_ground(settings: MmoSettings, reachable: int, seed: int) -> None:
    """Refuses a map with less reachable ground than agents.

    Args:
        reachable: R of the map. The ring is always reachable, so it is at least 4 (interior - 1).
        seed: of the map, for the message.
    """
    if reachable < settings.most:
        raise UserError(
            f"map seed {seed} has {reachable} reachable tiles for up to {settings.most} agents; "
            "raise interior, lower slots or cap, or give another map_seed"
        )
