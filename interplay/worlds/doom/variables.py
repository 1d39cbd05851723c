"""The engine's variables that are read after every decision, and their place in the shared array."""

from __future__ import annotations

import numpy as np

from interplay.worlds.doom.config import FULL, MOST_BOTS, MOST_PLAYERS, DoomSettings

ENGINE_NAMES = {
    "health": "HEALTH",
    "ammo": "SELECTED_WEAPON_AMMO",
    "armour": "ARMOR",
    "frags": "FRAGCOUNT",
    "dead": "DEAD",
    "deaths": "DEATHCOUNT",
    "hits": "HITCOUNT",
    "hits_taken": "HITS_TAKEN",
    "kills": "KILLCOUNT",
    "x": "POSITION_X",
    "y": "POSITION_Y",
    "number": "PLAYER_NUMBER",
    **{f"frags_{n}": f"PLAYER{n}_FRAGCOUNT" for n in range(1, MOST_PLAYERS + MOST_BOTS + 1)},
}
"""Our name -> the engine's."""
COLUMN = {name: column for column, name in enumerate(ENGINE_NAMES)}
FRAGS_OF = slice(COLUMN["frags_1"], None)


def variables_of(settings: DoomSettings) -> int:
    """How many of the variables are read: frags by number only where there are bots."""
    return len(COLUMN) if settings.bots else COLUMN["frags_1"]


def scaled(variables: np.ndarray, names: tuple[str, ...]) -> np.ndarray:
    """Variables as they are observed, 0..1: (..., V) -> (..., names) float32; a dead player's health is 0.

    Example:
        >>> row = np.zeros(len(COLUMN)); row[:2] = -999900, 60
        >>> scaled(row, ("health", "ammo")).tolist()
        [0.0, 1.0]
    """
    seen = np.empty((*variables.shape[:-1], len(names)), np.float32)
    for column, name in enumerate(names):
        seen[..., column] = np.minimum(np.maximum(variables[..., COLUMN[name]], 0) / FULL[name], 1)
    return seen
