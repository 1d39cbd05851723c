"""A comparison as a picture: curves with intervals over seeds, and final scores; needs the extra ``plot`` (matplotlib)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from interplay.evaluate.aggregates import LEVEL
from interplay.view.comparison import Comparison
from interplay.view.curves import UNITS, plain_words, thousands
from interplay.view.output import begin_figure, save_figure
from interplay.view.palette import FAINT, POPULATIONS
from interplay.view.seed_means import curve_band

_STYLES = ("-", "--", ":", "-.")


def plot_comparison(comparison: Comparison, out: str | Path) -> Path:
    """Draws the curves of all groups and, beside them, each run's final score with mean and interquartile mean.

    Args:
        comparison: of `compare`.
        out: a ``.png`` in a folder that exists.

    Returns:
        The path that was written.

    Raises:
        UserError: for an unwritable file, or if matplotlib is not installed.
    """
    height = max(4.0, 1.6 + 0.42 * len(comparison.groups))
    figure = begin_figure(out, "comparisons", (11.0, height), dpi=120)
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    _curves(left, comparison)
    _scores(right, comparison)
    figure.legend(
        loc="outside lower center", frameon=False, fontsize=8, ncols=2 if len(comparison.groups) > 1 else 1
    )
    return save_figure(figure, out)


def _curves(axes: Any, comparison: Comparison) -> None:
    for i, group in enumerate(comparison.groups):
        colour, style = _look(i)
        middle, low, high = curve_band(group.curves)
        some = np.isfinite(middle)
        x = comparison.middles[some]
        axes.fill_between(x, low[some], high[some], color=colour, alpha=0.18, linewidth=0)
        seeds = f"{len(group.runs)} seed{'s' * (len(group.runs) != 1)}"
        label = plain_words(f"{group.label} ({seeds})")
        axes.plot(x, middle[some], style, color=colour, linewidth=1.8, label=label)
    axes.set_xlabel("agent-steps")
    axes.set_ylabel(_quantity(comparison.metric))
    axes.set_xlim(0, comparison.steps)
    axes.xaxis.set_major_formatter(thousands)
    axes.set_title(f"mean of seeds, {LEVEL:.0%} interval at each step", fontsize=9)
    _plain(axes)


def _scores(axes: Any, comparison: Comparison) -> None:
    """A row for each group, the first on top: runs as dots, the interquartile mean with its interval."""
    for i, group in enumerate(comparison.groups):
        colour, row = _look(i)[0], len(comparison.groups) - 1 - i
        axes.plot(group.scores, np.full(len(group.scores), row), "|", color=colour, markersize=9, alpha=0.6)
        value, low, high = group.interquartile_mean
        if np.isfinite(low):
            axes.plot([low, high], [row, row], color=colour, linewidth=5, alpha=0.35, solid_capstyle="butt")
        axes.plot(value, row, "o", color=colour, markersize=6, markeredgecolor="white")
    axes.axvline(comparison.groups[0].interquartile_mean.value, color=FAINT, linewidth=0.8, linestyle="--")
    axes.set_yticks([])
    axes.set_ylim(-0.7, len(comparison.groups) - 0.3)
    axes.margins(x=0.12)
    axes.set_xlabel(_quantity(comparison.metric))
    axes.set_title("last measurements: runs (|), interquartile mean (dot), its interval", fontsize=9)
    _plain(axes)
    axes.spines["left"].set_visible(False)


def _look(i: int) -> tuple[str, str]:
    """Colour and line of a group; lines change where the colours begin anew."""
    return POPULATIONS[i % len(POPULATIONS)], _STYLES[i // len(POPULATIONS) % len(_STYLES)]


def _quantity(metric: str) -> str:
    unit = f" ({UNITS[metric]})" if metric in UNITS else ""
    return plain_words(metric.replace("_", " ")) + unit


def _plain(axes: Any) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color="#dee2e6", linewidth=0.6)
    axes.set_axisbelow(True)
