"""`interplay curves`: learning curves of one or more runs as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from interplay.cli.options import FigureSize, FontSize, Title, named_path

EXAMPLE = (
    "interplay curves runs/first runs/second --out curves.png\n"
    "interplay curves sweeps/rates --column kills --by team --against slot_steps"
)


def curves(
    runs: Annotated[
        list[Path],
        typer.Argument(help="Run folders, or folders of runs; runs that differ in their seed are one curve."),
    ],
    column: Annotated[
        list[str] | None,
        typer.Option(
            help="A column of metrics.jsonl, may be repeated.  [default: episode length and return, won, life, rating]"
        ),
    ] = None,
    against: Annotated[
        str,
        typer.Option(
            metavar="agent_steps|slot_steps|time",
            help="What curves are drawn against.  [default: what the published curve counts, or agent_steps]",
        ),
    ] = "",
    by: Annotated[str, typer.Option(metavar="agent|team", help="A curve for each agent, or each team.")] = "",
    label: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=TEXT",
            help="TEXT instead of a group's label; KEY is the label, or one of the group's runs. May be repeated.",
        ),
    ] = None,
    out: Annotated[
        Path,
        typer.Option(parser=named_path, metavar="PATH", help="The picture to write, .png, .pdf or .svg."),
    ] = Path("curves.png"),
    size: FigureSize = "",
    font_size: FontSize = None,
    title: Title = "",
) -> None:
    """Draws what runs have learned, from their metrics.jsonl."""
    from interplay.view.curves import plot_runs
    from interplay.view.figures import figure_look
    from interplay.view.run_groups import read_labels
    from interplay.view.run_table import find_runs

    look, labels = figure_look(size, font_size, title), read_labels(label or [])
    found = find_runs(runs, lenient=True)
    picture = plot_runs(found, out, columns=column, against=against, by=by, labels=labels, look=look)
    typer.echo(f"written: {picture}")
