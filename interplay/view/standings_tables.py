"""Prints a tournament's results as tables."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from interplay.evaluate.results import Share
from interplay.evaluate.tournaments.merge_results import LifeCell, MergeResults
from interplay.evaluate.tournaments.ratings.standings import FEW_ROUNDS, Standings, points_title

LONGEST = 28  # characters of a player's name
ROOM = 48  # characters for the names above a square table
WANTED_LIVES = 5_000  # per home and cell, specification mmo 11


def print_results(results: Standings | MergeResults, console: Console | None = None) -> None:
    """Prints ratings and win matrix; for merges, lives of each home beside each other one."""
    console = console or Console()
    if isinstance(results, MergeResults):
        for cap in results.caps:
            console.print(life_table(results, cap))
        console.print(company_table(results))
        fewest = min(cell.lives + cell.cut for cell in results.cells)
        if fewest < WANTED_LIVES:
            message = f"a home has only {fewest:,} lives in one of these cells; {WANTED_LIVES:,} are wanted, play more maps"
            console.print(message, markup=False, highlight=False, soft_wrap=True)
        results = results.standings
    console.print(ratings_table(results))
    console.print(results_table(results))
    for warning in _warnings(results):
        console.print(f"warning: {warning}", markup=False, highlight=False, soft_wrap=True)
    console.print(win_table(results))
    for circle in results.circles:
        console.print(
            f"circle: {' beats '.join([*circle, circle[0]])}", markup=False, highlight=False, soft_wrap=True
        )


def _warnings(standings: Standings) -> Iterator[str]:
    """Warnings about aborted matches, few rounds, and trained players with different action rules."""
    if standings.aborted:
        yield f"{standings.aborted:,} matches cost three processes each and are not rated"
    if (rounds := int(standings.rounds.min())) < FEW_ROUNDS:
        yield (
            f"a player has only {rounds} round{'s' * (rounds != 1)} (matches that share a seed), so the intervals are rough; "
            f"{FEW_ROUNDS} are wanted, play more matches"
        )
    if len({rule for rule in standings.actions if rule}) > 1:
        yield "some trained players sample their actions and others are greedy; --greedy makes all of them greedy"


def ratings_table(standings: Standings) -> Table:
    """One row per player, the best first."""
    skill = ["openskill"] if standings.skill is not None else []
    heads = ["Elo", "95 %", "alpha-rank", f"mean {standings.score}", *skill]
    table = _ranking(f"ratings over {standings.title}", heads)
    names = shorten(standings.names)
    for number, i in enumerate(standings.order, 1):
        row = [
            str(number),
            standings.label(i, names[i]),
            f"{standings.elo[i]:+z.0f}",
            f"{standings.interval[i, 0]:+z.0f} .. {standings.interval[i, 1]:+z.0f}",
            f"{standings.alpha_rank[i]:.3f}",
            f"{standings.mean_score[i]:.4g}",
        ]
        if standings.skill is not None:
            row.append(f"{standings.skill[i].mu:.1f} ± {standings.skill[i].sigma:.1f}")
        table.add_row(*row)
    return table


def results_table(standings: Standings) -> Table:
    """Each player's shares of matches won, lost, drawn and cut, with their intervals."""
    table = _ranking("share of matches, % [95 %]", standings.results)
    names = shorten(standings.names)
    for number, i in enumerate(standings.order, 1):
        shares = map(_percent, standings.shares(i).values())
        table.add_row(str(number), standings.label(i, names[i]), *shares)
    return table


def _ranking(title: str, heads: Iterable[str]) -> Table:
    """A table with columns for rank and player, and further ones."""
    table = _table(title)
    table.add_column("", justify="right", no_wrap=True)
    table.add_column("player", overflow="fold")
    for head in heads:
        table.add_column(head, justify="right", no_wrap=True)
    return table


def _percent(share: Share) -> str:
    """A share and its interval in percent."""
    return f"{100 * share.share:.0f} [{100 * share.low:.0f}, {100 * share.high:.0f}]" if share.n else "-"


def win_table(standings: Standings) -> Table:
    """Points per match of the row's player against the column's, in percent."""
    order, names = standings.order, shorten(standings.names)
    table = _square(points_title(standings), [names[i] for i in order])
    share = standings.win_share
    for number, i in enumerate(order, 1):
        cells = ["" if i == j or not np.isfinite(share[i, j]) else f"{100 * share[i, j]:.0f}" for j in order]
        table.add_row(str(number), names[i], *cells)
    return table


def life_table(results: MergeResults, cap: int) -> Table:
    """Mean life of the row's home beside the column's, with its interval."""
    table = _square(f"mean life beside another home, {cap} places, ticks (95 %)", shorten(results.names))
    cells = {(cell.home, cell.other): cell for cell in results.cells if cell.cap == cap}
    for number, (home, name) in enumerate(zip(results.names, shorten(results.names), strict=True), 1):
        table.add_row(str(number), name, *(_life(cells[home, other]) for other in results.names))
    return table


def _square(title: str, names: Sequence[str]) -> Table:
    """A table with a column per player, headed by names, or by numbers if there is no room."""
    table = _table(title)
    table.add_column("", justify="right")
    table.add_column("", overflow="fold")
    roomy = sum(map(len, names)) + 2 * len(names) <= ROOM
    for number, name in enumerate(names, 1):
        table.add_column(name if roomy else str(number), justify="right", no_wrap=True)
    return table


def company_table(results: MergeResults) -> Table:
    """For each home (a column): lives, share of the living, causes of death, gains per life."""
    table = _table("lives of each home, all caps and all company")
    columns = [_all_lives([cell for cell in results.cells if cell.home == home]) for home in results.names]
    table.add_column("", no_wrap=True)
    for name in shorten(results.names):
        table.add_column(name, justify="right")
    for measure in dict.fromkeys(name for column in columns for name in column):
        table.add_row(measure, *(column.get(measure, "") for column in columns))
    return table


def _life(cell: LifeCell) -> str:
    if not np.isfinite(cell.life):
        return "no births"
    if not np.isfinite(cell.interval).all():
        return f"{cell.life:.4g}"
    return f"{cell.life:.4g} ({cell.interval[0]:.3g} .. {cell.interval[1]:.3g})"


def _all_lives(cells: Any) -> dict[str, str]:
    lives = sum(cell.lives for cell in cells)
    met = [cell for cell in cells if cell.home != cell.other]
    found = {
        "lives": f"{lives:,}",
        "cut": f"{sum(cell.cut for cell in cells):,}",
        "share of the living": f"{100 * np.mean([cell.share for cell in met]):.0f} %" if met else "",
    }
    for cause in sorted({cause for cell in cells for cause in cell.causes}):
        share = sum(cell.causes.get(cause, 0.0) * cell.lives for cell in cells) / max(lives, 1)
        found[f"died: {cause}"] = f"{100 * share:.1f} %"
    for name in next((cell.per_life for cell in cells if cell.lives), {}):
        mean = sum(np.asarray(cell.per_life[name]) * cell.lives for cell in cells if cell.lives) / lives
        found[f"{name} per life"] = " / ".join(f"{value:.3g}" for value in np.ravel(mean))
    return found


def _table(title: str) -> Table:
    return Table(
        title=Text(title, no_wrap=True, overflow="ignore"), title_justify="left", box=None, pad_edge=False
    )


def shorten(names: Sequence[str]) -> list[str]:
    """Names without their common folders, long ones cut in the middle; whole if two would become equal.

    Example:
        >>> shorten(["hunter", "sweeps/rates/clip-0.1--seed-0", "sweeps/rates/clip-0.2--seed-0"])
        ['hunter', 'clip-0.1--seed-0', 'clip-0.2--seed-0']
        >>> shorten(["learning_rate-0.0003--clip-0.1--seed-0"])
        ['learning_rate…-clip-0.1--seed-0']
    """
    folders = [os.path.dirname(name) for name in names if "/" in name]
    shared = os.path.commonpath(folders) if len({name[0] == "/" for name in folders if name}) == 1 else ""
    bare = [name.removeprefix(shared + "/") if shared and "/" in name else name for name in names]
    cut = [name if len(name) <= LONGEST else f"{name[:13]}…{name[-17:]}" for name in bare]
    return next((found for found in (cut, bare) if len(set(found)) == len(set(names))), list(names))
