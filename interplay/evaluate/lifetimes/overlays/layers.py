"""The output of an overlay: layers of numbers with meaning and colour scale."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from interplay.core.errors import UserError
from interplay.evaluate.lifetimes.tick import Array

Form = Literal["map", "window", "curves", "bars"]
Scale = Literal["diverging", "population", "style", "plain"]
_AXES = {"map": (2, 3), "window": (2, 3), "curves": (2,), "bars": (2,)}


@dataclass(frozen=True)
class Layer:
    """The numbers of one panel.

    Attributes:
        name: short, unique in its overlay; used in files and keys.
        title: shown above the panel.
        values: by `form`: ``map`` (T, T) or (C, T, T) over the world's tiles; ``window`` (n, n) or (C, n, n) around an
            agent, rows down; ``curves`` (C, X); ``bars`` (C, X). NaN = nothing to show.
        form: see `values`.
        scale: ``diverging`` two colours from a middle, over `limits`; ``population`` C channels, one per population, hue
            by their share and brightness by log(1 + sum) / log(1 + max); ``style`` three channels melee, range, mage, as
            red, green and blue mixed by share, brightness the same; ``plain`` one colour per row of curves or bars.
        unit: of `values`.
        meaning: one sentence.
        limits: lowest and highest value of a diverging scale.
        x: (X,) of curves, or the names of the bars.
        x_label: what `x` is.
        labels: of the C channels, curves or groups of bars.
        dim: (T, T) bool, impassable tiles, drawn dimmed.
        ground: (T, T) tile ids of a map in ``style``, drawn in greys below the colours.
        log_x: logarithmic x of curves.
        drawn: ``steps-post`` for curves that are constant up to the next value.
        stacked: groups of bars are stacked.
        origin: x and y of the corner of a map's first cell, in the world's units; rows run along y.
        cell: side of a cell.
    """

    name: str
    title: str
    values: Array
    form: Form
    scale: Scale
    unit: str
    meaning: str
    limits: tuple[float, float] | None = None
    x: tuple[Any, ...] | Array = ()
    x_label: str = ""
    labels: tuple[str, ...] = ()
    dim: Array | None = None
    ground: Array | None = None
    log_x: bool = False
    drawn: Literal["default", "steps-post"] = "default"
    stacked: bool = False
    origin: tuple[float, float] = (0.0, 0.0)
    cell: float = 1.0

    def __post_init__(self) -> None:
        if np.ndim(self.values) not in _AXES[self.form]:
            raise UserError(
                f"layer {self.name}: {self.form} values have {' or '.join(map(str, _AXES[self.form]))} axes, "
                f"these have shape {np.shape(self.values)}"
            )
        if self.scale == "diverging" and self.limits is None:
            raise UserError(f"layer {self.name}: a diverging scale needs limits; give (lowest, highest)")


@dataclass(frozen=True)
class OverlayData:
    """The data of an overlay.

    Attributes:
        name: of the overlay.
        title: above the picture.
        layers: in the order of the panels.
        arrays: further arrays for the file, without a panel.
        columns: titles of `rows`.
        rows: a short table for the terminal.
        panels_across: panels side by side; 0 = as many as fit.
    """

    name: str
    title: str
    layers: tuple[Layer, ...]
    arrays: Mapping[str, Array] = field(default_factory=dict)
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()
    panels_across: int = 0

    def all_arrays(self) -> dict[str, Array]:
        """Every array by name: the layers' values and x, then `arrays`."""
        found = {layer.name: np.asarray(layer.values) for layer in self.layers}
        found |= {f"{layer.name}.x": np.asarray(layer.x) for layer in self.layers if len(layer.x)}
        return {**found, **{name: np.asarray(array) for name, array in self.arrays.items()}}

    def describe(self) -> dict[str, Any]:
        """All but the arrays, as JSON values."""
        return {
            "name": self.name,
            "title": self.title,
            "layers": [
                {
                    "name": layer.name,
                    "title": layer.title,
                    "form": layer.form,
                    "scale": layer.scale,
                    "unit": layer.unit,
                    "meaning": layer.meaning,
                    "limits": layer.limits,
                    "labels": list(layer.labels),
                    "x_label": layer.x_label,
                }
                for layer in self.layers
            ],
            "columns": list(self.columns),
            "rows": [list(row) for row in self.rows],
        }
