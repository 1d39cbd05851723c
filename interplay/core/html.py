"""Tables as notebooks show them."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import Any


def html_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table for a notebook.

    Example:
        >>> html_table("a & b", ["x"], [[1]])
        '<table><caption>a &amp; b</caption><tr><th>x</th></tr><tr><td>1</td></tr></table>'
    """
    head = "".join(f"<th>{html.escape(str(name))}</th>" for name in columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><caption>{html.escape(title)}</caption><tr>{head}</tr>{body}</table>"
