"""`interplay runs`: a table of runs."""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import Annotated

import typer

EXAMPLE = "interplay runs sweeps/rates\ninterplay runs --metric life --csv > runs.csv"


def runs(
    folder: Annotated[Path, typer.Argument(help="Run folders are looked for here.")] = Path("runs"),
    metric: Annotated[
        list[str] | None,
        typer.Option(help="A column of metrics.jsonl, may be repeated.  [default: rating, return, life]"),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print comma-separated values.")] = False,
) -> None:
    """Lists runs: the settings in which they differ, agent-steps, the last and the best of metrics.

    Last is the mean over the last measurements of a run: a tenth of them, at least 5. Best is the highest mean of as many in a row.
    """
    from interplay.core.errors import UserError
    from interplay.view import run_table

    if json and csv:
        raise UserError("--json --csv: a table has one form; give one of the two")
    found = run_table.read_rows(run_table.find_runs([folder]), lambda line: typer.echo(line, err=True))
    rows = run_table.table(found, metric)
    for run in found:
        if run.log is not None and run.log.mixed_sides:
            typer.echo(run.log.mixed_sides, err=True)
    if json:
        typer.echo(json_text.dumps(rows, indent=1))
    elif csv:
        typer.echo(run_table.to_csv(rows), nl=False)
    elif rows:
        run_table.print_table(rows, folder)
