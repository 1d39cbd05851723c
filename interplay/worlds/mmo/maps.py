"""Memory and arguments of `terrain.make_terrain` from the settings, and the check of its maps."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from interplay.core.errors import UserError
from interplay.worlds.mmo.config import MmoSettings
from interplay.worlds.mmo.terrain import POCKETS, TERRAINS, scratch_sizes

_FARTHEST = 2.0**40  # beyond it the noise loses digits, and much later overflows


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
