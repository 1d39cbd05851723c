"""What verbs print: aligned tables, and the progress of a long measurement on stderr."""

from __future__ import annotations

import time
from collections.abc import Container, Sequence

import typer

EVERY = 2.0  # seconds


def print_aligned(rows: Sequence[Sequence[str]], left: Container[int] = (), indent: str = "") -> None:
    """Prints rows with aligned columns, those of `left` to the left and the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [
            cell.ljust(width) if number in left else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        typer.echo(f"{indent}{'  '.join(cells)}".rstrip())


class ProgressLines:
    """Prints how far each part of the work is, and the time left, where it takes more than two seconds."""

    def __init__(self) -> None:
        self._clock = time.monotonic
        self._what, self._heard, self._first = "", 0, 0
        self._started = self._reported = 0.0

    def __call__(self, what: str, done: int, of: int) -> None:
        now = self._clock()
        if what != self._what:
            self._what, self._heard = what, 0
        self._heard += 1
        if self._heard <= 2:  # the first piece of work may have waited for the compiler
            self._started, self._reported, self._first = now, now, done
        elif now - self._reported >= EVERY and done > self._first:
            from interplay.train.run.progress import duration

            self._reported = now
            left = (of - done) * (now - self._started) / (done - self._first)
            typer.echo(f"{what}: {done:,} / {of:,}, {duration(left)} left", err=True)
