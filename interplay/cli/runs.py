"""`interplay runs`: a table of runs."""

from __future__ import annotations

import json as json_text
from collections.abc import Sequence
from pathlib import Path

import typer

from interplay.cli.declared import declared
from interplay.core.errors import UserError
from interplay.core.files import short_path


@declared(folder="FOLDER")
def runs(
    folder: Path = Path("runs"),
    *,
    metric: Sequence[str] = (),
    json: bool = False,
    csv: bool = False,
    settings: bool = False,
    out: Path | None = None,
) -> None:
    """Lists runs: the settings in which they differ, agent-steps, the last and the best of metrics.

    Last is the mean over the last measurements of a run: a tenth of them, at least 5. Best is the highest mean of blocks of as many, counted back from the end.

    Args:
        folder: run folders are looked for here.
        metric: a column of metrics.jsonl. None: rating, won, return, life, the first two there are.
        json: print JSON instead of a table.
        csv: print comma-separated values.
        settings: the settings that runs read: what varies, what all share.
        out: of --settings: a file, .md or .tex.

    Example:
        interplay runs sweeps/rates
        interplay runs --metric life --csv > runs.csv
        interplay runs sweeps/rates --settings --out settings.tex
    """
    from interplay.view import run_table

    if settings:
        if json or csv or metric:
            raise UserError(
                "--settings: its table is Markdown or LaTeX and has no metrics; leave the other options out"
            )
        _tell_settings(folder, out)
        return
    if out is not None:
        raise UserError(f"--out {out}: only the table of --settings is a file; add --settings")
    if json and csv:
        raise UserError("--json --csv: a table has one form; give one of the two")
    found = run_table.read_rows(run_table.find_runs([folder]), lambda line: typer.echo(line, err=True))
    rows = run_table.table(found, metric or None)
    for run in found:
        if run.log is not None and run.log.mixed_sides:
            typer.echo(run.log.mixed_sides, err=True)
    for note in run_table.notes_on_lasts(found, metric or None):
        typer.echo(note, err=True)
    if json:
        typer.echo(json_text.dumps(rows, indent=1))
    elif csv:
        typer.echo(run_table.to_csv(rows), nl=False)
    elif rows:
        run_table.print_table(rows, folder)


def _tell_settings(folder: Path, out: Path | None) -> None:
    """Prints the settings of the runs in a folder, or writes them."""
    from interplay.view import run_table, settings_table

    rows = run_table.read_rows(run_table.find_runs([folder]), lambda line: typer.echo(line, err=True))
    table = settings_table.settings_table(rows)
    if out is None:
        typer.echo(settings_table.markdown(table), nl=False)
    else:
        typer.echo(f"written: {short_path(settings_table.write(table, out))}")
