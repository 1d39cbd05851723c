"""Sums over episodes by the update in which they began; a window is complete when its episodes and all earlier ones ended.

Means over the episodes that *ended* in an update are biased towards short ones at the beginning of a run and wherever episodes
become longer (decision 16). A window is one update long; when all `MOST` are open, the newest is extended.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from interplay.core.errors import UserError
from interplay.train.run.restoring import check_array, restore

MOST = 32  # open windows at a time
BEGINS, UNKNOWN = -1, -2  # instead of a window: a new episode begins, or the current one began in no window


class Windows:
    """The windows of one shard. All shards open and free the same rows at the same time.

    Args:
        worlds: W.
        columns: summed numbers per episode.

    Attributes:
        began: (MOST,) int64, the run's agent-steps when each window was opened; -1 for a free row.
        of: (W,) int64, window of each world's current episode, `BEGINS` or `UNKNOWN`.
        sums: (MOST, columns) float64, over finished episodes.

    Example:
        >>> windows = Windows(2, 1)
        >>> windows.of[:] = windows.current; windows.end(np.array([True, False]), np.array([[3.0]]))
        >>> bool(windows.complete(windows.waiting()).any())  # the other world's episode is unfinished
        False
        >>> windows.end(np.array([False, True]), np.array([[9.0]]))
        >>> windows.take(windows.complete(windows.waiting()))
        array([12.])
    """

    def __init__(self, worlds: int, columns: int) -> None:
        self.began = np.full(MOST, -1, np.int64)
        self.of = np.full(worlds, BEGINS, np.int64)
        self.sums = np.zeros((MOST, columns))
        self._newest, self._closed = 0, False
        self.open(0)

    def open(self, agent_steps: int) -> None:
        """Opens a window for episodes that begin from now on; without a free row the newest is extended."""
        free = np.flatnonzero(self.began < 0)
        if len(free) and agent_steps not in self.began:
            self._newest = int(free[0])
            self.began[self._newest] = agent_steps

    @property
    def current(self) -> int:
        """The window of an episode that begins now."""
        return UNKNOWN if self._closed else self._newest

    def close(self) -> None:
        """Counts episodes that begin from now on in no window."""
        self._closed = True

    def end(self, over: np.ndarray, numbers: np.ndarray) -> None:
        """Adds finished episodes.

        Args:
            over: (W,) bool, worlds with an ended episode.
            numbers: (n, columns) of these episodes.
        """
        rows = self.of[over]
        known = rows >= 0
        np.add.at(self.sums, rows[known], numbers[known])
        self.of[over] = BEGINS

    def waiting(self) -> np.ndarray:
        """(MOST,) unfinished episodes by window."""
        return np.bincount(self.of[self.of >= 0], minlength=MOST)

    def complete(self, waiting: np.ndarray) -> np.ndarray:
        """(MOST,) bool, windows without unfinished episodes in them or in earlier ones.

        Args:
            waiting: (MOST,) unfinished episodes by window, of all shards together.
        """
        late = (self.began >= 0) & (waiting > 0)
        complete: np.ndarray = (self.began >= 0) & (self.began < self.began[late].min(initial=2**62))
        return complete

    def take(self, complete: np.ndarray) -> np.ndarray:
        """(columns,) sums over the windows in `complete`, (MOST,) bool, which become free."""
        sums: np.ndarray = self.sums[complete].sum(axis=0)
        self.sums[complete], self.began[complete] = 0.0, -1
        return sums

    def widen(self, at: np.ndarray, columns: int) -> None:
        """Adds columns; `at`: new positions of the present ones."""
        sums, self.sums = self.sums, np.zeros((MOST, columns))
        self.sums[:, at] = sums

    def forget(self, of: int) -> None:
        """Drops all windows, since without their lost episodes they would be biased.

        Args:
            of: `BEGINS` where new episodes begin; `UNKNOWN` where episodes go on.
        """
        self.sums[:], self.began[:], self.of[:] = 0.0, -1, of

    # -- checkpoints ------------------------------------------------------------------------------------

    def save(self) -> dict[str, np.ndarray]:
        """The state, with sums only of rows in use, because there may be many columns."""
        return {"began": self.began, "of": self.of, "sums": self.sums[self.began >= 0]}

    def fits(self, saved: Mapping[str, np.ndarray]) -> bool:
        """Whether the arrays are of this version: earlier ones saved nothing, or other columns."""
        sums = saved.get("sums")
        return bool(saved) and (sums is None or sums.ndim != 2 or sums.shape[1] == self.sums.shape[1])

    def load(self, saved: Mapping[str, np.ndarray], owner: str) -> None:
        """Restores the arrays of `save`; for those of an earlier version it drops all windows.

        Raises:
            UserError: for arrays that do not fit.
        """
        if not self.fits(saved):
            self.forget(UNKNOWN)
            return
        bounds = {"began": (-1, 2**62 - 1), "of": (UNKNOWN, MOST - 1)}
        for name, mine in (("began", self.began), ("of", self.of)):
            check_array(name, saved.get(name), mine.shape, mine.dtype, owner, bounds)
        used = saved["began"] >= 0
        sums = np.zeros((int(used.sum()), self.sums.shape[1]))
        if not used[saved["of"][saved["of"] >= 0]].all():
            raise UserError(
                f"{owner}: array of holds a window that is not open; choose an earlier checkpoint"
            )
        restore({"began": self.began, "of": self.of, "sums": sums}, saved, owner, bounds)
        self.sums[:] = 0.0
        self.sums[used] = sums
        self._newest = int(self.began.argmax())
