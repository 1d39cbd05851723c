"""`interplay compare`: groups of runs against each other."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from interplay.cli.options import named_path

EXAMPLE = (
    "interplay compare sweeps/rates --metric episode_return --out rates.png\n"
    "interplay compare runs/a-0 runs/a-1 runs/b-0 runs/b-1"
)


def compare(
    runs: Annotated[list[Path], typer.Argument(help="Run folders, or folders of runs such as a sweep's.")],
    metric: Annotated[
        str | None,
        typer.Option(
            help="A column of metrics.jsonl.  [default: rating, return or life, the first there is]"
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the bootstrap.", min=0)] = 0,
    draws: Annotated[int, typer.Option(help="Of the bootstrap.", min=100, max=1_000_000)] = 2_000,
    out: Annotated[
        Path,
        typer.Option(
            parser=named_path, metavar="PATH", help="The picture, .png; tables lie beside it, .md and .tex."
        ),
    ] = Path("comparison.png"),
) -> None:
    """Compares runs, those that differ in their seed alone as one group: curves, final scores, intervals over seeds.

    The first run's group is the one that others are compared with.
    """
    from interplay.core.files import replace_file, told_plainly
    from interplay.view import comparison
    from interplay.view.comparison_picture import plot_comparison
    from interplay.view.output import check_output

    check_output(out, (".png",))
    found = comparison.compare(runs, metric, seed, draws)
    text = comparison.markdown(found)
    tables = {out.with_suffix(".md"): text, out.with_suffix(".tex"): comparison.latex(found)}
    for path, words in tables.items():
        with told_plainly("writing", path):
            replace_file(path, words, "table")
    typer.echo(text)
    typer.echo(f"written: {plot_comparison(found, out)}, {', '.join(map(str, tables))}")
