"""Notifies a trainer that its run is watched, by the only file that the viewer writes (docs/specs/viewer.md 2 and 11.6)."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from interplay.core.files import replace_file
from interplay.core.replay.layout import RECORDINGS, WATCHING
from interplay.view.server.config import WORD_SECONDS


class Watching:
    """Renews the file ``watching`` of runs that are open in pages; `clock` returns seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._said: dict[Path, float] = {}

    def renew(self, run: Path) -> None:
        """Renews the file of a run; does nothing without a folder of recordings, or if it cannot be written.

        Args:
            run: its folder, without links in its path.
        """
        now, folder = self._clock(), run / RECORDINGS
        if now - self._said.get(run, -math.inf) < WORD_SECONDS:
            return
        self._said[run] = now
        with suppress(OSError):
            if os.path.realpath(folder) == str(folder) and folder.is_dir():
                replace_file(folder / WATCHING, f"{time.time():.0f}\n", "watching")
