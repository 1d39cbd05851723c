"""An agent's value as a function of another agent's place (specification 12)."""

from __future__ import annotations

import numpy as np

from interplay.evaluate.lifetimes.mmo.ghosts import Value
from interplay.evaluate.lifetimes.mmo.scenes import meadow
from interplay.evaluate.lifetimes.tick import Array
from interplay.worlds.mmo.config import MmoSettings


def dependence(settings: MmoSettings, value: Value, population: int, same: bool) -> Array:
    """D_p(dr, dc) = V_p(one fresh agent of population q at offset (dr, dc)) - V_p(alone).

    The observer stands at the centre of an all-grass crop. It only observes whether q is its own population p, so all q other than p
    give the same map: two maps per p are complete.

    Args:
        same: q = p, else any other.

    Returns:
        (V, V) float64, rows down; the middle is an agent on the observer's own tile.
    """
    reach = np.arange(-settings.vision, settings.vision + 1)
    down, right = (grid.ravel() for grid in np.meshgrid(reach, reach, indexing="ij"))
    beside = value(meadow(settings, np.stack([down, right], axis=1), same), population)
    alone = value(meadow(settings, None, same), population)
    return (np.asarray(beside, np.float64) - float(alone[0])).reshape(settings.view, settings.view)
