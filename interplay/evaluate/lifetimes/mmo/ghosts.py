"""Value ghosting: a network's values at every place, for agents that are not there (specification 14)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from interplay.core.errors import UserError
from interplay.evaluate.lifetimes.mmo.ticks import LIVABLE
from interplay.evaluate.lifetimes.tick import Array

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
