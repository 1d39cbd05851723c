"""Detects lost workers while the first worker waits for them.

A process that has ended is lost at once, a stopped one (SIGSTOP) after `STOPPED` seconds. A running one is lost after the larger of
`HEARTBEAT_TIMEOUT` seconds and ten times the first worker's longest time for its equally large part. Time in compilations does not
count while the heart beats.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from interplay.core.errors import UserError
from interplay.core.overdue import AFTER, OVERDUE, SLOWER
from interplay.train.parallel.exchange import COMPILED, COMPILING, HEART, LostWorker

STOPPED = 1.0  # seconds; a debugger's stop is shorter
HEARTBEAT_TIMEOUT = 30.0  # seconds of silence that are always allowed
GUARD = 'if __name__ == "__main__":'
START_TIMEOUT = 120.0  # seconds before a worker's first sign, for its start, imports and worlds


class Watch:
    """Watches the other workers.

    Args:
        processes: of the other workers, from worker 1 on.
        pipes: over which they send the reason of their end.
    """

    def __init__(self, processes: Sequence[Any], pipes: Sequence[Any]) -> None:
        self._processes, self._pipes = processes, pipes
        self._longest = 0.0
        self._silent_since = [0.0] * len(processes)
        self._stopped_since = [0.0] * len(processes)
        self._seen: np.ndarray | None = None

    def begin(self, own_seconds: float) -> None:
        """The first worker begins to wait, after `own_seconds` of its own work without compilations."""
        self._longest = max(self._longest, own_seconds)
        self._seen = None

    def look(self, signs: np.ndarray, late: Sequence[int]) -> None:
        """Checks the workers; called a few times a second during a wait.

        Args:
            signs: (size, 8) int64, of all workers.
            late: workers that have not come.

        Raises:
            LostWorker: if one of them is lost.
            UserError: sent by a worker before it ended.
        """
        now, signs = time.monotonic(), signs.copy()
        if self._seen is None:
            self._silent_since = [now] * len(self._processes)
            self._stopped_since = [now] * len(self._processes)
            self._seen = signs
        for rank in late:
            self._look_at(rank, signs[rank], now)
        self._seen = signs

    def _look_at(self, rank: int, line: np.ndarray, now: float) -> None:
        assert self._seen is not None
        process, before, at = self._processes[rank - 1], self._seen[rank], rank - 1
        who = f"worker {rank} (process {process.pid})"
        if not process.is_alive():
            self._refuse_ended(rank, who, bool(line[HEART]))
        if not _is_stopped(process.pid):
            self._stopped_since[at] = now
        elif now - self._stopped_since[at] >= STOPPED:
            raise LostWorker(f"{who} was frozen")
        if line[COMPILED] != before[COMPILED] or (line[COMPILING] and line[HEART] != before[HEART]):
            self._silent_since[at] = now
        least = HEARTBEAT_TIMEOUT if line[HEART] else START_TIMEOUT
        silent = now - self._silent_since[at]
        if OVERDUE.hurried and silent > max(AFTER, SLOWER * self._longest):
            raise KeyboardInterrupt  # a worker that does not come back cannot finish its update
        if silent > max(least, 10 * self._longest):
            raise LostWorker(f"{who} has been silent for {silent:.0f} s")

    def _refuse_ended(self, rank: int, who: str, began: bool) -> None:
        process, pipe = self._processes[rank - 1], self._pipes[rank - 1]
        with contextlib.suppress(EOFError, OSError):
            if pipe.poll():
                kind, text = pipe.recv()
                raise UserError(
                    text
                    if kind == "user"
                    else f"worker {rank} failed:\n{text.rstrip()}\n; the run has stopped"
                )
        code = process.exitcode or 0
        if code > 0 and not began:  # the next one would end so too
            raise UserError(
                f"{who} ended with exit code {code} before it began to work, as it tells above; a script that trains with several workers "
                f"needs {GUARD} around what it does, since they import it"
            )
        how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
        raise LostWorker(f"{who} {how}")


def _is_stopped(pid: int) -> bool:
    """Whether a child is stopped by a signal; False if unknown to the system."""
    if not hasattr(os, "waitid"):
        return False
    try:
        found = os.waitid(os.P_PID, pid, os.WSTOPPED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False  # it has ended
    return found is not None and found.si_code == os.CLD_STOPPED
