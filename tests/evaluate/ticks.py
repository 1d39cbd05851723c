"""Ticks made by hand, for recorders."""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.evaluate.lifetimes.mmo.ticks import LIVABLE
from interplay.evaluate.lifetimes.tick import Tick
from interplay.worlds.mmo.tiles import GRASS


def tick(worlds: int = 1, slots: int = 3, side: int = 8, **given: Any) -> Tick:
    """A tick of living agents at (0, 0) on grass, age 0, life = slot, population 0; `given` replaces fields."""
    shape = (worlds, slots)
    fields: dict[str, Any] = {
        "alive": np.ones(shape, bool),
        "life": np.broadcast_to(np.arange(slots), shape).copy(),
        "tiles": np.full((worlds, side, side), GRASS, np.uint8),
        "livable": LIVABLE,
        "struck": np.full(shape, -1),
        "died": np.zeros(shape, bool),
        "ended": {"cause": np.zeros(shape, np.int64)},
        "population": np.zeros(shape, np.uint8),
        **{
            name: np.zeros(shape, np.int64)
            for name in ("age", "row", "col", "style", "from_row", "from_col", "struck_row", "struck_col")
        },
    }
    for name, value in given.items():
        fields[name] = (
            value if name == "ended" else np.asarray(value, fields[name].dtype).reshape(fields[name].shape)
        )
    return Tick(**fields)
