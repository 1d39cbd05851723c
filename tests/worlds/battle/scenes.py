"""Battles put together by hand."""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.worlds.battle.config import BattleSettings
from interplay.worlds.battle.world import BattleWorld

STOP = 1
ATTACK = 6


def scene(red: str, blue: str, places: list[tuple[float, float]], **options: Any) -> BattleWorld:
    """One battle whose units, red's first, stand at `places`, measured from the middle of the field."""
    world = BattleWorld(BattleSettings(red=red, blue=blue, limit=1000, **options))
    world.reset()
    world.state.unit["x"][0], world.state.unit["y"][0] = np.array(places).T
    world.refresh()
    return world


def legal(world: BattleWorld, wanted: dict[int, int]) -> np.ndarray:
    """(1, A) actions: what is wanted where it is legal, else standing still."""
    mask = world.timestep.action_mask["action"][0]  # type: ignore[index]
    action = np.where(mask[:, STOP], STOP, 0)
    for slot, choice in wanted.items():
        if mask[slot, choice]:
            action[slot] = choice
    return action[None]


def attack_first(world: BattleWorld) -> np.ndarray:
    """(W, A) actions: each unit attacks the first legal enemy, or stands still."""
    mask = world.timestep.action_mask["action"]  # type: ignore[index]
    attacks = mask[..., ATTACK:]
    still = np.where(mask[..., STOP], STOP, 0)
    return np.where(attacks.any(axis=2), ATTACK + attacks.argmax(axis=2), still)


def unit(world: BattleWorld, slot: int) -> Any:
    """Its record."""
    return world.state.unit[0, slot]
