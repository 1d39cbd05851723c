"""Draws a scene as an array or a PNG file, in memory and without a display. Needs the extra ``render``."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np

from interplay.core.errors import UserError
from interplay.core.scene import Scene, scene_of
from interplay.core.world import World
from interplay.view import palette
from interplay.view.extras import load_pygame
from interplay.view.legend import Legend
from interplay.view.output import write_picture
from interplay.view.paint import paint
from interplay.view.palette import rgb
from interplay.view.pen import Pen
from interplay.view.tables import Caption, write_tables

SMALLEST, LARGEST = 16, 4096  # pixels a side
SHORTER = 512  # pixels of the shorter side by default
TILE = 14  # pixels of a tile from which on bars are drawn
MARGIN = 0.015  # of the shorter side


def render(
    scene: Scene,
    size: int | Sequence[int] = 512,
    sharpness: int | None = None,
    legend: bool = False,
    within: bool = False,
) -> np.ndarray:
    """Draws a scene.

    Args:
        scene: from `interplay.core.scene.scene_of` or a `Canvas`.
        size: pixels, one number for a square or (width, height), 16 to 4096 a side.
        sharpness: 1, 2 or 4 sub-pixels per pixel along each axis; None = 4, or 2 for sides above 1024 pixels. A 512 x 512
            picture with 2 takes about half the time of one with 4.
        legend: draws a legend below, if the world names its things and there is room.
        within: clips to the scene's bounds, for a part of a world.

    Returns:
        (height, width, 3) uint8, red, green, blue.

    Example:
        >>> from interplay.core.scene import Canvas
        >>> canvas = Canvas(bounds=(0, 0, 4, 3))
        >>> canvas.circles("agents", [1.0, 3.0], [1.0, 2.0], radius=0.5, colour=[0, 1])
        >>> render(canvas.scene(), size=(64, 48)).shape
        (48, 64, 3)
    """
    width, height = picture_size(size)
    if sharpness is None:
        sharpness = 4 if max(width, height) <= 1024 else 2
    if sharpness not in (1, 2, 4):
        raise UserError(f"sharpness = {sharpness}; choose 1, 2 or 4")
    if scene.picture is not None:
        return _fitted(scene.picture, width, height)
    pen = Pen(width, height, rgb(palette.PAGE), sharpness)
    tables = [layer for layer in scene.layers if layer.kind == "table"]
    if scene.bounds is None:
        write_tables(pen, tables)
        return pen.picture()
    caption = [layer for layer in tables if layer.options["caption"] and layer.rows]
    margin = MARGIN * min(width, height)
    words = Caption(caption[0], width, height) if caption else None
    strip = Legend(scene, width, height) if legend else None
    below = (words.height if words else 0.0) + (strip.height if strip else 0)
    pen.look_at(scene.bounds, scene.up, (margin, margin, width - 2 * margin, height - 2 * margin - below))
    with pen.within_bounds() if within else nullcontext():
        for layer in scene.layers:
            paint(pen, layer, scene.layers)
    if within:
        pen.forget_texts_outside()
    if strip is not None and strip.height:
        pixels = strip.scene(width, height, height - below)
        pen.look_at((0, 0, width, height), "south", (0, 0, width, height))
        for layer in pixels.layers:
            paint(pen, layer)
    if words is not None:
        words.write(pen)
    return pen.picture()


def render_world(world: World, index: int = 0, size: int | Sequence[int] = 512) -> np.ndarray:
    """Draws the current state of world `index` of a batch; see `render`."""
    return render(scene_of(world, index), size)


def save_png(picture: np.ndarray, path: str | Path) -> Path:
    """Writes a (height, width, 3) uint8 picture to a ``.png`` in an existing folder, atomically."""
    pygame = load_pygame()
    surface = pygame.surfarray.make_surface(np.ascontiguousarray(picture.swapaxes(0, 1)))
    return write_picture(path, (".png",), lambda memory: pygame.image.save(surface, memory, "picture.png"))


def fitting_size(scene: Scene, legend: bool = False) -> tuple[int, int]:
    """(width, height) in the proportions of a scene: 512 pixels for the shorter side, at most 1024 for the other.

    Maps of many tiles get 14 pixels a tile, up to 1024 for the shorter side, so that bars can be read; the legend comes
    below that. A finished picture keeps its size, or a whole multiple of it close to 512.

    Example:
        >>> from interplay.core.scene import Canvas
        >>> fitting_size(Canvas(bounds=(0, 0, 3, 2)).scene()), fitting_size(Canvas().scene())
        ((768, 512), (512, 512))
    """
    if scene.picture is not None:
        height, width = scene.picture.shape[:2]
        times = max(SHORTER // min(height, width), 1)  # whole pixels, so that small pictures stay sharp
        scale = min(times, LARGEST / max(height, width))
        return max(round(width * scale), SMALLEST), max(round(height * scale), SMALLEST)
    if scene.bounds is None:
        return SHORTER, SHORTER
    x0, y0, x1, y1 = scene.bounds
    across = min(max((x1 - x0) / (y1 - y0), 0.5), 2.0)
    ground = next((layer for layer in scene.layers if layer.kind == "tiles"), None)
    tiles = 0.0 if ground is None else min(x1 - x0, y1 - y0) / ground.options["cell"]
    shorter = min(max(SHORTER, TILE * tiles), 2 * SHORTER)
    width, height = round(shorter * max(across, 1.0)), round(shorter * max(1 / across, 1.0))
    return width, height + (_legend_height(scene, width, height) if legend else 0)


def _legend_height(scene: Scene, width: int, height: int) -> int:
    """Height of the legend in pixels; iterated, as its letters grow with the picture's height."""
    below = 0
    for _ in range(4):
        below = Legend(scene, width, height + below).height
    return below


def _fitted(picture: np.ndarray, width: int, height: int) -> np.ndarray:
    """Fits a finished picture into a size, undistorted; the rest has the colour of the page."""
    rows, columns = picture.shape[:2]
    if (rows, columns) == (height, width):
        return picture.copy()
    pygame = load_pygame()
    scale = min(width / columns, height / rows)
    size = max(round(columns * scale), 1), max(round(rows * scale), 1)
    surface = pygame.surfarray.make_surface(np.ascontiguousarray(picture.swapaxes(0, 1)))
    scaled = (pygame.transform.scale if scale >= 1 else pygame.transform.smoothscale)(surface, size)
    page = np.full((height, width, 3), rgb(palette.PAGE), np.uint8)
    x, y = (width - size[0]) // 2, (height - size[1]) // 2
    page[y : y + size[1], x : x + size[0]] = pygame.surfarray.array3d(scaled).swapaxes(0, 1)
    return page


def picture_size(size: int | Sequence[int] | Any) -> tuple[int, int]:
    """(width, height) of a size given as one number or two."""
    sides = tuple(size) if isinstance(size, tuple | list) else (size, size)
    whole = len(sides) == 2 and all(isinstance(side, int | np.integer) for side in sides)
    if not whole or not all(SMALLEST <= side <= LARGEST for side in sides):
        raise UserError(
            f"size = {size}; pass pixels from {SMALLEST} to {LARGEST}, one number or (width, height)"
        )
    return int(sides[0]), int(sides[1])
