"""An agent's value as a function of another agent's place (specification 12)."""

from __future__ import annotations

import numpy as np

from interplay.evaluate.lifetimes.mmo.ghosts import Value
from interplay.evaluate.lifetimes.tick import Array
from interplay.worlds.mmo.config import COLUMNS, MmoSettings
from interplay.worlds.mmo.tiles import GRASS

# Columns of an entity row (specification 7).
LIFE, HEALTH, FOOD, WATER, ROW, COL, ROW_OFFSET, COL_OFFSET, DAMAGE, SAME, FREEZE = range(COLUMNS)


def dependence(settings: MmoSettings, value: Value, population: int, same: bool) -> Array:
    """D_p(dr, dc) = V_p(one fresh agent of population q at offset (dr, dc)) - V_p(alone).

    The observer stands at the centre of an all-grass crop. It only observes whether q is its own population p, so all q other than p
    give the same map: two maps per p are complete.

    Args:
        same: q = p, else any other.

    Returns:
        (V, V) float64, rows down; the middle is an agent on the observer's own tile.
    """
    reach = np.arange(-settings.vision, settings.vision + 1)
    down, right = (grid.ravel() for grid in np.meshgrid(reach, reach, indexing="ij"))
    beside = value(meadow(settings, np.stack([down, right], axis=1), same), population)
    alone = value(meadow(settings, None, same), population)
    return (np.asarray(beside, np.float64) - float(alone[0])).reshape(settings.view, settings.view)


def meadow(settings: MmoSettings, offsets: Array | None, same: bool) -> dict[str, Array]:
    """Observations of a fresh agent in the middle of the map, in a crop of nothing but grass.

    Args:
        offsets: (N, 2) rows down and columns right of one other fresh agent; None = no other agent.
        same: whether the other agent has the observer's population.

    Returns:
        Observation name -> (N, ...) as in the world; N = 1 without another agent.
    """
    count = 1 if offsets is None else len(offsets)
    view, middle = settings.view, settings.vision
    seen = {
        "tiles": np.full((count, view, view), GRASS, np.uint8),
        "entities": np.zeros((count, settings.rows, COLUMNS), np.int8 if settings.compact else np.float32),
        "count": np.full(count, 1 if offsets is None else 2, np.int16),
    }
    centre = settings.side // 2
    seen["entities"][:, 0] = fresh_row(settings, centre, centre, 0, 0, True)
    if offsets is not None:
        for row, (down, right) in zip(seen["entities"], offsets, strict=True):
            row[1] = fresh_row(settings, centre + down, centre + right, down, right, same)
    if settings.occupancy:
        heads = np.zeros((count, view, view), np.uint8)
        heads[:, middle, middle] = 1
        if offsets is not None:
            np.add.at(heads, (np.arange(count), middle + offsets[:, 0], middle + offsets[:, 1]), 1)
        seen["occupancy"] = heads
    return seen


def fresh_row(settings: MmoSettings, row: int, col: int, down: int, right: int, same: bool) -> Array:
    """The entity row of an agent of age 0 with full health, food and water.

    Args:
        down, right: relative to the observer.

    Returns:
        (11,) float32, or integers as in the compact form.
    """
    if settings.compact:
        scale = 254.0 / (settings.side - 1)
        full = [min(most, 127) for most in (settings.health, settings.food, settings.water)]
        place = [np.floor(row * scale - 126.5), np.floor(col * scale - 126.5)]
        return np.array([0, *full, *place, down, right, 0, 1 if same else 0, 0], np.float32)
    far = settings.side - settings.border
    place = [row / far - 0.5, col / far - 0.5]
    return np.array([-0.5, 0.5, 0.5, 0.5, *place, down, right, -0.5, 0.5 if same else -0.5, -0.5], np.float32)
