"""A direction field as a picture: which way a policy goes from every cell of a map; needs the extra ``plot`` (matplotlib)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from interplay.core.errors import UserError
from interplay.view.extras import load
from interplay.view.output import check_output, save_figure
from interplay.view.palette import FAINT, FLOOR, INK, POPULATIONS

_MARKS = ("o", "D", "^", "v")
_SHORTEST = 0.05  # cells; a shorter move is drawn as a dot
_LENGTH = 0.85  # of the longest arrow, in cells


def plot_field(
    moves: np.ndarray,
    walls: np.ndarray,
    out: str | Path,
    marks: Mapping[str, tuple[int, int]] | None = None,
    title: str = "",
) -> Path:
    """Draws the map and, in every cell, the move that a policy makes there.

    Args:
        moves: (R, C, 2) rows down and columns right; NaN where there is nothing to draw.
        walls: (R, C) bool.
        out: a ``.png`` in a folder that exists.
        marks: label -> cell, for example of the start and the target; at most four.
        title: above the picture.

    Returns:
        The path that was written.

    Raises:
        UserError: for arrays that do not fit together, too many marks, an unwritable file, or if matplotlib is not installed.
    """
    target = check_output(out, (".png",))
    walls, marks = np.asarray(walls, bool), marks or {}
    if np.shape(moves) != (*walls.shape, 2):
        raise UserError(f"moves have shape {np.shape(moves)}, the map needs {(*walls.shape, 2)}")
    if len(marks) > len(_MARKS):
        raise UserError(f"{len(marks)} marks; there are shapes for {len(_MARKS)}, leave some out")
    matplotlib = load("matplotlib.figure", "plot", "direction fields")
    rows, columns = walls.shape
    figure = matplotlib.Figure(
        figsize=(0.36 * columns + 0.6, 0.36 * rows + 1.0), dpi=110, layout="constrained"
    )
    axes = figure.subplots()
    figure.suptitle(title, fontsize=11)
    _draw_map(axes, walls)
    for (label, (row, column)), shape, colour in zip(marks.items(), _MARKS, POPULATIONS[1:], strict=False):
        axes.plot(
            column,
            row,
            shape,
            color=colour,
            markersize=13,
            markeredgecolor=INK,
            linestyle="",
            zorder=1,
            label=label,
        )
    _draw_moves(axes, np.asarray(moves, float))
    if marks:
        axes.legend(
            loc="upper center", bbox_to_anchor=(0.5, -0.01), ncols=len(marks), frameon=False, fontsize=9
        )
    return save_figure(figure, target)


def _draw_map(axes: Any, walls: np.ndarray) -> None:
    rows, columns = walls.shape
    colours = np.where(walls[..., None], _rgb(FAINT), _rgb(FLOOR))
    axes.imshow(colours, extent=(-0.5, columns - 0.5, rows - 0.5, -0.5))
    axes.set(xticks=[], yticks=[], xlim=(-0.5, columns - 0.5), ylim=(rows - 0.5, -0.5))


def _draw_moves(axes: Any, moves: np.ndarray) -> None:
    """Arrows around the middle of their cells; dots for moves of no length."""
    length = np.hypot(moves[..., 0], moves[..., 1])
    known = np.isfinite(length)
    still = known & (length < _SHORTEST)
    axes.plot(*np.nonzero(still)[::-1], ".", color=INK, markersize=4)
    row, column = np.nonzero(known & ~still)
    if not len(row):
        return
    longest = max(1.0, float(np.nanmax(length)))
    down, right = (moves[row, column] * (_LENGTH / longest)).T
    axes.quiver(
        column, row, right, down, color=INK, pivot="mid", angles="xy", scale_units="xy", scale=1, width=0.004,
        headwidth=4.5, headlength=4.5, headaxislength=4, zorder=3,
    )  # fmt: skip


def _rgb(colour: str) -> np.ndarray:
    return np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
