"""What an agent's network expects of every place of a plane, if the agent stood there and all else were alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from interplay.core.errors import UserError
from interplay.core.world import World
from interplay.evaluate.lifetimes.places import Grid, Places, read_places
from interplay.evaluate.lifetimes.tick import Array

Expects = Callable[[Mapping[str, Array]], Array]  # observation name -> (N, ...): values (N,)

BATCH = 256  # places evaluated together; fewer are filled up, so that XLA compiles one shape


def standing_reader(world: World) -> Callable[[World], Places]:
    """What reads the places of a world whose agents can be set down elsewhere.

    Raises:
        UserError: for a world that does not say what an agent would observe there; from the reader, for one without places.
    """
    if type(world).stand_at is World.stand_at:
        raise UserError(
            f"{world.id}: it does not say what an agent would see elsewhere; write its stand_at(world, slot, x, y)"
        )
    return read_places


def values_elsewhere(world: World, slot: int, expects: Expects) -> tuple[Array, Grid]:
    """The value of one agent of the first world at the middle of each cell of a grid, in its own cell at its own place.

    The agent is set down at one place after the other (`World.stand_at`); afterwards the world is as it was.

    Args:
        world: that nobody else uses meanwhile.
        slot: of the agent.
        expects: values of observations of this agent.

    Returns:
        (H, L) float64, NaN where it cannot stand or does not live; and the grid.
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
            # What it sees at its own place it has seen within the step, which a second look may not repeat.
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
