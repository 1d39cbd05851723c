"""Observations of an imaginary agent at any place: for value maps of a policy (specification 14)."""

from interplay.core.jit import kernel
from interplay.worlds.mmo.neighbours import see_others, sort_into_buckets
from interplay.worlds.mmo.observe import describe, describe_one, mask_choices
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
