"""`interplay curves`: learning curves of one or more runs as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import typer

from interplay.cli.declared import declared
from interplay.core.files import short_path


@declared(against="agent_steps|slot_steps|time", by="agent|team")
def curves(
    runs: Sequence[Path],
    *,
    column: Sequence[str] = (),
    against: str = "",
    by: str = "",
    label: Sequence[str] = (),
    out: Path = Path("curves.png"),
    size: str = "",
    font_size: float | None = None,
    title: str = "",
) -> None:
    """Draws what runs have learned, from their metrics.jsonl.

    Args:
        runs: run folders, or folders of runs; runs that differ in their seed are one curve.
        column: a column of metrics.jsonl. None: episode length and return, won, life, rating.
        against: what curves are drawn against. None: what the published curve counts, or agent_steps.
        by: a curve for each agent, or each team.
        out: the picture to write, .png, .pdf or .svg.

    Example:
        interplay curves runs/first runs/second --out curves.png
        interplay curves sweeps/rates --column kills --by team --against slot_steps
    """
    from interplay.view.curves import plot_runs
    from interplay.view.figures import figure_look
    from interplay.view.run_groups import read_labels
    from interplay.view.run_table import find_runs

    look, labels = figure_look(size, font_size, title), read_labels(label)
    found = find_runs(runs, lenient=True)
    picture = plot_runs(found, out, columns=column or None, against=against, by=by, labels=labels, look=look)
    typer.echo(f"written: {short_path(picture)}")
