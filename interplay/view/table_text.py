"""Tables as Markdown, LaTeX and comma-separated values."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from interplay.view.run_log import one_line

Rows = Sequence[Sequence[str]]  # the head first


def markdown_table(rows: Rows, align: str = "r") -> str:
    """Rows as Markdown, without a final line break; `align` of the columns after the first is ``r`` or ``l``.

    Example:
        >>> print(markdown_table([("key", "value"), ("a|b", "1")]))
        | key | value |
        | --- | ---: |
        | a\\|b | 1 |
    """
    head, *body = ([markdown_text(cell) for cell in row] for row in rows)
    rule = "---:" if align == "r" else "---"
    return "\n".join(map(_line, [head, ["---", *[rule] * (len(head) - 1)], *body]))


def latex_table(rows: Rows, align: str = "r") -> str:
    """Rows as LaTeX, for the package booktabs; see `markdown_table`."""
    head, *body = (" & ".join(map(latex_text, row)) + r" \\" for row in rows)
    top = f"\\begin{{tabular}}{{l{align * (len(rows[0]) - 1)}}}\n\\toprule\n{head}\n\\midrule\n"
    return top + "\n".join(body) + "\n\\bottomrule\n\\end{tabular}\n"


def csv_table(rows: Iterable[Sequence[object]]) -> str:
    """Rows as comma-separated values, with control characters of texts replaced by spaces."""
    text = io.StringIO()
    plain = ([one_line(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
    csv.writer(text, lineterminator="\n").writerows(plain)
    return text.getvalue()


def markdown_text(text: str) -> str:
    """Text escaped for Markdown tables."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("|", "\\|")


def latex_text(text: str) -> str:
    """Text escaped for LaTeX."""
    marks = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return "".join(marks.get(letter, f"\\{letter}" if letter in "&%$#_{}" else letter) for letter in text)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
