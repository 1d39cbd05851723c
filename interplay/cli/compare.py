"""`interplay compare`: groups of runs against each other."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import typer

from interplay.cli.declared import declared
from interplay.core.errors import UserError
from interplay.core.files import short_path


@declared()
def compare(
    runs: Sequence[Path],
    *,
    metric: str | None = None,
    label: Sequence[str] = (),
    out: Path = Path("comparison.png"),
    size: str = "",
    font_size: float | None = None,
    title: str = "",
) -> None:
    """Compares runs, those that differ in their seed alone as one group: curves, final scores, intervals over seeds.

    Other groups are compared with the first run's.

    Args:
        runs: run folders, or folders of runs such as a sweep's.
        metric: a column of metrics.jsonl. None: rating, won, return or life, the first there is.
        out: the picture, .png, .pdf or .svg; tables lie beside it, .table.md, .table.tex and .table.csv.

    Example:
        interplay compare sweeps/rates --metric episode_return --out rates.png
        interplay compare runs/a-0 runs/a-1 runs/b-0 runs/b-1
    """
    from interplay.core.files import os_errors_as_user_errors, replace_file
    from interplay.view import comparison
    from interplay.view.comparison_picture import plot_comparison
    from interplay.view.figures import figure_look
    from interplay.view.output import FIGURES, check_output
    from interplay.view.run_groups import read_labels

    check_output(out, FIGURES)
    look = figure_look(size, font_size, title)
    for ending, begins in comparison.BEGINS.items():
        if not _may_write(path := out.with_suffix(ending), begins):
            raise UserError(f"{path} is no table of this command; move it away, or give --out another name")
    found = comparison.compare(runs, metric, read_labels(label))
    text = comparison.markdown(found)
    written = (text, comparison.latex(found), comparison.scores_csv(found))
    tables = {
        out.with_suffix(ending): words for ending, words in zip(comparison.BEGINS, written, strict=True)
    }
    for path, words in tables.items():
        with os_errors_as_user_errors("writing", path):
            replace_file(path, words, "table")
    typer.echo(text)
    typer.echo(f"written: {', '.join(map(short_path, [plot_comparison(found, out, look), *tables]))}")


def _may_write(path: Path, begins: str) -> bool:
    """Whether nothing stands there, or a table that this command wrote."""
    from interplay.core.files import os_errors_as_user_errors
    from interplay.core.reading import opened

    if not os.path.lexists(path):
        return True
    if path.is_symlink() or not path.is_file():
        return False
    with os_errors_as_user_errors("reading", path), opened(path, links=False) as file:
        return file.read(len(begins)) == begins.encode()
