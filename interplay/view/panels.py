"""Draws the panels of overlays: map, window, curves, bars."""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.evaluate.lifetimes.overlays import Layer
from interplay.view import scales
from interplay.view.extras import load
from interplay.view.figures import plain_axes
from interplay.view.palette import FAINT, INK

_MAX_LABELS = 9  # of a legend
_FINE = 250  # cells a side from which on a map is smoothed
_MANY = 500  # points from which on a curve is thin


def draw_map(axes: Any, layer: Layer) -> None:
    """The world's tiles in colours, without the border of lava."""
    colours = _colours(layer)
    if layer.dim is not None:
        on_black = layer.scale == "population"
        colours = scales.dim(colours, layer.dim, *((scales.CLIFF, 1.0) if on_black else ()))
    top, left, bottom, right = _inside(layer)
    # If a pixel covers several cells, a single visit would be lost.
    smooth = "nearest" if bottom - top < _FINE else "auto"
    axes.imshow(
        colours[top:bottom, left:right],
        extent=(left - 0.5, right - 0.5, bottom - 0.5, top - 0.5),
        interpolation=smooth,
    )
    _label(axes, "column", "row")
    _legend_of_colours(axes, layer)


def draw_key(axes: Any, layer: Layer) -> None:
    """The key to a map of many populations: share of the most frequent one, and visits."""
    count, top = len(layer.values), max(layer.limits[1] if layer.limits else 1.0, 1.0)
    shares, steps = np.linspace(1 / count, 1, 60), np.linspace(0, 1, 60)
    total = np.expm1(steps * np.log1p(top))[:, None]  # as bright as it is high
    rest = (1 - shares) / (count - 1)
    channels = np.stack([total * shares, *(total * rest for _ in range(count - 1))])
    axes.imshow(
        scales.dominant(channels, tuple(scales.population_colour(number) for number in _numbers(layer)), top),
        extent=(1 / count, 1, 0, 1),
        origin="lower",
        aspect="auto",
    )
    marks = [value for value in (0, 1, 10, 100, 1_000, 10_000, 100_000) if value < 0.7 * top] + [top]
    axes.set_yticks(
        [np.log1p(value) / np.log1p(top) for value in marks], [f"{value:,.0f}" for value in marks]
    )
    shown = [1 / count, 0.25, 0.5, 0.75, 1.0]
    axes.set_xticks(shown, [f"{value:.0%}" for value in shown])
    _label(axes, "share of the most frequent population", layer.unit)


def is_keyed(layer: Layer) -> bool:
    """Whether a layer needs `draw_key`."""
    return layer.form == "map" and layer.scale == "population" and len(layer.values) > scales.MIXED_TO


def draw_window(axes: Any, layer: Layer) -> None:
    """A square around an agent in its middle."""
    side = layer.values.shape[-1]
    reach = (side - 1) / 2
    axes.imshow(
        _colours(layer),
        extent=(-reach - 0.5, reach + 0.5, reach + 0.5, -reach - 0.5),
        interpolation="nearest",
    )
    axes.plot(0, 0, "o", markersize=5, markerfacecolor="none", markeredgecolor=INK)
    ticks = np.arange(-int(reach), int(reach) + 1, 1 if side <= 9 else 2)
    axes.set(xticks=ticks, yticks=ticks)
    _label(axes, "columns east", "rows south")
    _legend_of_colours(axes, layer)


def draw_curves(axes: Any, layer: Layer) -> None:
    """Lines over x; the one of all agents is dark."""
    width = 1.6 if np.size(layer.x) <= _MANY else 0.9
    for i, values in enumerate(layer.values):
        label, colour, style = _line(layer, i)
        axes.plot(
            np.asarray(layer.x),
            values,
            style,
            color=colour,
            linewidth=width,
            label=label,
            drawstyle=layer.drawn,
        )
    if layer.log_x:
        axes.set_xscale("log")
    axes.set_ylim(bottom=0, top=1.02 if layer.unit.startswith("share of lives") else None)
    _finish(axes, layer)


def draw_bars(axes: Any, layer: Layer) -> None:
    """Groups of bars, side by side or stacked."""
    count, places = layer.values.shape
    words = any(isinstance(name, str) for name in layer.x)
    x = np.arange(places) if words or places < 10 else np.asarray(layer.x, float)
    step = float(np.diff(x).min()) if places > 1 else 1.0
    width = step * (0.92 if layer.stacked else 0.8 / count)
    below = np.zeros(places)
    for i, values in enumerate(np.nan_to_num(layer.values)):
        colour = scales.CATEGORIES[i % len(scales.CATEGORIES)]
        at = x if layer.stacked else x + (i - (count - 1) / 2) * width
        label = layer.labels[i] if layer.labels else None
        axes.bar(at, values, width, bottom=below if layer.stacked else None, color=colour, label=label)
        below = below + values
    if words:
        axes.set_xticks(x, layer.x, rotation=25, ha="right", fontsize=8)
    elif places < 10:
        axes.set_xticks(x, [f"{name:g}" for name in layer.x])
    axes.axhline(0, color=INK, linewidth=0.8)
    _finish(axes, layer)


def mixture(layer: Layer) -> tuple[str, list[tuple[str, str]]]:
    """Legend of a layer with mixed channels: its title, and label and colour of each channel."""
    top = 0.0 if layer.limits is None else layer.limits[1]
    if layer.scale == "style":
        title, colours = "strength", list(scales.STYLE_COLOURS)
    else:
        title, colours = "brightness", [scales.population_colour(number) for number in _numbers(layer)]
    hue = "the most frequent, pale where all are alike" if is_keyed(layer) else "shares"
    title = f"hue: {hue}; {title}: log(1 + v) / log(1 + max), v in {layer.unit}, max = {top:,.0f}"
    if layer.ground is not None:
        title += "; ground: water dark, stone grey, forest pale"
    return title, list(zip(layer.labels, colours, strict=False))[:_MAX_LABELS]


def _colours(layer: Layer) -> np.ndarray:
    top = None if layer.limits is None else layer.limits[1]
    if layer.scale == "population":
        return scales.populations(layer.values, _numbers(layer), top)
    if layer.scale == "style":
        return scales.styles(layer.values, top, layer.ground)
    lowest, highest = layer.limits or (float(np.nanmin(layer.values)), float(np.nanmax(layer.values)))
    return scales.diverging(layer.values, (lowest, highest))


def _numbers(layer: Layer) -> tuple[int, ...]:
    """Population numbers of a layer's channels, from the end of their labels."""
    ends = [label.rpartition(" ")[2] for label in layer.labels] or [""] * len(layer.values)
    return tuple(int(end) if end.isdigit() else i for i, end in enumerate(ends))


def _line(layer: Layer, i: int) -> tuple[str | None, str, str]:
    label = layer.labels[i] if layer.labels else None
    if label in (None, "everybody", "agents"):
        return label, INK, "-"
    end = str(label).rpartition(" ")[2]
    if end.isdigit():
        return label, scales.population_colour(int(end)), "-"
    return label, FAINT, "--"


def _inside(layer: Layer) -> tuple[int, int, int, int]:
    """Top, left, bottom, right of the map without a frame of dimmed cells."""
    shape = layer.values.shape[-2:]
    shown = ~layer.dim if layer.dim is not None and not layer.dim.all() else _walkable(layer, shape)
    rows, cols = (np.flatnonzero(shown.any(axis=axis)) for axis in (1, 0))
    return int(rows[0]), int(cols[0]), int(rows[-1]) + 1, int(cols[-1]) + 1


def _walkable(layer: Layer, shape: tuple[int, ...]) -> np.ndarray:
    """Cells of a map that are no lava, the border's tile; all cells without ground."""
    return np.ones(shape, bool) if layer.ground is None else layer.ground != layer.ground[0, 0]


def _label(axes: Any, across: str, up: str) -> None:
    """Labels the axes of a map, in small letters."""
    axes.tick_params(labelsize=7)
    axes.set_xlabel(across, fontsize=8)
    axes.set_ylabel(up, fontsize=8)


def _legend_of_colours(axes: Any, layer: Layer) -> None:
    """The bar beside a diverging panel; mixed channels are explained below the picture, see `mixture`."""
    if layer.scale == "diverging":
        cm, colours = (load(f"matplotlib.{name}", "plot", "overlays") for name in ("cm", "colors"))
        scale = colours.LinearSegmentedColormap.from_list("interplay", scales.DIVERGING)
        lowest, highest = layer.limits or (0.0, 1.0)
        mappable = cm.ScalarMappable(colours.Normalize(lowest, highest), scale)
        bar = axes.figure.colorbar(mappable, ax=axes, fraction=0.046, pad=0.03)
        bar.ax.tick_params(labelsize=7)
        bar.set_label(layer.unit, fontsize=8)


def _finish(axes: Any, layer: Layer) -> None:
    axes.set_xlabel(layer.x_label, fontsize=9)
    axes.set_ylabel(layer.unit, fontsize=9)
    plain_axes(axes)
    if layer.labels:
        beside = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)} if layer.form == "bars" else {}
        axes.legend(frameon=False, fontsize=8, ncols=1 + (len(layer.labels) > _MAX_LABELS), **beside)
