"""Reports the progress of long measurements."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, int, int], None]  # what is being done, how much of it is done, of how much


def no_progress(_what: str, _done: int, _of: int) -> None:
    """A `Progress` that says nothing."""
