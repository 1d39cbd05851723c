"""The text of a scene: the caption below a picture, and tables for worlds without geometry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from interplay.core.layers import Layer
from interplay.view import palette
from interplay.view.palette import rgb
from interplay.view.pen import Pen

INK, FAINT = rgb(palette.INK), rgb("#495057")


def write_caption(pen: Pen, layer: Layer, strip: float) -> None:
    """Writes a table's first row into the strip at the bottom: ``step 412 · zone 3 of 8``."""
    words = "   ·   ".join(
        f"{title} {shown(cell)}" for title, cell in zip(layer.options["titles"], layer.text[0], strict=True)
    )
    size = fitting(0.72 * strip + 4, len(words), pen.width)
    pen.write(words, pen.width / 2, pen.height - 0.6 * strip, size, FAINT, halo=False)


def write_tables(pen: Pen, tables: Sequence[Layer]) -> None:
    """Writes tables below each other over the whole picture."""
    lines = sum(layer.rows + 2 for layer in tables)
    longest = max((len(layer.options["titles"]) * 10 for layer in tables), default=1)
    step = min(28.0, pen.height / (lines + 1))
    size, y = fitting(0.85 * step, longest, pen.width), step
    for layer in tables:
        columns = layer.options["titles"]
        for row, colour in [(columns, FAINT), *((row, INK) for row in layer.text)]:
            for i, cell in enumerate(row):
                pen.write(
                    shown(cell),
                    pen.width * (i + 0.15) / len(columns),
                    y,
                    size,
                    colour,
                    (0.0, 0.5),
                    halo=False,
                )
            y += step
        y += step


def fitting(size: float, characters: int, width: float) -> float:
    """The font size, made smaller where `characters` of it would not fit into `width` pixels."""
    return min(size, 2.2 * width / max(characters, 1))


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
