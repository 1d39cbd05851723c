"""Visit counts of each slot on a grid over the picture, for any world that draws its agents."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from interplay.core.errors import UserError
from interplay.core.scene import Bounds, Scene, scene_of
from interplay.core.world import World
from interplay.evaluate.lifetimes.tick import Array

AGENTS = "agents"  # the layer whose row i is slot i
ACROSS = 48  # cells along the longer side of a world without tiles


class Grid(NamedTuple):
    """Cells over a world, in its units: corner of the first cell, side of a cell, columns, rows."""

    origin: tuple[float, float]
    cell: float
    width: int
    height: int


class Places(NamedTuple):
    """Drawn places of the first world's agents: x and y (A,), drawn at all (A,) bool, and the grid of counts."""

    x: Array
    y: Array
    there: Array
    grid: Grid


class PlaceRecorder:
    """Counts for each slot the cell in which its agent is drawn, tick by tick.

    Attributes:
        counts: (A, H, L) int32; None before the first tick.
        grid: of the first tick.
    """

    def __init__(self) -> None:
        self.counts: Array | None = None
        self.grid: Grid | None = None

    def add(self, places: Places) -> None:
        """Adds one tick."""
        if self.counts is None or self.grid != places.grid or len(self.counts) != len(places.x):
            self.grid = places.grid  # another episode may show another part of the world
            self.counts = np.zeros((len(places.x), self.grid.height, self.grid.width), np.int32)
        (left, top), cell, width, height = self.grid
        col = np.floor((places.x - left) / cell).astype(np.int64)
        row = np.floor((places.y - top) / cell).astype(np.int64)
        inside = places.there & (col >= 0) & (col < width) & (row >= 0) & (row < height)
        self.counts[np.flatnonzero(inside), row[inside], col[inside]] += 1


def place_reader(world: World) -> Callable[[World], Places]:
    """Returns `read_places`, except for worlds of tiles, for which the overlay ``exploration`` is better."""
    if "ticks" in world.instruments:
        raise UserError(f"{world.id}: its agents live on tiles; ask for the overlay exploration")
    return read_places


def read_places(world: World) -> Places:
    """Current places of the agents of a batch's first world."""
    scene = scene_of(world)
    layer = next((layer for layer in scene.layers if layer.name == AGENTS and layer.kind != "table"), None)
    if scene.bounds is None or layer is None:
        raise UserError(f"{world.id}: nothing says where its agents are; draw a layer called {AGENTS!r}")
    x, y = layer.columns["x"], layer.columns["y"]
    if layer.kind == "polygons":
        x, y = x.mean(axis=1), y.mean(axis=1)
    absent = layer.value("absent", False) | layer.value("dimmed", False)
    return Places(x, y, ~absent, grid_of(scene, scene.bounds))


def grid_of(scene: Scene, bounds: Bounds) -> Grid:
    """The cells of a scene's first layer of tiles; without one, square cells over its bounds.

    Example:
        >>> grid_of(Scene(None, "south", ()), (0.0, 0.0, 24.0, 12.0))
        Grid(origin=(0.0, 0.0), cell=0.5, width=48, height=24)
    """
    for layer in scene.layers:
        if layer.kind == "tiles":
            height, width = layer.columns["tile"].shape
            x, y = layer.options["origin"]
            return Grid((float(x), float(y)), float(layer.options["cell"]), width, height)
    left, top, right, bottom = bounds
    cell = max(right - left, bottom - top) / ACROSS
    return Grid(
        (left, top), cell, *(int(np.ceil(side / cell - 1e-6)) for side in (right - left, bottom - top))
    )
