"""The ground: noise, cut into tiles, flooded from the ring (specification 3); and the kernels' arguments from the settings.

Rows and columns of the array: `border` of lava, one of grass (the ring, where agents are born), noise inside.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from interplay.core.errors import UserError
from interplay.core.jit import kernel
from interplay.kernels.noise import fill_ridges
from interplay.kernels.select import select
from interplay.worlds.mmo.config import MmoSettings
from interplay.worlds.mmo.tiles import FOREST, GRASS, LAVA, STONE, WATER

TERRAINS = ("quantile", "absolute", "max_ratio")
QUANTILE, ABSOLUTE, MAX_RATIO = range(3)
POCKETS = ("auto", "stone", "keep")
AUTO, FILL, KEEP = range(3)

# Upper ends of water, grass and forest; stone is what remains (specification 3.3).
SHARES = (0.075, 0.526, 0.811)  # quantile: of the tiles of noise
LEVELS = (0.690, 1.310, 1.637)  # absolute: of the noise; the same shares on average
RATIOS = (0.30, 0.57, 0.715)  # max_ratio: of the noise over its maximum (the code)
_FARTHEST = 2.0**40  # beyond it the noise loses digits, and much later overflows
_SIXTEEN = 16
_LOW = 0xFFFF


@kernel
def scratch_sizes(interior, border):
    """Lengths of the scratch arrays `total` (float64) and `queue` (int32) of `make_terrain`."""
    return max(2 * (interior - 2) ** 2, interior + 2 * border), interior**2


@kernel
def make_terrain(
    seed, interior, border, feature_tiles, octaves, mode, pockets, tiles, reachable, total, queue
):
    """Fills one world's `tiles` (T, T) uint8 and `reachable` (T, T) bool; returns R, the number of reachable tiles.

    T = interior + 2 border. `mode` and `pockets` are indices in TERRAINS and POCKETS. Reachable: grass and forest connected to the ring by
    steps in four directions. `total` and `queue` are scratch of `scratch_sizes`.
    """
    count = (interior - 2) ** 2
    frequency = 1.0 / feature_tiles
    peak = _peak(seed, octaves, frequency, interior + 2 * border, total) if mode == MAX_RATIO else 1.0
    fill_ridges(seed, octaves, frequency, border + 1, border + 1, interior - 2, interior - 2, total)
    if mode == QUANTILE:
        cuts = _cuts(total, count)
    elif mode == ABSOLUTE:
        cuts = LEVELS
    else:
        cuts = RATIOS
    walkable = _lay_tiles(tiles, total, interior, border, peak, cuts)
    found = _flood(tiles, reachable, queue, interior, border)
    if pockets == FILL or (pockets == AUTO and 10 * found < 9 * walkable):
        _fill_pockets(tiles, reachable)
    return found


@kernel
def _peak(seed, octaves, frequency, side, total):
    """The largest noise of the whole array, border included."""
    peak = 0.0
    for r in range(side):
        fill_ridges(seed, octaves, frequency, r, 0, 1, side, total)
        for c in range(side):
            peak = max(peak, total[c])
    return peak


@kernel
def _cuts(total, count):
    """Values of the noise below which the shares of the tiles lie, exactly."""
    for k in range(count):
        total[count + k] = total[k]
    a = int(np.floor(SHARES[0] * count + 0.5))
    b = int(np.floor(SHARES[1] * count + 0.5))
    c = int(np.floor(SHARES[2] * count + 0.5))
    middle = select(total, count, 2 * count, count + b)  # leaves the others in the two adjacent parts
    below = select(total, count, count + b, count + a) if a < b else middle
    above = select(total, count + b, 2 * count, count + c)
    return below, middle, above


@kernel
def _lay_tiles(tiles, total, interior, border, peak, cuts):
    """Writes the tiles; returns the number of passable ones."""
    side, inner = interior + 2 * border, interior - 2
    first, last = border, border + interior - 1
    walkable = 4 * (interior - 1)
    for r in range(side):
        for c in range(side):
            tiles[r, c] = LAVA
    for k in range(interior):
        tiles[first, first + k] = GRASS
        tiles[last, first + k] = GRASS
        tiles[first + k, first] = GRASS
        tiles[first + k, last] = GRASS
    for r in range(inner):
        for c in range(inner):
            tile = _tile(total[r * inner + c] / peak, cuts[0], cuts[1], cuts[2])
            walkable += is_ground(tile)
            tiles[first + 1 + r, first + 1 + c] = tile
    return walkable


@kernel
def _tile(value, water, grass, forest):
    return WATER if value < water else GRASS if value < grass else FOREST if value < forest else STONE


@kernel
def is_ground(tile):
    """Whether a new map's tile is passable and harmless."""
    return tile in (GRASS, FOREST)


@kernel
def _flood(tiles, reachable, queue, interior, border):
    """Marks the tiles connected to the ring; returns their number. The lava around makes bounds checks needless."""
    reachable[:] = False
    reachable[border, border] = True
    queue[0] = (border << _SIXTEEN) | border
    held, found = 1, 1
    while held > 0:
        held -= 1
        r, c = queue[held] >> _SIXTEEN, queue[held] & _LOW
        for dr, dc in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            if is_ground(tiles[r + dr, c + dc]) and not reachable[r + dr, c + dc]:
                reachable[r + dr, c + dc] = True
                queue[held] = ((r + dr) << _SIXTEEN) | (c + dc)
                held += 1
                found += 1
    return found


@kernel
def _fill_pockets(tiles, reachable):
    """Turns passable but unreachable tiles to stone."""
    for r in range(tiles.shape[0]):
        for c in range(tiles.shape[1]):
            if is_ground(tiles[r, c]) and not reachable[r, c]:
                tiles[r, c] = STONE


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
