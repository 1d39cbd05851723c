"""Draws a scene's tables: the caption below a picture, and whole tables for worlds without geometry."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

from interplay.core.layers import Layer
from interplay.view import palette
from interplay.view.palette import rgb
from interplay.view.pen import Pen, text_width

DOT = "   ·   "  # between parts of a caption
ROOM = 0.96  # of a picture's width that a caption may take
LEAST = 13.0  # pixels of letters below which a caption is broken into lines
SMALLEST = 8.0  # pixels of letters of a line that cannot be broken
INK, FAINT = rgb(palette.INK), rgb("#495057")


class Caption:
    """A table's first row in a strip at the bottom: ``step 412 · zone 3 of 8``, in lines that fit.

    Attributes:
        height: of the strip, pixels.
    """

    def __init__(self, layer: Layer, width: int, height: int) -> None:
        titles, cells = layer.options["titles"], [shown(cell) for cell in layer.text[0]]
        strip = max(16.0, 0.045 * min(width, height))
        usual, room = 0.72 * strip + 4, ROOM * width
        # Lines are laid out for wider cells, so that the number of lines stays the same during a video.
        wide = [
            f"{title} {'0' * (4 * math.ceil(len(cell) / 4))}"
            for title, cell in zip(titles, cells, strict=True)
        ]
        counts = _lines(wide, LEAST, room) if usual > LEAST else [len(wide)]
        parts = iter(f"{title} {cell}" for title, cell in zip(titles, cells, strict=True))
        self.lines = [DOT.join(itertools.islice(parts, count)) for count in counts]
        several = len(counts) > 1
        size = min(_fit(line, LEAST if several else usual, room) for line in self.lines)
        self.size = max(size, SMALLEST)
        self.height = (len(self.lines) + 0.4) * 1.1 * LEAST if several else strip

    def write(self, pen: Pen) -> None:
        """Writes the caption."""
        step = self.height / (len(self.lines) + 0.2)
        for number, line in enumerate(reversed(self.lines)):
            pen.write(line, pen.width / 2, pen.height - (number + 0.7) * step, self.size, FAINT, halo=False)


def _lines(parts: Sequence[str], size: float, room: float) -> list[int]:
    """Number of parts in each line, so that no line of several is wider than `room` pixels."""
    counts, line = [0], ""
    for part in parts:
        longer = line + DOT + part if line else part
        if line and text_width(longer, size) > room:
            counts, longer = [*counts, 0], part
        counts[-1] += 1
        line = longer
    return counts


def _fit(words: str, size: float, room: float) -> float:
    """The size, reduced if the text would be wider than `room` pixels."""
    return min(size, size * room / max(text_width(words, size), 1.0))


def write_tables(pen: Pen, tables: Sequence[Layer]) -> None:
    """Writes tables below each other over the whole picture, as large as fits."""
    lines = sum(layer.rows + 2 for layer in tables)
    step = min(max(28.0, 0.055 * pen.height), pen.height / (lines + 1))
    size, y = min([_fit_cells(layer, 0.85 * step, pen.width) for layer in tables], default=step), step
    for layer in tables:
        columns = layer.options["titles"]
        for row, colour in [(columns, FAINT), *((row, INK) for row in layer.text)]:
            for i, cell in enumerate(row):
                x = pen.width * (i + 0.15) / len(columns)
                pen.write(shown(cell), x, y, size, colour, (0.0, 0.5), halo=False)
            y += step
        y += step


def _fit_cells(layer: Layer, size: float, width: int) -> float:
    """The size, reduced if a cell would be wider than its column."""
    columns = layer.options["titles"]
    cells = [cell for row in (columns, *layer.text) for cell in row]
    return min([_fit(shown(cell), size, 0.9 * width / len(columns)) for cell in cells], default=size)


def shown(cell: Any) -> str:
    """A cell as text.

    Example:
        >>> shown(True), shown(0.123456), shown(None), shown(7)
        ('yes', '0.1235', '-', '7')
    """
    if cell is None:
        return "-"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)
