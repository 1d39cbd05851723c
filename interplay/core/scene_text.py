"""A scene in characters, for a terminal, a log or a playthrough."""

from __future__ import annotations

import numpy as np

from interplay.core.layers import Layer
from interplay.core.scene import Scene

_POINTS = ("circles", "boxes")
_LARGE = 0.15  # of the scene's width; larger circles and boxes are ground, not things


def scene_lines(scene: Scene, columns: int = 50, rows: int = 25) -> list[str]:
    """Draws the centres of circles and boxes as characters, tables as lines.

    A scene on tiles, up to 100 x 50 of them, is drawn with one character for each, its polygons too.

    Rows of a layer called ``agents`` are their numbers 0-9, a, b, ...; rows of other layers the layer's first letter;
    later layers cover earlier ones. Floors, zones and everything else larger than a sixth of the scene are left out.

    Returns:
        Lines without trailing blanks; only the tables if the scene has no bounds.

    Example:
        >>> from interplay.core.scene import Canvas
        >>> canvas = Canvas(bounds=(0, 0, 4, 2))
        >>> canvas.circles("agents", [0.5, 3.5], [0.5, 1.5], radius=0.2)
        >>> print("\\n".join(scene_lines(canvas.scene(), columns=4, rows=2)))
        +----+
        |0   |
        |   1|
        +----+
    """
    lines = [] if scene.bounds is None else _drawing(scene, columns, rows)
    for layer in scene.layers:
        if layer.kind == "table":
            lines += ["  ".join(str(cell) for cell in row) for row in layer.text]
    return [line.rstrip() for line in lines]


def _drawing(scene: Scene, columns: int, rows: int) -> list[str]:
    assert scene.bounds is not None
    x0, y0, x1, y1 = scene.bounds
    board = next((layer.columns["tile"].shape for layer in scene.layers if layer.kind == "tiles"), None)
    on_tiles = board is not None and board[0] <= 50 and board[1] <= 100
    if on_tiles and board is not None:
        rows, columns = board
    cells = np.full((rows, columns), " ")
    for layer in scene.layers:
        if layer.kind not in _POINTS and not (on_tiles and layer.kind == "polygons"):
            continue
        absent = np.broadcast_to(layer.value("absent", False), (layer.rows,)).astype(bool)
        shown = ~absent if on_tiles else ~absent & (_size(layer) < _LARGE * (x1 - x0))
        xs, ys = (_middles(layer.columns[name]) for name in ("x", "y"))
        for i in np.flatnonzero(shown):
            column = int((xs[i] - x0) / (x1 - x0) * columns)
            row = int((ys[i] - y0) / (y1 - y0) * rows)
            row = rows - 1 - row if scene.up == "north" else row
            if 0 <= column < columns and 0 <= row < rows:
                cells[row, column] = _letter(layer, int(i))
    edge = "+" + "-" * columns + "+"
    return [edge, *("|" + "".join(row) + "|" for row in cells), edge]


def _middles(places: np.ndarray) -> np.ndarray:
    """Places (N,): the input itself, or the middles of the (N, V) corners of polygons, possibly none."""
    return places if places.ndim == 1 else np.asarray(places.mean(axis=1))


def _size(layer: Layer) -> np.ndarray:
    if layer.kind == "circles":
        return np.asarray(layer.value("radius", 0.0))
    return np.maximum(layer.value("half_x", 0.0), layer.value("half_y", 0.0))


def _letter(layer: Layer, row: int) -> str:
    if layer.name == "agents":
        return "0123456789abcdefghijklmnopqrstuvwxyz"[row % 36]
    return layer.name[0].upper()
