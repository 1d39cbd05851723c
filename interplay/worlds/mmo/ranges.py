"""Allowed values of a persistent world's state (`interplay.core.ranges`); the arrays are in `state.py`.

The rules rely on them: the lava border keeps agents on the map, the list of eaten tiles holds all forest, and the count of the living
guarantees a free slot for a birth.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.core.ranges import ANYTHING, MOST_32, REAL, Array, Arrays, Invariant, Range, count, index
from interplay.worlds.mmo.config import STYLES, MmoSettings
from interplay.worlds.mmo.state import CAUSES, most_forest
from interplay.worlds.mmo.tiles import FOREST, GRASS, LAVA, SCRUB, STONE

FULL_TILE = 255  # largest head count of a byte
_FAR = Range(-128, 127)  # an int8 that is not used in computations


def ranges_of(s: MmoSettings) -> dict[str, Range]:
    """Name -> range of every field of `jit.arrays_of`."""
    many, kinds = count(MOST_32), index(s.npop)
    return {
        "agent.life_id": count(),
        "agent.life": many,
        "agent.birth": many,
        "agent.struck": index(s.slots, none=True),
        "agent.damage": many,
        "agent.row": index(s.side),
        "agent.col": index(s.side),
        "agent.health": count(s.health),
        "agent.food": count(s.food),
        "agent.water": count(s.water),
        "agent.freeze": count(s.freeze),
        "agent.struck_row": _FAR,
        "agent.struck_col": _FAR,
        "agent.kills": many,
        "agent.eaten": many,
        "agent.drunk": many,
        "agent.harm": many,
        "agent.style": index(STYLES, none=True),
        "agent.population": kinds,
        "tally.ended_life": many,
        "tally.ended_kills": many,
        "tally.ended_food": many,
        "tally.ended_water": many,
        "tally.ended_harm": many,
        "tally.ended_id": count(),
        "tally.ended_cause": index(len(CAUSES)),
        "tally.ended_population": kinds,
        "room.map_seed": ANYTHING,
        "room.tick": many,
        "room.births": count(),
        "room.deaths": count(),
        "room.life_ticks": count(),
        "room.ground": count(s.interior**2),
        "room.living": count(s.most),
        "room.cap": count(s.most),
        "room.depleted": count(most_forest(s)),
        "stream": ANYTHING,
        "tiles": index(STONE + 1),
        "heads": count(FULL_TILE),
        "depleted": index(s.side**2),
        "quota": count(2**31 - 1),
        "standing": count(s.slots),
        "causes": count(),
        "visits": ANYTHING,
        "reward": REAL,
    }


def laws_of(s: MmoSettings) -> list[Invariant]:
    """Invariants between fields."""
    ground = slice(s.border, s.border + s.interior)
    edge = s.border - (s.lava == "next_update")  # agents stand in lava until their next update

    def alive_elsewhere(given: Arrays) -> Any:
        row, col = given["agent.row"], given["agent.col"]
        least, most = np.minimum(row, col), np.maximum(row, col)
        return given["agent.alive"] & ((least < edge) | (most >= s.side - edge))

    def dry_border(given: Arrays) -> Any:
        wrong = given["tiles"] != LAVA
        wrong[:, ground, ground] = False
        return wrong

    def cut_off(given: Arrays) -> Any:
        # Numbers below grass wrap around; the border is lava, so there are no births.
        return given["reachable"] & (given["tiles"] - np.uint8(GRASS) > FOREST - GRASS)

    return [
        Invariant("agent.alive", "stands off the ground", alive_elsewhere),
        Invariant("tiles", "is no lava in the border", dry_border),
        Invariant("reachable", "cannot be walked on", cut_off),
        Invariant(
            "room.ground",
            "is not the number of reachable tiles, or less than its world's cap",
            _reached_otherwise,
        ),
        Invariant("room.depleted", "is not the number of eaten tiles", _eaten_otherwise),
        Invariant("depleted", "is no eaten tile, or listed twice", _lists_otherwise),
        Invariant(
            "room.depleted", "and the forest exceed a map's maximum", lambda given: _overgrown(s, given)
        ),
        Invariant("room.living", "is not the number of those alive", _lives_otherwise),
        Invariant("standing", "is not the number of those alive", _stands_otherwise),
        Invariant("heads", "is not the number of those alive on the tile", _heads_otherwise),
        Invariant("acting", "though it is not alive, or its world over", _acts_otherwise),
    ]


def _reached_otherwise(given: Arrays) -> Any:
    """Births search reachable ground until they find it, so there has to be some."""
    found = _number(given["reachable"])
    return (given["room.ground"] != found) | (found < given["room.cap"])


def _eaten_otherwise(given: Arrays) -> Any:
    return given["room.depleted"] != _number(given["tiles"] == SCRUB)


def _lists_otherwise(given: Arrays) -> Any:
    """The list is as long as the number of eaten tiles, so without duplicates it holds each once."""
    places = given["depleted"]
    flat = given["tiles"].reshape(len(places), -1)
    wrong = np.zeros(places.shape, bool)
    w, k = np.nonzero(np.arange(places.shape[1]) < given["room.depleted"][:, None])
    named = places[w, k].astype(np.int64)
    wrong[w, k] = flat[w, named] != SCRUB
    different = np.unique(w * flat.shape[1] + named) // flat.shape[1]
    wrong[np.bincount(different, minlength=len(places)) != given["room.depleted"], 0] = True
    return wrong


def _overgrown(s: MmoSettings, given: Arrays) -> Any:
    forest = _number(given["tiles"] == FOREST)
    return given["room.depleted"] + forest > most_forest(s)


def _lives_otherwise(given: Arrays) -> Any:
    living = given["agent.alive"].sum(axis=1)
    return given["room.living"] != living


def _stands_otherwise(given: Arrays) -> Any:
    alive, kin = given["agent.alive"], given["agent.population"]
    number = given["standing"].shape[1]
    key = (np.arange(len(kin))[:, None] * number + kin)[alive]
    counted = np.bincount(key, minlength=len(kin) * number).reshape(len(kin), number)
    return counted != given["standing"]


def _heads_otherwise(given: Arrays) -> Any:
    heads, alive = given["heads"], given["agent.alive"]
    worlds, side, _ = heads.shape
    place = np.arange(worlds)[:, None] * side * side + given["agent.row"].astype(np.int64) * side
    tile, number = np.unique((place + given["agent.col"])[alive], return_counts=True)
    wrong = heads.copy().reshape(-1)
    wrong[tile] = wrong[tile] != np.minimum(number, FULL_TILE)
    return wrong.reshape(heads.shape) != 0


def _acts_otherwise(given: Arrays) -> Any:
    return given["acting"] != (given["agent.alive"] & ~given["room.over"][:, None])


def _number(grids: Array) -> Array:
    """(W,) number of true tiles of (W, T, T)."""
    return np.array([np.count_nonzero(grid) for grid in grids])
