"""A world's report in words: lines of text, with parts coloured or stressed, for a terminal, a file or a page."""

from __future__ import annotations

from typing import NamedTuple


class Span(NamedTuple):
    """A part of a line.

    Attributes:
        text: the words; colour alone never carries information.
        colour: palette number (`interplay.view.palette.POPULATIONS`), or None.
        strong: stressed.
        faint: less important than the text around it.
    """

    text: str
    colour: int | None = None
    strong: bool = False
    faint: bool = False


Line = tuple[Span, ...]


def line(*parts: str | Span) -> Line:
    """A line of texts and spans."""
    return tuple(part if isinstance(part, Span) else Span(part) for part in parts)


def plain(words: Line) -> str:
    """A line's text, without trailing blanks.

    Example:
        >>> plain(line("seat ", Span("4", strong=True), " is eaten "))
        'seat 4 is eaten'
    """
    return "".join(span.text for span in words).rstrip()
