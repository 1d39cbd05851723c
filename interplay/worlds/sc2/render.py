"""Draws a full match from above: what its players see, together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from interplay.core.scene import Canvas
from interplay.worlds.sc2.config import LOOPS_PER_SECOND
from interplay.worlds.sc2.ids import marked
from interplay.worlds.sc2.regions import Ground
from interplay.worlds.sc2.things import BUILDING, MORPH, THINGS
from interplay.worlds.sc2.view import PLAYER, View

_GROUND, _RESOURCE = "#d9d4c5", "#8fb8a8"
_IS_BUILDING = marked(thing.name for thing in THINGS if thing.kind in (BUILDING, MORPH))
_UNIT, _BUILDING, _FIELD = 0.9, 1.8, 0.8  # half extents in cells of the map, larger than in the game


def draw_match(
    canvas: Canvas, names: Sequence[str], views: Sequence[View], ground: Ground, loops: int
) -> None:
    """Draws each player's own units, resources, and of the game's own player what the other sees."""
    half_x, half_y = ground.width / 2, ground.height / 2
    canvas.show(0.0, 0.0, ground.width, ground.height, up="north")
    canvas.boxes("ground", [half_x], [half_y], half_x, half_y, colour=_GROUND)
    first = views[0]
    x, y = first.places[first.neutral].T
    canvas.circles("resources", x, y, _FIELD, colour=_RESOURCE, outline=False, legend="resources")
    shown = [(view, view.own) for view in views] + [(first, first.enemy)] * (len(views) == 1)
    x, y = np.concatenate([view.places[rows] for view, rows in shown]).T
    kinds = np.concatenate([view.kinds[rows] for view, rows in shown])
    team = np.repeat([0, 1], [int(rows.sum()) for _, rows in shown])
    building, jump = _IS_BUILDING[kinds], np.ones(len(kinds), bool)  # rows are other units in each step
    at = np.flatnonzero(building)
    canvas.boxes("buildings", x[at], y[at], _BUILDING, _BUILDING, colour=team[at], jump=jump[at])
    at = np.flatnonzero(~building)
    legend = (*names, "the game's own")[:2]
    canvas.circles("units", x[at], y[at], _UNIT, colour=team[at], glyph="team", jump=jump[at], legend=legend)
    seconds = loops / LOOPS_PER_SECOND
    clock = f"{seconds // 60:.0f}:{seconds % 60:04.1f}"
    table = [
        [name, clock, *view.player[:4].astype(int).tolist()] for name, view in zip(names, views, strict=True)
    ]
    canvas.table("match", ["player", "time", *PLAYER[:4]], table)
