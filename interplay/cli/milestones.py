"""`interplay evaluate RUN --at-checkpoints`: the same episodes at every checkpoint of a run, as it is printed."""

from __future__ import annotations

import json as json_text
from collections.abc import Mapping, Sequence
from typing import Any

import typer

from interplay.core.errors import UserError
from interplay.verbs.milestones import Evaluated, Evaluation

MOST_COLUMNS = 6  # of the table that is printed


def show(
    wanted: Evaluation,
    evaluated: Evaluated,
    columns: Sequence[str],
    json: bool,
    csv: bool,
) -> None:
    """Prints the rows as a table, as JSON or as comma-separated values.

    Raises:
        UserError: for an unknown column.
    """
    from interplay.core.json_values import plain
    from interplay.evaluate.lineup import line_of
    from interplay.evaluate.milestones import BY_AGENT, ERRORS, metrics_of, to_csv

    world, agents, rows, players = evaluated
    metrics = metrics_of(rows)
    for name in columns:
        if name not in metrics:
            raise UserError(f"no column {name!r}; there are {', '.join(metrics)}")
    if csv:
        typer.echo(to_csv(rows, agents, line_of(players)), nl=False)
        return
    if json:
        report = {
            "world": world,
            "run": wanted.folder,
            **({"roles": dict(words.split("=", 1) for words in wanted.roles)} if wanted.roles else {}),
            "players": players,
            "seed": wanted.seed,
            "agents": list(agents),
            "checkpoints": rows,
        }
        typer.echo(json_text.dumps(plain(report), indent=1, allow_nan=False))
        return
    shown = list(columns) or [name for name in metrics if name != "truncated"][:MOST_COLUMNS]
    typer.echo(
        f"{wanted.folder} on {world}, the same {wanted.episodes} episodes at each checkpoint, mean ± standard error"
    )
    typer.echo(line_of(players))
    _print(
        [["agent-steps", *shown], *([f"{row['agent_steps']:,}", *_cells(row, shown, ERRORS)] for row in rows)]
    )
    hidden = [name for name in metrics if name not in shown and name not in (BY_AGENT, "truncated")]
    if hidden and not columns:
        typer.echo(
            f"also measured: {', '.join(hidden)}; choose with --column, or take all with --json or --csv"
        )


def _cells(row: Mapping[str, Any], names: Sequence[str], errors: str) -> list[str]:
    from interplay.evaluate.statistics import Estimate

    cells = []
    for name in names:
        mean = row[name]
        known = mean is not None and mean == mean
        cells.append(str(Estimate(mean if known else 0.0, row[errors][name], int(known))))
    return cells


def _print(lines: Sequence[Sequence[str]]) -> None:
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        typer.echo("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)))
