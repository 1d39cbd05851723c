"""Distinct tiles per step of each life, by kind of ground."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from interplay.evaluate.lifetimes.tick import Array
from interplay.evaluate.lifetimes.tracks import Tracks
from interplay.worlds.mmo.tiles import FOREST, GRASS, SCRUB

GROUND = {"grass": GRASS, "scrub": SCRUB, "forest": FOREST}


class LifeCoverage(NamedTuple):
    """One row per life.

    Attributes:
        share: (L,) distinct cells / steps, 1 = no cell twice; NaN for a life without a step.
        by_ground: name -> (L,) distinct cells of that kind / steps; a cell that changed counts for each kind.
    """

    share: Array
    by_ground: dict[str, Array]


def life_coverage(tracks: Tracks) -> LifeCoverage:
    """Distinct tiles of each life / its steps, and the same split by grass, scrub and forest."""
    with np.errstate(invalid="ignore", divide="ignore"):
        by_ground = {
            name: _distinct(tracks, tracks.tile == tile) / tracks.length for name, tile in GROUND.items()
        }
        return LifeCoverage(_distinct(tracks, np.ones(len(tracks.life), bool)) / tracks.length, by_ground)


def _distinct(tracks: Tracks, chosen: Array) -> Array:
    """(L,) distinct cells among the chosen steps of each life."""
    keys = np.unique(tracks.life[chosen] * tracks.side**2 + tracks.cell[chosen])
    return np.bincount(keys // tracks.side**2, minlength=len(tracks.population))
