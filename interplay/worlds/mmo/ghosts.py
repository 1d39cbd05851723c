"""Observations of an imaginary agent at any place: for value maps of a policy (specification 14)."""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.core.errors import UserError
from interplay.core.jit import kernel
from interplay.worlds.mmo.neighbours import see_others, sort_into_buckets
from interplay.worlds.mmo.observe import describe, describe_one, mask_choices
from interplay.worlds.mmo.spaces import fields_of
from interplay.worlds.mmo.state import allocate_sight
from interplay.worlds.mmo.views import copy_crops


@kernel
def look_as_ghosts(state, sight, table, scratch, w, places, population, health, food, water):
    """Fills the views of ghosts at the places (K, 2), each alone with the living."""
    rules = table[0]
    living = sort_into_buckets(state, rules, scratch, 0, w)
    describe(state, rules, scratch, 0, w, living)
    for k in range(places.shape[0]):
        row, col = places[k, 0], places[k, 1]
        describe_one(scratch.features[0], rules, living, 0, health, food, water, row, col, 0, 0)
        copy_crops(state, sight, rules, w, row, col, 0, k)
        if rules.occupancy:  # it sees itself, as every agent does
            here = sight.occupancy[0, k, rules.vision, rules.vision]
            sight.occupancy[0, k, rules.vision, rules.vision] = min(here + 1, 255)
        see_others(state, sight, rules, scratch, 0, w, living, row, col, population, 0, k)
        mask_choices(state, sight, rules, w, row, col, 0, 0, k)


def observe(
    world: Any,
    number: int,
    rows: np.ndarray,
    cols: np.ndarray,
    population: int,
    stats: tuple[int | None, int | None, int | None],
) -> dict[str, np.ndarray]:
    """See `MmoWorld.observe_ghosts`."""
    s = world.settings
    places = np.stack([np.asarray(rows, np.int64).ravel(), np.asarray(cols, np.int64).ravel()], axis=1)
    if not 0 <= number < world.num_worlds:
        raise UserError(f"world {number} is not one of worlds 0..{world.num_worlds - 1}")
    if not 0 <= population < s.npop:
        raise UserError(f"population {population} is not one of populations 0..{s.npop - 1}")
    if len(places) and (places.min() < s.vision or places.max() >= s.side - s.vision):
        raise UserError(
            f"places {places.min()}..{places.max()} are outside of {s.vision}..{s.side - s.vision - 1}, where views fit"
        )
    full = (s.health, s.food, s.water)
    health, food, water = (most if given is None else given for given, most in zip(stats, full, strict=True))
    # At least two places: views of one would be of another type for Numba.
    sight = allocate_sight(s, world.state, 1, max(len(places), 2))
    look_as_ghosts(
        world.state, sight, world._table, world._scratch, number, places, population, health, food, water
    )
    found = {**fields_of(sight, s), "action_mask": sight.mask}
    return {name: array[:, : len(places)] for name, array in found.items()}
