"""Draws square matrices of players."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

_WRITTEN = 14  # most players of a matrix with numbers in its cells
_LUMINANCE = np.array([0.299, 0.587, 0.114])


def draw_matrix(
    axes: Any,
    values: np.ndarray,
    names: Sequence[str],
    title: str,
    colours: str = "RdBu",
    highest: float = 100.0,
    form: str = ".0f",
) -> Any:
    """Draws numbers from 0 to `highest` as coloured cells, and returns the image; cells of NaN are hatched."""
    image = axes.imshow(values, cmap=colours, vmin=0.0, vmax=highest, aspect="auto")
    axes.patch.set(facecolor="#e9ecef", edgecolor="#adb5bd", hatch="////", linewidth=0)
    size = 10 if len(names) <= 8 else 8 if len(names) <= 30 else 6
    if len(names) <= _WRITTEN:
        light = image.cmap(image.norm(values))[..., :3] @ _LUMINANCE > 0.5
        for i, j in np.argwhere(np.isfinite(values)):
            colour = "black" if light[i, j] else "white"
            axes.text(j, i, f"{values[i, j]:{form}}", ha="center", va="center", color=colour, fontsize=size)
    axes.set_xticks(range(len(names)), names, rotation=45, ha="right", fontsize=size)
    axes.set_yticks(range(len(names)), names, fontsize=size)
    axes.set_title(title, fontsize=10)
    return image
