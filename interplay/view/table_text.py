"""Tables of words as Markdown and as LaTeX."""

from __future__ import annotations

from collections.abc import Sequence

Rows = Sequence[Sequence[str]]  # the head first


def markdown_table(rows: Rows, align: str = "r") -> str:
    """Rows as Markdown, without a line's end behind the last.

    Args:
        rows: the head first.
        align: of the columns behind the first: ``r`` or ``l``.

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
    """Rows as LaTeX, for the package booktabs; arguments as for `markdown_table`."""
    head, *body = (" & ".join(map(latex_text, row)) + r" \\" for row in rows)
    top = f"\\begin{{tabular}}{{l{align * (len(rows[0]) - 1)}}}\n\\toprule\n{head}\n\\midrule\n"
    return top + "\n".join(body) + "\n\\bottomrule\n\\end{tabular}\n"


def markdown_text(text: str) -> str:
    """Words as Markdown shows them, in a table too."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("|", "\\|")


def latex_text(text: str) -> str:
    """Words as LaTeX prints them."""
    marks = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return "".join(marks.get(letter, f"\\{letter}" if letter in "&%$#_{}" else letter) for letter in text)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
