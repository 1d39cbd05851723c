"""The engine's variables that are read after every decision, and their order."""

from __future__ import annotations

from collections.abc import Sequence

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


def scaled(values: Sequence[float], names: Sequence[str]) -> list[float]:
    """Variables as they are observed, 0..1; a dead player's health is below 0 and becomes 0.

    Example:
        >>> scaled([-999900.0, 60.0], ("health", "ammo"))
        [0.0, 1.0]
    """
    return [min(max(values[COLUMN[name]] / FULL[name], 0.0), 1.0) for name in names]
