"""Plots a comparison: curves with intervals over seeds, and final scores. Needs the extra ``plot``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from interplay.evaluate.statistics import LEVEL
from interplay.view.comparison import Comparison, bounds_of
from interplay.view.curves import plain_words, quantity, thousands
from interplay.view.figures import (
    AS_NEEDED,
    FigureLook,
    draw_curve,
    fonts,
    frame_figure,
    line_look,
    plain_axes,
)
from interplay.view.output import begin_figure, save_figure
from interplay.view.palette import FAINT
from interplay.view.seed_means import curve_band

_WIDE = 5.0  # inches; narrower figures have the scores below the curves
_SIZE = (9.0, 3.0)  # inches of both panels without title and legend


def plot_comparison(comparison: Comparison, out: str | Path, look: FigureLook = AS_NEEDED) -> Path:
    """Draws the curves of all groups beside each run's final score and the interquartile means.

    Args:
        out: a ``.png``, ``.pdf`` or ``.svg`` in an existing folder.
    """
    width = look.width or _SIZE[0]
    rows, height = (1, _SIZE[1]) if width >= _WIDE else (2, 2.3)
    height = max(height, 0.9 + 0.25 * len(comparison.groups))
    with fonts(look):
        figure = begin_figure(out, "comparisons", (width, height))
        ratios = {"width_ratios": (3, 2)} if rows == 1 else {}
        left, right = figure.subplots(rows, 3 - rows, squeeze=False, **ratios).ravel()
        _curves(left, comparison)
        _scores(right, comparison)
        frame_figure(figure, look, plain_words(look.title), "", rows, height)
        return save_figure(figure, out)


def _curves(axes: Any, comparison: Comparison) -> None:
    for i, group in enumerate(comparison.groups):
        line = line_look(i, len(comparison.groups))
        middle, low, high = curve_band(group.curves)
        some = np.isfinite(middle)
        low, high = np.clip([low, high], *bounds_of(comparison.metric))
        x = comparison.middles[some]
        seeds = f"{len(group.curves)} seed{'s' * (len(group.curves) != 1)}"
        label = plain_words(f"{group.label} ({seeds})")
        draw_curve(axes, x, middle[some], (low[some], high[some]), line, i, label)
    axes.set_xlabel("agent-steps")
    axes.set_ylabel(_quantity(comparison))
    axes.set_xlim(0, comparison.steps)
    axes.xaxis.set_major_formatter(thousands)
    axes.set_title(f"mean of seeds, {LEVEL:.0%} interval at each step")
    plain_axes(axes)


def _scores(axes: Any, comparison: Comparison) -> None:
    """A row for each group, the first on top: runs as dots, the interquartile mean with its interval."""
    for i, group in enumerate(comparison.groups):
        line, row = line_look(i, len(comparison.groups)), len(comparison.groups) - 1 - i
        colour, marker = line.colour, line.marker or "o"
        axes.plot(group.scores, np.full(len(group.scores), row), "|", color=colour, markersize=9, alpha=0.6)
        value, low, high = group.interquartile_mean
        if np.isfinite(low):
            axes.plot([low, high], [row, row], color=colour, linewidth=5, alpha=0.35, solid_capstyle="butt")
        axes.plot(value, row, marker, color=colour, markersize=6, markeredgecolor="white")
    axes.axvline(comparison.groups[0].interquartile_mean.value, color=FAINT, linewidth=0.8, linestyle="--")
    axes.set_yticks([])
    axes.set_ylim(-0.7, len(comparison.groups) - 0.3)
    axes.margins(x=0.12)
    axes.set_xlabel(_quantity(comparison))
    axes.set_title("last measurements: runs (|), interquartile mean (mark), its interval")
    plain_axes(axes)
    axes.spines["left"].set_visible(False)


def _quantity(comparison: Comparison) -> str:
    return quantity(comparison.metric, comparison.unit)
