"""Draws what stands below a picture: the legend, from the layers that a world names, and the strip with the players."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from interplay.core.layers import Layer
from interplay.core.scene import Canvas, Scene
from interplay.view import palette
from interplay.view.palette import rgb
from interplay.view.pen import Pen, text_width

MOST: int = palette.MARKS["kinds"]  # kinds of agents
ENTRIES: int = palette.MARKS["entries"]  # of a canvas, which may have 64 layers
SHARE, STRIP = 0.4, 0.25  # of a picture's height, at most: the legend, and the strip with the players
LETTERS = 0.027  # height of the letters as a share of the picture's shorter side
SMALLEST, LEAST = 12.0, 8.0  # pixels of letters; the latter if a line would not fit otherwise
MARGINS = 2.7  # width of an entry's sign and gaps, in heights of a letter
BETWEEN, SPACED = " · ", "   ·   "  # between sides, in a line and in the strip
USUAL = 14.0  # pixels of letters from which on lines are wider than in the scene


class Entry(NamedTuple):
    """A line of a legend.

    Attributes:
        kind: disc, ring, tile, bar or line.
        colour: palette number or "#rrggbb".
        glyph: sign in a disc.
        dashed: of a ring or line; `interplay.core.scene.DOTS` for a dotted line.
        width: of a ring or line, pixels.
    """

    kind: str
    colour: int | str
    words: str
    glyph: str = ""
    dashed: bool | str = False
    width: float = 1.25


def entries(scene: Scene) -> list[Entry]:
    """The entries of a scene's legend, in the order of its layers."""
    named = (layer for layer in scene.layers if layer.options.get("legend"))
    return [entry for layer in named for entry in _of(layer)][:ENTRIES]


def _of(layer: Layer) -> Iterator[Entry]:
    legend, options = layer.options["legend"], layer.options
    if layer.kind == "tiles":
        colours = palette.TERRAIN if options["palette"] == "terrain" else options["palette"]
        for colour, name in zip(colours, legend, strict=False):
            yield Entry("tile", colour, name)
        return
    line = 2.5 if options.get("width", 0) else 1.25
    looks: dict[str, Any] = {"dashed": options.get("dashed", False), "width": line}
    if "legend.colours" in options:
        kind = {"circles": "disc", "segments": "line"}.get(layer.kind, "tile")
        for colour, words in zip(options["legend.colours"], legend, strict=False):
            yield Entry(kind, colour, words, **(looks if kind == "line" else {}))
    elif layer.kind == "segments" or not options["fill"]:
        kind = "line" if layer.kind == "segments" else "ring"
        words = legend if isinstance(legend, str) else ", ".join(legend)
        yield Entry(kind, options.get("colour", palette.INK), words, **looks)
    elif isinstance(legend, str):
        kind = "disc" if layer.kind == "circles" else "tile"
        yield Entry(kind, options.get("colour", palette.FAINT), legend, options.get("glyph", ""))
    else:
        for number, words in enumerate(legend[:MOST]):
            yield Entry("disc", number, words, options.get("glyph", ""))
    bars = layer.drawn_bars()
    for place, name in enumerate(bars):
        yield Entry("bar", palette.bar_colour(place, len(bars), 1.0), name)
    if len(bars) == 1:  # its colour shows how full it is
        yield Entry("bar", palette.bar_colour(0, 1, 0.5), f"{bars[0]}, half or less")
    for place, name in enumerate(options.get("marks", ())):
        yield Entry("ring", palette.INK, name, dashed=place % 2 == 0)


def _fitting(size: float, found: list[Entry], width: int) -> float:
    """The size of letters, reduced if an entry would be wider than the picture."""
    longest = max((text_width(entry.words, size) / size for entry in found), default=0.0)
    return max(min(size, width / (longest + MARGINS)), LEAST)


def _cut(words: str, size: float, room: float) -> str:
    """Words cut to `room` pixels, with three dots at the end."""
    if text_width(words, size) <= room:
        return words
    kept = words
    while kept and text_width(kept + "...", size) > room:
        kept = kept[:-1]
    return kept + "..."


class Legend:
    """A legend laid out for pictures of one size; its letters grow with them.

    Args:
        scene: with named layers.
        width: of the picture, pixels.
        height: of the picture; None = no limit.

    Attributes:
        height: pixels; 0 without entries or room.
    """

    def __init__(self, scene: Scene, width: int, height: int | None = None) -> None:
        shorter = width if height is None else min(width, height)
        found = entries(scene)
        self.size = _fitting(max(LETTERS * shorter, SMALLEST), found, width)  # of the letters, pixels
        self.lines: list[list[tuple[float, Entry]]] = [[]]
        gap, at = 0.6 * self.size, 0.6 * self.size
        for entry in found:
            needed = 2.0 * self.size + text_width(entry.words, self.size) + gap
            if at + needed > width and self.lines[-1]:
                self.lines.append([])
                at = gap
            self.lines[-1].append((at, entry))
            at += needed
        self.height = round(1.5 * self.size * len(self.lines) + 0.4 * self.size) if self.lines[0] else 0
        if height is not None and self.height > SHARE * height:
            self.height = 0

    def scene(self, width: int, height: int, top: float) -> Scene:
        """The legend as a scene in pixels of the picture, y down, from `top` on."""
        canvas, size = Canvas((0, 0, width, height)), self.size
        left, middle, words = [], [], []
        for row, line in enumerate(self.lines):
            y = top + 1.5 * size * (row + 0.6)
            for column, (x, entry) in enumerate(line):
                self._draw(canvas, f"{row} {column}", x + 0.7 * size, y, entry)
                left.append(x + 1.7 * size)
                middle.append(y)
                words.append(_cut(entry.words, size, width - x - 1.7 * size))
        canvas.labels("words", left, middle, words, size=size, align="left", halo=False)
        return canvas.scene()

    def _draw(self, canvas: Canvas, name: str, x: float, y: float, entry: Entry) -> None:
        size, colour = self.size, entry.colour
        width = entry.width * max(size / USUAL, 1.0)
        if entry.kind == "disc":
            canvas.circles(name, [x], [y], 0.5 * size, colour=colour, glyph=entry.glyph)
        elif entry.kind == "ring":
            ground: dict[str, Any] = {"colour": palette.FAINT, "outline": False, "opacity": 0.5}
            canvas.circles(f"{name} ground", [x], [y], 0.55 * size, **ground)
            ring: dict[str, Any] = {
                "colour": colour,
                "fill": False,
                "dashed": bool(entry.dashed),
                "width": width,
            }
            canvas.circles(name, [x], [y], 0.45 * size, **ring)
        elif entry.kind == "line":
            ends = [x - 0.7 * size], [y], [x + 0.7 * size], [y]
            canvas.segments(name, *ends, colour, dashed=entry.dashed, width=width)
        else:
            half = (0.7 * size, 0.22 * size) if entry.kind == "bar" else (0.5 * size, 0.5 * size)
            canvas.boxes(name, [x], [y], *half, colour=colour, width=1.0)


@lru_cache(maxsize=16)
def strip_of(line: str, width: int, height: int) -> np.ndarray:
    """The strip ``red: runs/a at 300,000, greedy · blue: attack_move`` below a picture of `width` x `height` pixels, (rows, width, 3) uint8; no rows without text or room."""
    for size in (max(LETTERS * min(width, height), SMALLEST), LEAST):
        lines = _wrapped(line, width - 1.2 * size, size)
        rows = round(1.4 * size * len(lines) + 0.4 * size) if line else 0
        if rows <= STRIP * height:
            break
    else:
        rows = 0
    if not rows:
        return np.zeros((0, width, 3), np.uint8)
    pen = Pen(width, rows, rgb(palette.PAGE), 1)
    for number, words in enumerate(lines):
        y = 1.4 * size * (number + 0.6)
        pen.write(words, 0.6 * size, y, size, rgb(palette.INK), (0.0, 0.5), halo=False)
    return pen.picture()


def _wrapped(line: str, room: float, size: float) -> list[str]:
    """Breaks the line into parts that fit, between sides if possible, else between words."""
    lines = [""]
    for number, side in enumerate(line.split(BETWEEN)):
        whole = f"{lines[-1]}{SPACED if number else ''}{side}"
        if text_width(whole, size) <= room:
            lines[-1] = whole
            continue
        lines.append("")
        for word in side.split():
            longer = f"{lines[-1]} {word}".strip()
            if text_width(longer, size) > room and lines[-1]:
                lines.append("")
                longer = word
            lines[-1] = longer
    return [one for one in lines if one]
