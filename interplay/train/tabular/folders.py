"""Folders for results of experiments, named with date and time and never reused.

Source: specification 6.2 and fault F28.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from interplay.core.files import os_errors_as_user_errors

RESULTS = "interplay_results"


def results_folder(base: str | Path | None = None) -> Path:
    """``<base>/interplay_results``; a relative base is below the current folder, None is the home directory."""
    return (Path.home() if base is None else Path(base).expanduser().absolute()) / RESULTS


def stamp(moment: datetime) -> str:
    """Date and time for names.

    Example:
        >>> stamp(datetime(2025, 3, 1, 9, 5))
        '2025-03-01_09-05'
    """
    return moment.strftime("%Y-%m-%d_%H-%M")


def make_folder(path: Path) -> Path:
    """Makes a new folder: the path, or with ``_1``, ``_2``, ... appended if it exists.

    Raises:
        UserError: if it cannot be made.
    """
    number, chosen = 0, path
    with os_errors_as_user_errors("making the folder", path):
        path.parent.mkdir(parents=True, exist_ok=True)
        while True:
            try:
                chosen.mkdir()
            except FileExistsError:
                number += 1
                chosen = path.with_name(f"{path.name}_{number}")
            else:
                return chosen
