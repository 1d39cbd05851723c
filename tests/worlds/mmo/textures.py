"""What one sees in a map: patches, shores, distances (the measures of specification 3.3)."""

from __future__ import annotations

import numpy as np

from bench.mmo_maps import Map
from interplay.worlds.mmo.tiles import FOREST, GRASS, LAVA, STONE, WATER
from tests.naive.mmo_terrain import walk


def walkable(tiles: np.ndarray) -> np.ndarray:
    return (tiles == GRASS) | (tiles == FOREST)


def land(made: Map) -> np.ndarray:
    """All but the lava: the ring and what it surrounds."""
    rows, columns = np.nonzero(made.tiles != LAVA)
    return made.tiles[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]


def inside(made: Map) -> np.ndarray:
    """The tiles of noise."""
    return land(made)[1:-1, 1:-1]


def shares(made: Map) -> np.ndarray:
    """Of water, grass, forest and stone among the tiles of noise."""
    tiles = inside(made)
    return np.array([(tiles == kind).mean() for kind in (WATER, GRASS, FOREST, STONE)])


def patches(mask: np.ndarray) -> list[int]:
    """Sizes of what hangs together by sides."""
    left = {(r, c) for r, c in np.argwhere(mask).tolist()}
    sizes = []
    while left:
        patch = walk(left, next(iter(left)))
        left -= patch
        sizes.append(len(patch))
    return sizes


def distance(mask: np.ndarray) -> np.ndarray:
    """L1 distance of each cell to the nearest one of the mask, as if everything could be walked on."""
    far = np.where(mask, 0, 10**6)
    for _ in range(2):
        steps = np.arange(len(far))[:, None]
        down = np.minimum.accumulate(far - steps) + steps
        up = np.minimum.accumulate((far + steps)[::-1])[::-1] - steps
        far = np.minimum(down, up).T
    return far


def texture(made: Map) -> dict[str, float]:
    """Patches per 1,000 tiles of noise, mean sizes, shares and distances of walkable tiles, unlike neighbours."""
    noise, all_land = inside(made), land(made)
    ground = walkable(all_land)
    to_water = distance(all_land == WATER)[ground]
    found: dict[str, float] = {}
    for name, kind in (("pond", WATER), ("forest", FOREST), ("stone", STONE)):
        sizes = patches(noise == kind)
        found[name + "s"] = 1000 * len(sizes) / noise.size
        found[name] = float(np.mean(sizes))
    return found | {
        "beside_water": float((to_water == 1).mean()),
        "to_water": float(to_water.mean()),
        "to_water_95": float(np.percentile(to_water, 95)),
        "to_forest": float(distance(all_land == FOREST)[ground].mean()),
        "different": float((noise[:, 1:] != noise[:, :-1]).mean()),
    }
