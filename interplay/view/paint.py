"""Paints the layers of a scene, one function per kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from interplay.core.layers import Layer
from interplay.core.scene import ALIGNMENTS
from interplay.view import palette
from interplay.view.cones import Eye, blockers, cone
from interplay.view.palette import MARKS, RGB, mix, rgb
from interplay.view.pen import Pen

INK, PAPER, FAINT = rgb(palette.INK), rgb(palette.PAPER), rgb(palette.FAINT)
GLYPH_FROM: float = MARKS["glyph_from"]  # pixels of radius from which on discs have signs
ROOM = 200.0  # pixels around a disc for its bars and label
LEAST: float = MARKS["least_radius"]  # pixels of radius of agents at least, on large maps
LABEL_FROM: float = MARKS["label_from"]  # pixels of radius from which on discs have bars and labels


def paint(pen: Pen, layer: Layer, layers: Sequence[Layer] = ()) -> None:
    """Paints one layer of the scene's `layers`; tables are not painted here."""
    if "sight.chords" in layer.options:
        _paint_sight(pen, layer, layers)
    painter = PAINTERS.get(layer.kind)
    if painter is not None:
        painter(pen, layer)


def paint_tiles(pen: Pen, layer: Layer) -> None:
    """The ground."""
    x, y = layer.options["origin"]
    colours = palette.tile_colours(layer.options["palette"])
    pen.tiles(colours[layer.columns["tile"]], x, y, layer.options["cell"])


def paint_circles(pen: Pen, layer: Layer) -> None:
    """The discs, then bars and labels, so that no disc hides a neighbour's bar."""
    rows = _in_view(pen, layer)
    for row in rows:
        _circle(pen, layer, row)
    for row in rows:
        if not _dimmed(layer, row):
            _bars(pen, layer, row)
            _label(pen, layer, row)


def _paint_sight(pen: Pen, layer: Layer, layers: Sequence[Layer]) -> None:
    """Cones of sight, cut at the obstacles among `layers`; painted before the discs."""
    blocked, chords = blockers(layer, layers), layer.options["sight.chords"]
    parts = ("x", "y", "angle", "sight.depth", "sight.angle")
    with pen.within_bounds():
        for row in _drawn(layer):
            if not _dimmed(layer, row):
                eye = Eye(*(float(layer.value(part)[row]) for part in parts))
                seen = cone(eye, chords, blocked)
                pen.polygon(seen, _colour(layer, row), 0.10)
                pen.outline(seen, _colour(layer, row), 1.0, 0.25)


def paint_boxes(pen: Pen, layer: Layer) -> None:
    """Oriented rectangles; those with the glyph ``crate`` have boards."""
    half_x, half_y, angle = (layer.value(key) for key in ("half_x", "half_y", "angle"))
    for row in _drawn(layer):
        centre = np.array([layer.columns["x"][row], layer.columns["y"][row]])
        c, s = np.cos(angle[row]), np.sin(angle[row])
        half = np.array([half_x[row], half_y[row]])
        corners = centre + np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * half @ np.array([[c, s], [-s, c]])
        _shape(pen, layer, row, corners)
        if layer.options.get("glyph") == "crate":
            _crate(pen, layer, row, centre, corners)


def paint_polygons(pen: Pen, layer: Layer) -> None:
    """Filled or outlined polygons."""
    for row in _drawn(layer):
        _shape(pen, layer, row, np.stack([layer.columns["x"][row], layer.columns["y"][row]], axis=1))


def paint_segments(pen: Pen, layer: Layer) -> None:
    """Lines."""
    c, width = layer.columns, pen.pixels(layer.options["width"])
    for row in _drawn(layer):
        points = np.array([[c["x0"][row], c["y0"][row]], [c["x1"][row], c["y1"][row]]])
        pen.path(points, _colour(layer, row), width, _opacity(layer, row), layer.options["dashed"])


def paint_labels(pen: Pen, layer: Layer) -> None:
    """Free texts."""
    size, anchor = layer.value("size"), (ALIGNMENTS[layer.options["align"]], 0.5)
    for row in _drawn(layer):
        x, y = pen.pixel(layer.columns["x"][row], layer.columns["y"][row])
        height = float(size[row]) * pen.scale
        pen.write(layer.text[row], x, y, height, _colour(layer, row), anchor, layer.options["halo"])


PAINTERS: dict[str, Callable[[Pen, Layer], None]] = {
    "tiles": paint_tiles,
    "circles": paint_circles,
    "boxes": paint_boxes,
    "polygons": paint_polygons,
    "segments": paint_segments,
    "labels": paint_labels,
}


def _drawn(layer: Layer) -> np.ndarray:
    absent = layer.columns.get("absent")
    return np.arange(layer.rows) if absent is None else np.flatnonzero(~absent)


def _in_view(pen: Pen, layer: Layer) -> np.ndarray:
    """Rows of circles that reach into the picture with their bars and labels."""
    rows = _drawn(layer)
    x, y = pen.pixel(layer.columns["x"][rows], layer.columns["y"][rows])
    room = layer.value("radius")[rows] * pen.scale + ROOM
    return rows[(x > -room) & (x < pen.width + room) & (y > -room) & (y < pen.height + room)]


def _dimmed(layer: Layer, row: int) -> bool:
    return "dimmed" in layer.columns and bool(layer.columns["dimmed"][row])


def _colour(layer: Layer, row: int) -> RGB:
    if "rgb" in layer.columns:
        red, green, blue = (int(part) for part in layer.columns["rgb"][row])
        return red, green, blue
    if "colour" in layer.columns:
        return rgb(int(layer.columns["colour"][row]))
    return rgb(layer.options["colour"])


def _opacity(layer: Layer, row: int) -> float:
    return float(layer.options["opacity"]) * (0.3 if _dimmed(layer, row) else 1.0)


def _shape(pen: Pen, layer: Layer, row: int, corners: np.ndarray) -> None:
    colour, opacity = _colour(layer, row), _opacity(layer, row)
    width = pen.pixels(layer.options["width"])
    if layer.options["fill"]:
        pen.polygon(corners, colour, opacity)
        colour = mix(colour, INK, 0.45)
    if layer.options["fill"] is False or layer.options["width"] > 0:
        pen.outline(corners, colour, width, opacity)


def _crate(pen: Pen, layer: Layer, row: int, centre: np.ndarray, corners: np.ndarray) -> None:
    colour, opacity = _colour(layer, row), _opacity(layer, row)
    inner = centre + (corners - centre) * 0.78
    board = mix(colour, INK, 0.22)
    pen.path(inner[[0, 2]], board, 1.0, opacity)
    pen.path(inner[[1, 3]], board, 1.0, opacity)
    pen.outline(inner, board, 1.0, opacity)
    pen.outline(corners, mix(colour, INK, 0.45), 1.25, opacity)


def _circle(pen: Pen, layer: Layer, row: int) -> None:
    x, y, radius = (float(layer.value(key)[row]) for key in ("x", "y", "radius"))
    colour, opacity = _colour(layer, row), _opacity(layer, row)
    if layer.name == "agents":
        radius = max(radius, LEAST / pen.scale)
    size = radius * pen.scale
    if not layer.options["fill"]:
        pen.ring(x, y, radius, colour, pen.pixels(layer.options["width"]), opacity, layer.options["dashed"])
        return
    if _dimmed(layer, row):
        pen.ring(x, y, radius, FAINT, 1.5, 0.8)
        _cross(pen, x, y, 0.45 * radius, FAINT, 0.25 * size, 0.8, np.pi / 4)
        return
    pen.disc(x, y, radius, colour, opacity)
    if layer.options["outline"] and size >= GLYPH_FROM / 2 and opacity == 1.0:
        pen.ring(x, y, radius, mix(colour, INK, 0.55), min(max(1.0, 0.09 * size), 3.0))
    angle = layer.value("angle")
    if size >= GLYPH_FROM:
        if angle is not None:
            _heading(pen, x, y, radius, float(angle[row]))
        _glyph(pen, layer, row, x, y, radius)
        _marks(pen, layer, row, x, y, radius)


def _heading(pen: Pen, x: float, y: float, radius: float, angle: float) -> None:
    heading = np.array([np.cos(angle), np.sin(angle)]) * radius
    points = np.array([x, y]) + np.array([0.5 * heading, 0.95 * heading])
    pen.path(points, PAPER, max(1.5, 0.2 * radius * pen.scale))


def _glyph(pen: Pen, layer: Layer, row: int, x: float, y: float, radius: float) -> None:
    glyph, sign = layer.options["glyph"], palette.sign_on(_colour(layer, row))
    if glyph == "team":
        number = layer.columns["colour"][row] if "colour" in layer.columns else layer.options.get("colour", 0)
        glyph = palette.shape_of(int(number)) if isinstance(number, int | np.integer) else "disc"
    if glyph == "plus":
        _cross(pen, x, y, 0.55 * radius, sign, 0.34 * radius * pen.scale)
    elif glyph == "disc":
        pen.disc(x, y, 0.3 * radius, sign)
    elif glyph in palette.CORNERS:
        count, first = palette.CORNERS[glyph]
        turn = first + 2 * np.pi * np.arange(count) / count
        points = np.array([x, y]) + 0.42 * radius * np.stack([np.cos(turn), pen.flip * -np.sin(turn)], axis=1)
        pen.polygon(points, sign)


def _cross(
    pen: Pen,
    x: float,
    y: float,
    arm: float,
    colour: RGB,
    width: float,
    opacity: float = 1.0,
    turn: float = 0.0,
) -> None:
    for angle in (turn, turn + np.pi / 2):
        way = np.array([np.cos(angle), np.sin(angle)]) * arm
        pen.path(np.array([x, y]) + np.array([-way, way]), colour, width, opacity)


def _marks(pen: Pen, layer: Layer, row: int, x: float, y: float, radius: float) -> None:
    # The first mark is a ring around the disc, further ones lie outside it, dashed and solid in turn.
    for i, name in enumerate(layer.options.get("marks", ())):
        if layer.columns[f"mark.{name}"][row]:
            pen.ring(x, y, radius * (1.3 + 0.25 * i), INK, 1.25, 0.9, dashed=i % 2 == 0)


def _bars(pen: Pen, layer: Layer, row: int) -> None:
    radius = float(layer.value("radius")[row]) * pen.scale
    names = layer.drawn_bars()
    if radius < LABEL_FROM or not names:
        return
    x, y = pen.pixel(layer.columns["x"][row], layer.columns["y"][row])
    several = len(names) > 1  # these stand on each other, and are thinner
    width, height = max(22.0, 2.6 * radius), max(3.0, 0.3 * radius) if several else max(3.5, 0.42 * radius)
    top = y - 1.45 * radius - height
    for i, name in enumerate(names):
        full = float(layer.value(f"bar.{name}.full")[row])
        share = float(layer.columns[f"bar.{name}"][row]) / full if full > 0 else 0.0
        own = rgb(palette.bar_colour(i, len(names), share))
        _bar(pen, x - width / 2, top - (len(names) - 1 - i) * (height + 1), width, height, share, own)


def _bar(pen: Pen, left: float, top: float, width: float, height: float, share: float, own: RGB) -> None:
    pen.rectangle(left - 1, top - 1, width + 2, height + 2, INK)
    pen.rectangle(left, top, width, height, rgb(palette.BAR_EMPTY))
    pen.rectangle(left, top, width * min(max(share, 0.0), 1.0), height, own)
    # The excess over the full value is drawn on top in another colour, up to the whole width.
    pen.rectangle(left, top, width * min(max(share - 1.0, 0.0), 1.0), height, rgb(palette.BAR_MORE))


def _label(pen: Pen, layer: Layer, row: int) -> None:
    radius = float(layer.value("radius")[row]) * pen.scale
    if layer.text and radius >= LABEL_FROM:
        x, y = pen.pixel(layer.columns["x"][row], layer.columns["y"][row])
        pen.write(layer.text[row], x + 1.25 * radius + 2, y, 1.9 * radius + 3, INK, anchor=(0.0, 0.5))
