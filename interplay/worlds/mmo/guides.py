"""Labels of an agent's observation (specification 7)."""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.core.guides import NO_SLOT, Guide

# Columns of a row, as `observe.describe_one` writes them.
ROW = (
    "age",
    "health",
    "food",
    "water",
    "row",
    "column",
    "rows away",
    "columns away",
    "damage",
    "own population",
    "freeze",
)
ROWS_AWAY, COLUMNS_AWAY = ROW.index("rows away"), ROW.index("columns away")


def guides_of(world: Any, w: int, slot: int) -> dict[str, tuple[Guide]]:
    """The crop of tiles, and a row for oneself and each agent in view; rows on a shared tile are not distinguished."""
    seen = world.timestep.observation
    count = int(seen["count"][w, slot])
    guides = {
        "tiles": (Guide("crop", palette="terrain"),),
        "entities": (Guide("rows", names=ROW, shown=count, slots=_slots(world, w, slot, count)),),
        "count": (Guide(names=("rows",)),),
    }
    return guides | ({"occupancy": (Guide("crop"),)} if world.settings.occupancy else {})


def _slots(world: Any, w: int, slot: int, count: int) -> list[int]:
    agent, rows = world.state.agent[w], np.asarray(world.timestep.observation["entities"][w, slot, :count])
    found = [slot] * min(count, 1)
    for away in rows[1:, [ROWS_AWAY, COLUMNS_AWAY]].astype(int):
        row, col = int(agent["row"][slot]) + away[0], int(agent["col"][slot]) + away[1]
        here = np.flatnonzero(agent["alive"] & (agent["row"] == row) & (agent["col"] == col))
        others = here[here != slot]
        found.append(int(others[0]) if len(others) == 1 else NO_SLOT)
    return found
