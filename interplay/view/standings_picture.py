"""Plots the results of a tournament, and of a league. Needs the extra ``plot``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from interplay.evaluate.tournaments.merge_results import MergeResults
from interplay.evaluate.tournaments.ratings.league_table import LeagueTable
from interplay.evaluate.tournaments.ratings.standings import Standings, points_title
from interplay.view.curves import thousands
from interplay.view.figures import draw_matrix, plain_axes
from interplay.view.output import begin_figure, save_figure
from interplay.view.palette import BAR_EMPTY, FAINT, POPULATIONS
from interplay.view.standings_tables import shorten

_MARKS = ("o", "s", "^", "p", "h", "D", "8")  # of a league's learners
_COLOURS = {"won": POPULATIONS[0], "drawn": BAR_EMPTY, "cut": FAINT, "lost": POPULATIONS[5]}


def plot_results(results: Standings | MergeResults, out: str | Path) -> Path:
    """Draws ratings, shares of matches and the matrix of points; for merges, mean lives below."""
    merges = results if isinstance(results, MergeResults) else None
    ranked = results.standings if isinstance(results, MergeResults) else results
    size = max(3.2, 1.2 + 0.45 * len(ranked.names))
    columns = max(3, len(merges.caps)) if merges else 3
    rows = 2 if merges else 1
    figure = begin_figure(out, "pictures of tournaments", (max(13.0, 3.6 * columns), rows * size))
    parts = figure.subfigures(rows, 1, squeeze=False)[:, 0]
    above = parts[0].subplots(1, 3)
    _ratings(above[0], ranked)
    _shares(above[1], ranked)
    _win_matrix(above[2], ranked)
    if merges:
        for axes, cap in zip(parts[1].subplots(1, columns, squeeze=False)[0], merges.caps, strict=False):
            _lives(axes, merges, cap)
        for axes in parts[1].axes[len(merges.caps) :]:
            axes.set_axis_off()
    return save_figure(figure, out)


def _ratings(axes: Any, standings: Standings) -> None:
    order, names = standings.order, shorten(standings.names)
    for row, i in enumerate(order):
        low, high = standings.interval[i]
        axes.plot([low, high], [row, row], color=POPULATIONS[0], linewidth=2.4, solid_capstyle="round")
        axes.plot(standings.elo[i], row, "o", color=POPULATIONS[0], markersize=7)
    axes.set_yticks(range(len(order)), [standings.label(i, names[i]) for i in order])
    axes.invert_yaxis()
    axes.set_ylim(len(order) - 0.5, -0.5)
    axes.set_xlabel("Elo points, mean 0; bars: 95 %")
    axes.set_title(f"ratings over {standings.title}", fontsize=10)
    plain_axes(axes, "x")


def _shares(axes: Any, standings: Standings) -> None:
    """Each player's shares won, drawn, cut and lost as one bar, with the interval of the share won."""
    order, called = standings.order, shorten(standings.names)
    names = [name for name in _COLOURS if name in standings.results]
    for row, i in enumerate(order):
        shares, left = standings.shares(i), 0.0
        for name in names:
            width = 100 * shares[name].share if shares[name].n else 0.0
            label = name if row == 0 else None
            axes.barh(row, width, left=left, color=_COLOURS[name], height=0.62, label=label)
            left += width
        if shares["won"].n:
            low, high = 100 * shares["won"].low, 100 * shares["won"].high
            axes.plot([low, high], [row, row], color="black", linewidth=1.2)
    axes.set_yticks(range(len(order)), [standings.label(i, called[i]) for i in order])
    axes.set_ylim(len(order) - 0.5, -0.5)
    axes.set_xlim(0, 100)
    axes.set_xlabel("share of matches, %; lines: 95 % of won")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(ncols=len(names), frameon=False, fontsize=8, loc="lower center", bbox_to_anchor=(0.5, 1.0))


def _win_matrix(axes: Any, standings: Standings) -> None:
    order = list(standings.order)
    share = 100 * standings.win_share[np.ix_(order, order)]
    np.fill_diagonal(share, np.nan)
    called = shorten(standings.names)
    title = points_title(standings).replace(" (", "\n(").replace(" count", "\ncount")
    draw_matrix(axes, share, [called[i] for i in order], title)


def _lives(axes: Any, results: MergeResults, cap: int) -> None:
    life = results.life(cap)
    top = float(np.nanmax(life)) if np.isfinite(life).any() else 1.0
    title = f"mean life, ticks, {cap} places"
    draw_matrix(axes, life, shorten(results.names), title, "viridis", top, ".4g")
    axes.set_xlabel("beside")


def plot_league(table: LeagueTable, out: str | Path) -> Path:
    """Draws the learners' ratings over the agent-steps of their copies, and the shares of matches won."""
    count = len(table.names)
    size = float(np.clip(2.4 + 0.3 * count, 4.2, 14.0))
    figure = begin_figure(out, "pictures of leagues", (6.0 + size, size))
    left, right = figure.subplots(1, 2, width_ratios=(5.4, size))
    _over_time(left, table)
    _payoffs(figure, right, table)
    figure.suptitle(
        f"{table.world}, {table.agent_steps:,} agent-steps, {int(table.payoff.matches.sum()):,} matches",
        fontsize=11,
    )
    return save_figure(figure, out)


def _over_time(axes: Any, table: LeagueTable) -> None:
    for number, learner in enumerate(dict.fromkeys(name for name in table.learner if name)):
        own = [i for i, name in enumerate(table.learner) if name == learner]
        own.sort(key=lambda i: (table.since[i], table.names[i] == learner))
        colour = POPULATIONS[number % len(POPULATIONS)]
        marker = _MARKS[number % len(_MARKS)]
        look = {"color": colour, "linewidth": 1.6, "marker": marker, "markersize": 5}
        axes.plot(table.since[own], table.elo[own], label=learner, **look)
    for i, learner in enumerate(table.learner):
        if not learner:
            axes.axhline(table.elo[i], color=FAINT, linewidth=1.0, linestyle="--")
            look = {"fontsize": 8, "color": FAINT, "va": "bottom"}
            # x in units of the axes, y in those of the data
            axes.text(0.01, table.elo[i], table.names[i], transform=axes.get_yaxis_transform(), **look)
    axes.set_xlabel("agent-steps when the copy was made")
    axes.xaxis.set_major_formatter(thousands)
    axes.set_ylabel(f"Elo points, {table.anchor} at 0")
    axes.set_title("ratings over time", fontsize=10)
    plain_axes(axes)
    axes.legend(frameon=False, fontsize=9)


def _payoffs(figure: Any, axes: Any, table: LeagueTable) -> None:
    order = table.order
    share = 100 * table.shares[np.ix_(order, order)]
    np.fill_diagonal(share, np.nan)
    title = "the row won against the column, %\n(draws count half; hatched: never met)"
    image = draw_matrix(axes, share, [table.names[i] for i in order], title)
    figure.colorbar(image, ax=axes, shrink=0.8)
