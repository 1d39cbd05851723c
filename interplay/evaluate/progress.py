"""Reports the progress of long measurements."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, int, int], None]  # (task, done, total)


def no_progress(_what: str, _done: int, _of: int) -> None:
    """A `Progress` that does nothing."""
