"""`interplay league`: how the league of a run stands."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from interplay.cli.declared import declared
from interplay.core.files import short_path

if TYPE_CHECKING:
    from interplay.evaluate.tournaments.ratings.league_table import LeagueTable


@declared()
def league(run: Path, *, out: Path | None = None, json: bool = False, trust: bool = False) -> None:
    """Prints the players of a league with their ratings and results, and draws ratings over time.

    Args:
        run: a run with a league, or one of its checkpoints.
        out: the picture to write, .png. None: RUN/league.png.
        json: print JSON instead, and draw nothing but for --out.

    Example:
        interplay league runs/pong
        interplay league runs/pong --json
        interplay league runs/pong --out league.png
    """
    import json as json_text

    from interplay.verbs.trainer import load_trainer

    load_trainer()
    from interplay.train.selfplay.league.reading import read_league
    from interplay.view.standings_picture import plot_league

    table = read_league(run, trust)
    if json:
        typer.echo(json_text.dumps(table.to_dict(), indent=1))
    else:
        _print(table)
    if out is not None or not json:
        home = (
            run.resolve().parent.parent if (run / "manifest.json").exists() else run
        )  # no file of ours in a checkpoint
        written = plot_league(table, out or home / "league.png")
        typer.echo(f"written: {short_path(written)}", err=json)


def _print(table: LeagueTable) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    lines = Table(
        title=f"{table.world}, {table.agent_steps:,} agent-steps; matches by {table.score}; Elo points, {table.anchor} at 0",
        title_justify="left",
    )
    for title, side in (
        ("", "right"),
        ("player", "left"),
        ("Elo", "right"),
        ("matches", "right"),
        ("points", "right"),
        ("Nash", "right"),
    ):
        lines.add_column(title, justify=side, no_wrap=True)  # type: ignore[arg-type]
    met, merged = table.payoff.met, table.payoff.merged()
    for number, i in enumerate(table.order, 1):
        matches = met[i].sum()
        points = 50 * (1 + (merged[i] * met[i]).sum() / matches)
        lines.add_row(
            str(number),
            table.names[i],
            f"{table.elo[i]:+z.0f}",
            f"{matches:,.0f}",
            f"{points:.0f} %",
            f"{table.nash[i]:.2f}",
        )
    console.print(lines)
    advantage = table.payoff.seat_advantage()
    console.print(f"first seat: {advantage:+.3f} on average, of -1 to 1", markup=False, highlight=False)
