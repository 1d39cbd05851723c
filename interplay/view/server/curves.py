"""Learning curves of a run, reduced to few points without loss of extremes (docs/specs/viewer.md 8)."""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from interplay.core.errors import UserError
from interplay.core.reading import METRICS_FILE
from interplay.core.world import Array
from interplay.view.curves import AXES, choose_axis
from interplay.view.run_log import RunLog, one_line, read_run
from interplay.view.server.config import LOG_SECONDS, MOST_CURVES, MOST_LOG, MOST_POINTS
from interplay.view.server.stamps import Stamp, stamp_of

FIRST_WAIT = 0.25  # seconds for which the first answer waits for the log
REST = 5.0  # pause between two reads of a growing log, in multiples of the reading time


class Curve(NamedTuple):
    """A column in buckets of equal width: mean place (ascending), mean, lowest and highest number, (B,) each."""

    x: Array
    mean: Array
    low: Array
    high: Array


def bucket(x: Array, y: Array, points: int, start: float = -math.inf, stop: float = math.inf) -> Curve:
    """Reduces a curve to at most `points` buckets, with the extremes of each.

    Args:
        x, y: (N,) places and numbers; pairs that are not finite are left out.
        points: with at most as many numbers, each is a bucket.
        start, stop: range of places, both included.

    Example:
        >>> bucket(np.arange(6.0), np.array([0.0, 5.0, -1.0, 0.0, 0.0, 9.0]), 2).high.tolist()
        [5.0, 9.0]
    """
    known = np.isfinite(x) & np.isfinite(y) & (x >= start) & (x <= stop)
    order = np.argsort(x[known], kind="stable")
    x, y = x[known][order], y[known][order]
    if len(x) <= points:
        return Curve(x, y, y, y)
    width = (x[-1] - x[0]) / points
    which = (
        np.minimum((x - x[0]) / width, points - 1).astype(np.int64)
        if width > 0
        else np.zeros(len(x), np.int64)
    )
    first = np.flatnonzero(np.diff(which, prepend=-1))
    count = np.diff(np.append(first, len(x)))
    return Curve(
        np.add.reduceat(x, first) / count,
        np.add.reduceat(y, first) / count,
        np.minimum.reduceat(y, first),
        np.maximum.reduceat(y, first),
    )


class CurveRequest(NamedTuple):
    """A request for curves: columns, axis (a key of `AXES`), part of the axis, points of each curve."""

    names: tuple[str, ...] = ()
    against: str = "agent_steps"
    start: float = -math.inf
    stop: float = math.inf
    points: int = 2_000

    def check(self) -> None:
        """Checks the values."""
        if self.against not in AXES:
            raise UserError(f"against = {self.against[:60]}: no such axis; give {', '.join(AXES)}")
        if not 1 <= self.points <= MOST_POINTS:
            raise UserError(f"points = {self.points}; give 1 to {MOST_POINTS:,}")
        if len(self.names) > MOST_CURVES:
            raise UserError(f"names: {len(self.names)} curves; ask for {MOST_CURVES} at most")
        if math.isnan(self.start) or math.isnan(self.stop):
            raise UserError("from, to: no numbers; give places on the axis")


class Logs:
    """The logs of runs, read on request and again after they grew, and dropped `LOG_SECONDS` after the last request.

    Args:
        clock: returns seconds.
        words: text of an error for pages.
    """

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, words: Callable[[Exception], str] = str
    ) -> None:
        self._clock, self._words, self._lock = clock, words, threading.Lock()
        self._logs: dict[Path, _Log] = {}

    def curves(self, run: Path, request: CurveRequest) -> dict[str, Any]:
        """The requested curves of a run."""
        request.check()
        empty = {
            "loading": False,
            "names": [],
            "against": request.against,
            "of_episodes": [],
            "curves": {},
            "problem": None,
        }
        if not os.path.lexists(run / METRICS_FILE):  # a run that has just begun
            return empty
        with self._lock:
            held = self._logs.setdefault(run, _Log(run, self._clock))
            held.requested = now = self._clock()
            self._logs = {one: log for one, log in self._logs.items() if now - log.requested < LOG_SECONDS}
        found = held.latest()
        if found is None or found.log is None:
            return {**empty, "loading": True}
        log = found.log
        (moved,) = choose_axis([log], (), request.against)[1]
        names = [name for name in log.columns if np.isfinite(log.columns[name]).any()]
        return {
            "loading": False,
            "names": [one_line(name) for name in names],
            "against": request.against,
            "of_episodes": [one_line(name) for name in names if name in log.of_episodes],
            "curves": _reduced(moved, request, names),
            "problem": None if found.error is None else self._words(found.error),
            "last": {name: log.last(name)._asdict() for name in request.names if name in names},
        }


def _reduced(log: RunLog, request: CurveRequest, names: Sequence[str]) -> dict[str, Any]:
    found = {}
    for name in request.names:
        if name in names:
            curve = bucket(log.places(name), log.column(name), request.points, request.start, request.stop)
            found[name] = {key: column.tolist() for key, column in curve._asdict().items()}
    return found


class _Read(NamedTuple):
    """What was read of a log's file: its stamp, the newest log that could be read, the error of the last read."""

    stamp: Stamp
    log: RunLog | None
    error: UserError | None


class _Log:
    """The log of one run, read by a thread, and the time at which it was `requested`."""

    def __init__(self, run: Path, clock: Callable[[], float]) -> None:
        self._run, self._clock, self._lock = run, clock, threading.Lock()
        self._stamp: Stamp | None = None
        self.requested = self._next = -math.inf
        self._read: _Read | None = None
        self._thread: threading.Thread | None = None

    def latest(self) -> _Read | None:
        """What was read; None during the first read of a file."""
        with self._lock:
            stamp = stamp_of(self._run / METRICS_FILE)
            idle = self._thread is None or not self._thread.is_alive()
            due = self._clock() >= self._next or self._of(stamp) is None
            if idle and stamp != self._stamp and due:
                self._stamp = stamp
                self._thread = threading.Thread(target=self._look, args=(stamp,), name="curves", daemon=True)
                self._thread.start()
            thread = self._thread
        if thread is not None and self._of(stamp) is None:
            thread.join(FIRST_WAIT)
        found = self._of(stamp)
        if found is not None and found.log is None and found.error is not None:
            raise found.error
        return found

    def _of(self, stamp: Stamp) -> _Read | None:
        """What was read of a file, which may have grown since; None if that was another one."""
        found = self._read
        same = found is not None and (
            found.stamp == stamp or (found.stamp[:2] == stamp[:2] and found.stamp.size < stamp.size)
        )
        return found if same else None

    def _look(self, stamp: Stamp) -> None:
        began, before = self._clock(), self._read
        try:
            if stamp.size > MOST_LOG:
                raise UserError(
                    f"{self._run}: {METRICS_FILE} has more than {MOST_LOG:,} bytes; log less with train.log_every"
                )
            self._read = _Read(stamp, read_run(self._run), None)
        except UserError as error:  # of a damaged log what was read before is still worth showing
            same = before is not None and before.stamp[:2] == stamp[:2]
            self._read = _Read(stamp, before.log if before is not None and same else None, error)
        self._next = self._clock() + REST * (self._clock() - began)
