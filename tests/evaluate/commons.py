"""Small persistent worlds and a hand-written network, for overlays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from interplay.worlds.mmo.config import MmoSettings
from interplay.worlds.mmo.tiles import FOREST, GRASS, WATER
from interplay.worlds.mmo.world import MmoWorld

SMALL = {"interior": 24, "slots": 12, "npop": 2, "maps": 1}


def common(num_worlds: int = 1, seed: int = 0, **options: Any) -> MmoWorld:
    """A world after a reset, with its registry id."""
    world = MmoWorld(MmoSettings(**{**SMALL, **options}), num_worlds, seed)
    world.id = "mmo/combat"
    world.reset()
    return world


def lawn(places: list[tuple[int, int]], populations: list[int], **options: Any) -> MmoWorld:
    """A world of grass only, with one fresh agent per given place."""
    world = common(**options)
    state = world.state
    state.tiles[...] = GRASS
    state.heads[...] = 0
    person = state.agent
    person["alive"] = False
    for slot, ((row, col), population) in enumerate(zip(places, populations, strict=True)):
        settle(world, slot, row, col, population)
    state.acting[...] = person["alive"]
    world.refresh()
    return world


def settle(world: MmoWorld, slot: int, row: int, col: int, population: int) -> None:
    """Puts a newcomer into a slot of world 0; call `refresh` afterwards."""
    fresh = {
        "row": row, "col": col, "population": population, "alive": True, "life": 0, "damage": 0, "freeze": 0,
        "health": world.settings.health, "food": world.settings.food, "water": world.settings.water,
    }  # fmt: skip
    for name, value in fresh.items():
        world.state.agent[name][0, slot] = value
    world.state.heads[0, row, col] += 1


def taste(observation: Mapping[str, np.ndarray], population: int) -> np.ndarray:
    """A hand-written value: forest and water in view, own kind, food; higher for later populations."""
    tiles, rows = observation["tiles"], observation["entities"].astype(float)
    others = (np.arange(rows.shape[1]) > 0) & (np.arange(rows.shape[1]) < observation["count"][:, None])
    near = np.exp(-np.abs(rows[..., 6:8]).sum(axis=2)) * others * (0.5 + rows[..., 9])
    likes = 3.0 * (tiles == FOREST).mean(axis=(1, 2)) + 5.0 * (tiles == WATER).mean(axis=(1, 2))
    found: np.ndarray = (1 + population) * (
        likes + near.sum(axis=1) + rows[:, 0, 2] + rows[:, 0, 4] * rows[:, 0, 5]
    )
    return found
