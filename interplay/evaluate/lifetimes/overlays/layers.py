"""The output of an overlay: layers of numbers with meaning and colour scale; several homes on one scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from interplay.core.errors import UserError
from interplay.evaluate.lifetimes.tick import Array

Form = Literal["map", "window", "curves", "bars"]
Scale = Literal["diverging", "population", "style", "plain"]
_DESCRIBED = ("name", "title", "form", "scale", "unit", "meaning", "limits", "labels", "x_label")
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
            "layers": [{key: getattr(layer, key) for key in _DESCRIBED} for layer in self.layers],
            "columns": list(self.columns),
            "rows": [list(row) for row in self.rows],
        }


def side_by_side(found: Mapping[str, OverlayData]) -> OverlayData:
    """Combines the data of one overlay for several homes.

    Args:
        found: home -> data, in display order.

    Returns:
        All layers, named and titled with their homes; layers of one form and scale share their limits. Rows begin with the home. A home
        is a row of panels if all homes have equally many.
    """
    names = list(dict.fromkeys(data.name for data in found.values()))
    if len(names) != 1:
        raise UserError(
            f"{' and '.join(names)} are different overlays; set findings of one beside each other"
        )
    limits = _common_limits([layer for data in found.values() for layer in data.layers])
    layers = tuple(
        replace(
            layer,
            name=f"{home}.{layer.name}",
            title=f"{home}: {layer.title}",
            limits=limits.get((layer.form, layer.scale)),
        )
        for home, data in found.items()
        for layer in data.layers
    )
    first = next(iter(found.values()))
    titles, counts = ({data.title for data in found.values()}, {len(data.layers) for data in found.values()})
    return OverlayData(
        first.name,
        first.title if len(titles) == 1 else f"{first.name} of {', '.join(found)}",
        layers,
        {f"{home}.{key}": array for home, data in found.items() for key, array in data.arrays.items()},
        ("home", *first.columns),
        tuple((home, *row) for home, data in found.items() for row in data.rows),
        counts.pop() if len(counts) == 1 else 0,
    )


def _common_limits(layers: Sequence[Layer]) -> dict[tuple[str, str], tuple[float, float]]:
    """(form, scale) -> least and greatest limits."""
    found: dict[tuple[str, str], tuple[float, float]] = {}
    for layer in layers:
        if layer.limits is not None:
            low, high = found.get((layer.form, layer.scale), layer.limits)
            found[layer.form, layer.scale] = min(low, layer.limits[0]), max(high, layer.limits[1])
    return found
