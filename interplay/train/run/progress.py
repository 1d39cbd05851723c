"""Progress of a run: a bar on a terminal, a plain line every few seconds elsewhere."""

from __future__ import annotations

import contextlib
import html
import math
import sys
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import TextIO

_WINDOW = 30.0  # seconds of the rate's moving average


class Progress:
    """Shows agent-steps done and total, agent-steps per second, the time left and a few metrics.

    Args:
        total: agent-steps of the whole run; None where another limit ends it.
        done: agent-steps before this process began.
        stream: output; standard error if None.
        every: seconds between plain lines.
        clock: seconds since a fixed moment, for tests.
        unit: what is counted.
        before: text of the bar until the first update.
        unmeasured: measure the rate from the first update with progress, without the compilation before it.

    Example:
        >>> times = iter([0.0, 10.0])
        >>> with Progress(300_000, stream=sys.stdout, clock=lambda: next(times)) as progress:
        ...     progress.update(100_000, {"episode_length": 512.3})
        100,000 / 300,000 agent-steps (33 %), 10,000/s, 20 s left, episode_length 512.3
    """

    def __init__(
        self,
        total: int | None,
        done: int = 0,
        stream: TextIO | None = None,
        every: float = 5.0,
        clock: Callable[[], float] = time.monotonic,
        unit: str = "agent-steps",
        before: str = "",
        unmeasured: bool = False,
    ) -> None:
        self.total = total
        self.unit = unit
        self.done = done
        self.stream = stream or sys.stderr
        self.every = every
        self.clock = clock
        self._recent: deque[tuple[float, int]] = deque([(clock(), done)])
        self._unmeasured = unmeasured
        self._updated = False
        self._printed = -1.0e300
        self._once: set[str] = set()
        self._shown_done = -1
        self._numbers: Mapping[str, float] = {}
        self._bar = _find_bar(total, done, self.stream, before)

    @property
    def rate(self) -> float:
        """Agent-steps per second over the last half minute; 0 before the first measurement."""
        (then, before), (now, done) = self._recent[0], self._recent[-1]
        return (done - before) / (now - then) if now > then else 0.0

    @property
    def seconds_left(self) -> float | None:
        """Seconds to the end at this rate; None while the rate or the end is unknown."""
        known = self.total is not None and self.rate > 0
        return max((self.total or 0) - self.done, 0) / self.rate if known else None

    def update(self, done: int, numbers: Mapping[str, float] | None = None) -> None:
        """Shows `done` agent-steps in all, with the latest metrics."""
        now = self.clock()
        if self._unmeasured:
            self._unmeasured = done == self.done
            self._recent.clear()
        self.done, self._updated = done, True
        self._numbers = numbers or {}
        self._recent.append((now, done))
        while len(self._recent) > 2 and now - self._recent[1][0] > _WINDOW:
            self._recent.popleft()
        if self._bar is not None:
            with contextlib.suppress(OSError):
                self._bar.show(done, self._head(), self._number_words())
        elif now - self._printed >= self.every:
            self._printed = now
            self._print_line()

    def say(self, line: str) -> None:
        """Prints a line without breaking the bar."""
        if self._bar is not None:
            with contextlib.suppress(OSError):
                self._bar.say(line)
        else:
            tell(line, self.stream)

    def say_once(self, line: str) -> None:
        """Prints a line unless it was printed so before."""
        if line not in self._once:
            self._once.add(line)
            self.say(line)

    def close(self) -> None:
        """Ends the bar; without a terminal prints the last state if it was not printed yet."""
        if self._bar is not None:
            with contextlib.suppress(OSError):
                self._bar.close()
            self._bar = None
        elif self._updated and self._shown_done != self.done:
            self._print_line()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _print_line(self) -> None:
        self._shown_done = self.done
        parts = [self._head(), self._number_words()]
        tell(", ".join(part for part in parts if part), self.stream)

    def _head(self) -> str:
        if self.total is None:
            return f"{self.done:,} {self.unit}" + (f", {self.rate:,.0f}/s" if self.rate > 0 else "")
        share = f"{min(100 * self.done // max(self.total, 1), 100)} %"
        left = self.seconds_left
        speed = f"{self.rate:,.0f}" if self.rate >= 10 else f"{self.rate:.2g}"
        rate = "" if left is None else f", {speed}/s, {duration(left)} left"
        return f"{self.done:,} / {self.total:,} {self.unit} ({share}){rate}"

    def _number_words(self) -> str:
        return ", ".join(
            f"{name} -" if math.isnan(value) else f"{name} {value:.4g}"
            for name, value in self._numbers.items()
        )


def _find_bar(total: int | None, done: int, stream: TextIO, before: str) -> _Bar | _Notebook | None:
    """A display that is redrawn in place; None for a file or a pipe."""
    if stream.isatty():
        return _Bar(total, done, stream, before)
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if stream is sys.stderr and hasattr(shell, "kernel"):
        return _Notebook(total, before)
    return None


class _Notebook:
    """The notebook's form: one line of output that is replaced."""

    def __init__(self, total: int | None, before: str) -> None:
        from IPython.display import HTML, display

        self._html, self._total = HTML, total
        self._place = display(HTML(f"<pre>{html.escape(before)}</pre>"), display_id=True)

    def show(self, done: int, head: str, numbers: str) -> None:
        words = html.escape(", ".join(part for part in (head, numbers) if part))
        bar = "" if self._total is None else f'<progress value="{done}" max="{self._total}"></progress> '
        self._place.update(self._html(f"{bar}<pre style='display:inline'>{words}</pre>"))

    def say(self, line: str) -> None:
        print(line, file=sys.stderr, flush=True)

    def close(self) -> None:
        """The last state stays."""


class _Bar:
    """The terminal's form, drawn by rich."""

    WIDTH = 16

    def __init__(self, total: int | None, done: int, stream: TextIO, before: str) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as Rich

        columns = (
            BarColumn(bar_width=self.WIDTH),
            TextColumn("{task.fields[head]}", markup=False),
            TextColumn("{task.fields[numbers]}", style="dim", markup=False),
        )
        self.rich = Rich(*columns, console=Console(file=stream), refresh_per_second=4)
        self.task = self.rich.add_task("", total=total, completed=done, head=before, numbers="")
        with contextlib.suppress(OSError):
            self.rich.start()

    def show(self, done: int, head: str, numbers: str) -> None:
        # Rich would shorten the longest column; shorten the metrics instead.
        room = max(self.rich.console.width - self.WIDTH - len(head) - 2, 1)
        numbers = numbers if len(numbers) <= room else numbers[: room - 1] + "…"
        self.rich.update(self.task, completed=done, head=head, numbers=numbers)

    def say(self, line: str) -> None:
        self.rich.console.print(line, markup=False, highlight=False)

    def close(self) -> None:
        self.rich.stop()


def tell(line: str, stream: TextIO | None = None) -> None:
    """Prints a line on standard error or another stream, ignoring a closed one: it must not end a run."""
    with contextlib.suppress(OSError):
        print(line, file=stream or sys.stderr, flush=True)


def duration(seconds: float) -> str:
    """Seconds as text.

    Example:
        >>> duration(42), duration(192), duration(7380)
        ('42 s', '3 min 12 s', '2 h 03 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
