"""Values of an agent's network at every place of a plane, with all else unchanged."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from interplay.core.errors import UserError
from interplay.core.world import World
from interplay.evaluate.lifetimes.places import Grid, Places, read_places
from interplay.evaluate.lifetimes.tick import Array

Expects = Callable[[Mapping[str, Array]], Array]  # observation name -> (N, ...): values (N,)

BATCH = 256  # places evaluated together; fewer are padded, so that XLA compiles one shape


def standing_reader(world: World) -> Callable[[World], Places]:
    """Returns `read_places` for a world that can move agents by `World.stand_at`."""
    if type(world).stand_at is World.stand_at:
        raise UserError(
            f"{world.id}: it does not say what an agent would see elsewhere; write its stand_at(world, slot, x, y)"
        )
    return read_places


def values_elsewhere(world: World, slot: int, expects: Expects) -> tuple[Array, Grid]:
    """Values of one agent of the first world at the middle of each grid cell; in its own cell, at its own place.

    `World.stand_at` moves the agent to each place in turn; afterwards the world's state is restored.

    Returns:
        (H, L) float64, NaN where it cannot stand or is not alive; and the grid.
    """
    places = read_places(world)
    grid = places.grid
    (left, top), cell, width, height = grid
    x = np.tile(left + cell * (np.arange(width) + 0.5), height)
    y = np.repeat(top + cell * (np.arange(height) + 0.5), width)
    own = int((places.y[slot] - top) // cell) * width + int((places.x[slot] - left) // cell)
    found = np.full(height * width, np.nan)
    kind = next(kind for kind in world.kinds if slot in kind.slots)
    column = kind.slots.index(slot)
    kept = world.save()
    try:
        standing, seen = [], []
        for cell_number in range(len(x)):
            # Its own place keeps the observation of the step, which observing again may not reproduce.
            stays = cell_number == own and bool(places.there[slot])
            if stays:
                world.load(kept)
            if stays or world.stand_at(0, slot, float(x[cell_number]), float(y[cell_number])):
                fields = world.by_kind(world.timestep.observation)[kind.name]
                standing.append(cell_number)
                seen.append({name: np.array(array[0, column]) for name, array in fields.items()})
        for start in range(0, len(seen), BATCH):
            rows = seen[start : start + BATCH]
            filled = rows + [rows[0]] * (BATCH - len(rows))
            batch = {name: np.stack([row[name] for row in filled]) for name in rows[0]}
            found[standing[start : start + BATCH]] = expects(batch)[: len(rows)]
    finally:
        world.load(kept)
    return found.reshape(height, width), grid
