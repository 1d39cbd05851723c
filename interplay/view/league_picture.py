"""Plots a league: ratings over time and the payoff matrix. Needs the extra ``plot``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from interplay.evaluate.tournaments.ratings.league_table import LeagueTable
from interplay.view.curves import thousands
from interplay.view.figures import plain_axes
from interplay.view.matrix import draw_matrix
from interplay.view.output import begin_figure, save_figure
from interplay.view.palette import FAINT, POPULATIONS

_MARKS = ("o", "s", "^", "p", "h", "D", "8")


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
