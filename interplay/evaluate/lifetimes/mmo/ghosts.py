"""A network's values for agents that are not there: at every place (specification 14), or beside another agent (12)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from interplay.core.errors import UserError
from interplay.evaluate.lifetimes.mmo.ticks import LIVABLE
from interplay.evaluate.lifetimes.tick import Array
from interplay.worlds.mmo.config import COLUMNS, MmoSettings
from interplay.worlds.mmo.tiles import GRASS

Value = Callable[[Mapping[str, Array], int], Array]  # observation name -> (N, ...), population: values (N,)

# A ghost's shares of full food and water.
VARIANTS = {
    "full": (1.0, 1.0),
    "no food": (0.0, 1.0),
    "no water": (1.0, 0.0),
    "half": (0.5, 0.5),
    "none": (0.0, 0.0),
}
BATCH = 4_096  # ghosts observed and evaluated together
CLIP = 4.0  # standard deviations


def value_map(
    world: Any,
    value: Value,
    population: int,
    variant: str = "full",
    progress: Callable[[int], None] | None = None,
) -> Array:
    """V_p of a single fresh ghost on each interior cell of a batch's first world.

    A ghost has full health, the variant's food and water, and belongs to population p. It observes the living agents, which do not
    observe it. Impassable cells are evaluated too, for a map without holes.

    Args:
        world: offers ``observe_ghosts(w, rows, cols, population, health, food, water)``.

    Returns:
        (T, T) float64, NaN on the border of lava.
    """
    if not hasattr(world, "observe_ghosts"):
        raise UserError(
            f"{world.id}: this world places no ghosts, so there is no map of values; take mmo/combat"
        )
    if variant not in VARIANTS:
        raise UserError(f"variant {variant!r} of a ghost; choose {', '.join(VARIANTS)}")
    if not 0 <= population < world.num_populations:
        raise UserError(
            f"population = {population}: {world.id} has 0..{world.num_populations - 1}; choose one of them"
        )
    settings = world.settings
    inner = np.arange(settings.border, settings.border + settings.interior)
    rows, cols = (grid.ravel() for grid in np.meshgrid(inner, inner, indexing="ij"))
    food, water = (
        round(share * full)
        for share, full in zip(VARIANTS[variant], (settings.food, settings.water), strict=True)
    )
    found = np.full((settings.side, settings.side), np.nan)
    for start in range(0, len(rows), BATCH):
        row, col = rows[start : start + BATCH], cols[start : start + BATCH]
        seen = world.observe_ghosts(0, row, col, population, settings.health, food, water)
        found[row, col] = value({name: np.asarray(array)[0] for name, array in seen.items()}, population)
        if progress is not None:
            progress(start + len(row))
    return found


def standardise(values: Array, tiles: Array) -> Array:
    """z = clip((V - mean) / std, -4, 4) / 4, with mean and std over livable cells.

    Args:
        values: (..., T, T) of `value_map`.
        tiles: (T, T) uint8.

    Returns:
        (..., T, T) from -1 to 1, NaN where `values` is; 0 if all values are equal.
    """
    mean, spread = moments(values, tiles)
    with np.errstate(invalid="ignore"):
        scores: Array = np.clip((values - mean) / max(spread, 1e-12), -CLIP, CLIP) / CLIP
    return scores


def moments(values: Array, tiles: Array) -> tuple[float, float]:
    """Mean and standard deviation of values over livable cells."""
    inside = values[..., livable(tiles)]
    inside = inside[np.isfinite(inside)]
    return (float(inside.mean()), float(inside.std())) if len(inside) else (0.0, 0.0)


def livable(tiles: Array) -> Array:
    """(T, T) bool, passable and not lava."""
    return LIVABLE[tiles]


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
