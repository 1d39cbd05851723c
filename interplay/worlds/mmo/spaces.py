"""One agent's spaces, its choices by name, and the arrays of its observation (specification 7)."""

from __future__ import annotations

import numpy as np
from gymnasium import spaces

from interplay.core.pointing import Pointing
from interplay.worlds.mmo import tiles
from interplay.worlds.mmo.config import COLUMNS, STYLES, MmoSettings
from interplay.worlds.mmo.state import Sight, choices

NO_TARGET_ROW = 0  # row 0, the observer: no target
STYLE_NAMES = ("melee", "range", "mage")


def observation_space(settings: MmoSettings) -> spaces.Dict:
    """Of one agent (specification 7)."""
    view, rows = settings.view, settings.rows
    fields: dict[str, spaces.Space] = {"tiles": spaces.Box(0, tiles.TILES - 1, (view, view), np.uint8)}
    if settings.occupancy:
        fields["occupancy"] = spaces.Box(0, 255, (view, view), np.uint8)
    if settings.compact:
        fields["entities"] = spaces.Box(-128, 127, (rows, COLUMNS), np.int8)
    else:
        fields["entities"] = spaces.Box(-np.inf, np.inf, (rows, COLUMNS), np.float32)
    fields["count"] = spaces.Box(0, rows, (), np.int16)
    return spaces.Dict(fields)


def action_space(settings: MmoSettings) -> spaces.MultiDiscrete:
    """Of one agent: move, attack and, with learned targeting, an entity row for each style, row 0 for none."""
    heads = choices(settings)
    aimed = range(len(heads) - STYLES, len(heads)) if settings.targeting == "learned" else ()
    return (
        Pointing(heads, dict.fromkeys(aimed, "entities"), NO_TARGET_ROW)
        if aimed
        else spaces.MultiDiscrete(heads)
    )


def action_names(settings: MmoSettings) -> dict[str, tuple[str, ...]]:
    """Names of the choices; a target is an entity row, nearest first."""
    styles = (("none",) if settings.no_attack else ()) + STYLE_NAMES
    names = {"move": ("stay", "east", "south", "west", "north"), "attack": styles}
    if settings.targeting == "learned":
        rows = ("nobody", *(f"in sight {row}" for row in range(1, settings.rows)))
        names |= {f"{style} at": rows for style in STYLE_NAMES}
    return names


def fields_of(sight: Sight, settings: MmoSettings) -> dict[str, np.ndarray]:
    """Field -> array of the views, in the order of the space."""
    fields = {
        "tiles": sight.tiles,
        "occupancy": sight.occupancy,
        "entities": sight.entities,
        "count": sight.filled,
    }
    return {name: array for name, array in fields.items() if name != "occupancy" or settings.occupancy}
