"""`interplay curves`: learning curves of one or more runs as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from interplay.cli.options import named_path

EXAMPLE = "interplay curves runs/first runs/second --out curves.png"


def curves(
    runs: Annotated[list[Path], typer.Argument(help="Run folders; runs of one world share a picture.")],
    column: Annotated[
        list[str] | None,
        typer.Option(
            help="A column of metrics.jsonl, may be repeated.  [default: episode length and return]"
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option(parser=named_path, metavar="PATH", help="The picture to write, .png.")
    ] = Path("curves.png"),
) -> None:
    """Draws what runs have learned, from their metrics.jsonl."""
    from interplay.view.curves import plot_runs

    typer.echo(f"written: {plot_runs(runs, out, columns=column)}")
