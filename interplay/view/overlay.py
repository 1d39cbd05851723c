"""Plots overlays: maps, windows around an agent, curves and bars. Needs the extra ``plot``.

The data with meaning and colour scale come from `interplay.evaluate.lifetimes.overlays`.
"""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from interplay.evaluate.lifetimes.overlays import Layer, OverlayData
from interplay.view import scales
from interplay.view.extras import load
from interplay.view.figures import plain_axes
from interplay.view.output import begin_figure, save_figure
from interplay.view.palette import FAINT, INK

SIZES = {
    "map": (4.9, 4.6),
    "window": (3.1, 3.3),
    "curves": (5.2, 4.2),
    "bars": (5.2, 4.2),
}  # inches of a panel
ACROSS = {"map": 3, "window": 4, "curves": 2, "bars": 2}
KEYED_ACROSS = 4  # panels, if a map of many populations is followed by a map of each and a key
MIXING = ("population", "style")  # scales explained by one legend below the picture
_MAX_LABELS = 9  # of a legend
_FINE = 250  # cells a side from which on a map is smoothed
_MANY = 500  # points from which on a curve is thin


def plot_overlay(data: OverlayData, out: str | Path) -> Path:
    """Draws each layer of an overlay as a panel.

    Args:
        data: from `interplay.evaluate.lifetimes.overlays.compute_overlays`.
    """
    keyed, apart, across = _arranged(data)
    panes = len(data.layers) + len(apart) + (keyed is not None)
    down = math.ceil(panes / across)
    width, height = (max(size) for size in zip(*map(_size, data.layers), strict=True))
    below = 0.6 if any(layer.scale in MIXING for layer in data.layers) else 0.0
    figure = begin_figure(out, "overlays", (max(across * width, 6.2), down * height + 0.3 + below))
    figure.get_layout_engine().set(h_pad=0.1)
    figure.suptitle(data.title, fontsize=12)
    grid = figure.subplots(down, across, squeeze=False).ravel()
    for axes, layer in zip(grid, (*data.layers, *apart), strict=False):
        _panel(axes, layer)
    if keyed is not None:
        draw_key(grid[panes - 1], keyed)
        grid[panes - 1].set_title("what the colours mean", fontsize=10)
    for axes in grid[panes:]:
        axes.set_axis_off()
    _explain_mixture(figure, data.layers)
    return save_figure(figure, out)


def _arranged(data: OverlayData) -> tuple[Layer | None, tuple[Layer, ...], int]:
    """The layer that needs a key, its maps of single populations, and the number of panels side by side."""
    keyed = next((layer for layer in data.layers if is_keyed(layer)), None)
    beside = data.columns[:1] == ("home",)  # several homes have a row each
    if keyed is not None and not beside:
        return keyed, parts(keyed), KEYED_ACROSS
    across = data.panels_across or ACROSS[data.layers[0].form]
    return keyed, (), min(across, len(data.layers) + (keyed is not None))


def parts(layer: Layer) -> tuple[Layer, ...]:
    """Splits a map of many populations into one map for each, on the same scale of brightness."""
    return tuple(
        replace(
            layer,
            name=f"{layer.name}.{label}",
            title=f"{layer.title}: {label}",
            values=counts[None],
            labels=(label,),
        )
        for label, counts in zip(layer.labels, layer.values, strict=True)
    )


def _size(layer: Layer) -> tuple[float, float]:
    """Inches of a panel, its bar of colours included."""
    width, height = SIZES[layer.form]
    return (width, height) if layer.scale != "diverging" else (width + 0.5, height - 0.3)


def _panel(axes: Any, layer: Layer) -> None:
    axes.set_title(layer.title, fontsize=10)
    if np.size(layer.values) == 0:
        axes.text(0.5, 0.5, "no data", ha="center", transform=axes.transAxes)
        axes.set(xticks=[], yticks=[])
        return
    DRAW[layer.form](axes, layer)


def _explain_mixture(figure: Any, layers: tuple[Layer, ...]) -> None:
    """Draws one legend below the picture for the mixed channels of its"""
    mixing = [layer for layer in layers if layer.scale in MIXING]
    if not mixing:
        return
    patches = load("matplotlib.patches", "plot", "overlays")
    title, channels = mixture(max(mixing, key=lambda layer: len(layer.labels)))
    handles = [patches.Patch(facecolor=colour, edgecolor=FAINT, label=label) for label, colour in channels]
    figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=len(handles),
        frameon=False,
        fontsize=8,
        title=title,
        title_fontsize=8,
    )


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
        axes.xaxis.set(major_formatter="{x:,.10g}", minor_formatter="")  # figures set no formulas
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


DRAW = {
    "map": draw_map,
    "window": draw_window,
    "curves": draw_curves,
    "bars": draw_bars,
}
