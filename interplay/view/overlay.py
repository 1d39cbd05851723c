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
from interplay.view import panels
from interplay.view.extras import load
from interplay.view.output import begin_figure, save_figure
from interplay.view.palette import FAINT

SIZES = {
    "map": (4.9, 4.6),
    "window": (3.1, 3.3),
    "curves": (5.2, 4.2),
    "bars": (5.2, 4.2),
}  # inches of a panel
ACROSS = {"map": 3, "window": 4, "curves": 2, "bars": 2}
KEYED_ACROSS = 4  # panels, if a map of many populations is followed by a map of each and a key
MIXING = ("population", "style")  # scales explained by one legend below the picture
DRAW = {
    "map": panels.draw_map,
    "window": panels.draw_window,
    "curves": panels.draw_curves,
    "bars": panels.draw_bars,
}


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
        panels.draw_key(grid[panes - 1], keyed)
        grid[panes - 1].set_title("what the colours mean", fontsize=10)
    for axes in grid[panes:]:
        axes.set_axis_off()
    _explain_mixture(figure, data.layers)
    return save_figure(figure, out)


def _arranged(data: OverlayData) -> tuple[Layer | None, tuple[Layer, ...], int]:
    """The layer that needs a key, its maps of single populations, and the number of panels side by side."""
    keyed = next((layer for layer in data.layers if panels.is_keyed(layer)), None)
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
    """Draws one legend below the picture for the mixed channels of its panels."""
    mixing = [layer for layer in layers if layer.scale in MIXING]
    if not mixing:
        return
    patches = load("matplotlib.patches", "plot", "overlays")
    title, channels = panels.mixture(max(mixing, key=lambda layer: len(layer.labels)))
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
