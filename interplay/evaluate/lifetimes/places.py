"""Places of agents on a grid over the picture: visit counts, and values of a network at every place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from interplay.core.errors import UserError
from interplay.core.scene import Bounds, Scene, scene_of
from interplay.core.world import World
from interplay.evaluate.lifetimes.tick import Array

AGENTS = "agents"  # the layer whose row i is slot i
ACROSS = 48  # cells along the longer side of a world without tiles
Expects = Callable[[Mapping[str, Array]], Array]  # observation name -> (N, ...): values (N,)
BATCH = 256  # places evaluated together; fewer are padded, so that XLA compiles one shape


class Grid(NamedTuple):
    """Cells over a world, in its units: corner of the first cell, side of a cell, columns, rows."""

    origin: tuple[float, float]
    cell: float
    width: int
    height: int


class Places(NamedTuple):
    """Drawn places of the first world's agents: x and y (A,), drawn at all (A,) bool, the grid of counts.

    `past`: the world was over before this tick; it stands still while others of its batch go on.
    """

    x: Array
    y: Array
    there: Array
    grid: Grid
    past: bool


class PlaceRecorder:
    """Counts for each slot the cell in which its agent is drawn, tick by tick until its world is over.

    Attributes:
        counts: (A, H, L) int32; None before the first tick.
        grid: of the first tick.
        ticks: recorded, after the first one.
    """

    def __init__(self) -> None:
        self.counts: Array | None = None
        self.grid: Grid | None = None

    def add(self, places: Places) -> None:
        """Adds one tick."""
        if self.counts is None or self.grid != places.grid or len(self.counts) != len(places.x):
            self.grid = places.grid  # another episode may show another part of the world
            self.counts = np.zeros((len(places.x), self.grid.height, self.grid.width), np.int32)
            self.ticks = 0
        elif not places.past:
            self.ticks += 1
        if places.past:
            return
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
    step = world.timestep
    past = bool(step.over[0] and not (step.terminated[0] | step.truncated[0]).any())
    return Places(x, y, ~absent, grid_of(scene, scene.bounds), past)


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


def standing_reader(world: World) -> Callable[[World], Places]:
    """Returns `read_places` for a world that can move agents by `World.stand_at`."""
    if type(world).stand_at is World.stand_at:
        raise UserError(
            f"{world.id}: it does not say what an agent would see elsewhere; write its stand_at(world, slot, x, y)"
        )
    return read_places


def values_elsewhere(world: World, slot: int, expects: Expects) -> tuple[Array, Grid]:
    """Values of one agent of the first world at the middle of each grid cell; in its own cell, at its own place.

    `World.stand_at` moves the agent to each place in turn; afterwards the world's state is restored.

    Returns:
        (H, L) float64, NaN where it cannot stand or is not alive; and the grid.
    """
    places = read_places(world)
    grid = places.grid
    (left, top), cell, width, height = grid
    x = np.tile(left + cell * (np.arange(width) + 0.5), height)
    y = np.repeat(top + cell * (np.arange(height) + 0.5), width)
    own = int((places.y[slot] - top) // cell) * width + int((places.x[slot] - left) // cell)
    found = np.full(height * width, np.nan)
    kind = next(kind for kind in world.kinds if slot in kind.slots)
    column = kind.slots.index(slot)
    kept = world.save()
    try:
        standing, seen = [], []
        for cell_number in range(len(x)):
            # Its own place keeps the observation of the step, which observing again may not reproduce.
            stays = cell_number == own and bool(places.there[slot])
            if stays:
                world.load(kept)
            if stays or world.stand_at(0, slot, float(x[cell_number]), float(y[cell_number])):
                fields = world.by_kind(world.timestep.observation)[kind.name]
                standing.append(cell_number)
                seen.append({name: np.array(array[0, column]) for name, array in fields.items()})
        for start in range(0, len(seen), BATCH):
            rows = seen[start : start + BATCH]
            filled = rows + [rows[0]] * (BATCH - len(rows))
            batch = {name: np.stack([row[name] for row in filled]) for name in rows[0]}
            found[standing[start : start + BATCH]] = expects(batch)[: len(rows)]
    finally:
        world.load(kept)
    return found.reshape(height, width), grid
