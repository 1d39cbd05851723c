"""Sums over episodes by when they began: a window is told when the last episode that began in it, or earlier, has ended.

Means over the episodes that *ended* in an update are wrong where a run begins, and wherever episodes become longer: the short
ones end first (decision 16). For the same reason no window is told before an earlier one. A window is one update long; where all
`MOST` are waited for, the newest goes on.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from interplay.core.errors import UserError
from interplay.train.run.restoring import check_array, restore

MOST = 32  # windows that are waited for at a time
BEGINS, UNKNOWN = (
    -1,
    -2,
)  # instead of a window: the world begins an episode, or began this one at a time that nobody noted


class Windows:
    """The windows of one shard. Every shard opens and frees them at the same time, so that a row means the same in all.

    Args:
        worlds: that play episodes.
        columns: numbers that are added up of each episode.

    Attributes:
        began: (MOST,) int64, the run's agent-steps when each window was opened; -1 for a free row.
        of: (W,) int64, each world's window: of the episode under way, `BEGINS` or `UNKNOWN`.
        sums: (MOST, columns) float64, over the episodes that have ended.

    Example:
        >>> windows = Windows(2, 1)
        >>> windows.of[:] = windows.current; windows.end(np.array([True, False]), np.array([[3.0]]))
        >>> bool(windows.complete(windows.waiting()).any())  # the other world's episode is waited for
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
        """An update begins: so do a window's episodes, from here to the next call; where no row is free the newest goes on."""
        free = np.flatnonzero(self.began < 0)
        if len(free) and agent_steps not in self.began:
            self._newest = int(free[0])
            self.began[self._newest] = agent_steps

    @property
    def current(self) -> int:
        """The window in which an episode begins now."""
        return UNKNOWN if self._closed else self._newest

    def close(self) -> None:
        """Episodes that begin from here on count in no window."""
        self._closed = True

    def end(self, over: np.ndarray, told: np.ndarray) -> None:
        """Episodes end.

        Args:
            over: (W,) bool, where.
            told: (n, columns), what is added up of each.
        """
        rows = self.of[over]
        known = rows >= 0
        np.add.at(self.sums, rows[known], told[known])
        self.of[over] = BEGINS

    def waiting(self) -> np.ndarray:
        """(MOST,) episodes under way by window."""
        return np.bincount(self.of[self.of >= 0], minlength=MOST)

    def complete(self, waiting: np.ndarray) -> np.ndarray:
        """(MOST,) bool, windows that can be told: nobody is waited for in them or in earlier ones.

        Args:
            waiting: (MOST,) episodes under way by window, of all shards together.
        """
        late = (self.began >= 0) & (waiting > 0)
        told: np.ndarray = (self.began >= 0) & (self.began < self.began[late].min(initial=2**62))
        return told

    def take(self, complete: np.ndarray) -> np.ndarray:
        """(columns,) sums over the episodes of the windows in `complete`, (MOST,) bool, which are free from here on."""
        sums: np.ndarray = self.sums[complete].sum(axis=0)
        self.sums[complete], self.began[complete] = 0.0, -1
        return sums

    def widen(self, at: np.ndarray, columns: int) -> None:
        """Gives episodes further numbers; `at`: where those that they have stand from here on."""
        sums, self.sums = self.sums, np.zeros((MOST, columns))
        self.sums[:, at] = sums

    def forget(self, of: int) -> None:
        """Nothing is waited for any more: without the episodes that are lost the others of their windows would be too short.

        Args:
            of: `BEGINS` where new episodes begin; `UNKNOWN` where others are under way.
        """
        self.sums[:], self.began[:], self.of[:] = 0.0, -1, of

    # -- checkpoints ------------------------------------------------------------------------------------

    def save(self) -> dict[str, np.ndarray]:
        """Everything that is under way; sums only of rows in use, because there may be many columns."""
        return {"began": self.began, "of": self.of, "sums": self.sums[self.began >= 0]}

    def fits(self, saved: Mapping[str, np.ndarray]) -> bool:
        """Whether `save` of this version gave it: earlier ones saved nothing, or counted other numbers of an episode."""
        sums = saved.get("sums")
        return bool(saved) and (sums is None or sums.ndim != 2 or sums.shape[1] == self.sums.shape[1])

    def load(self, saved: Mapping[str, np.ndarray], owner: str) -> None:
        """Restores what `save` gave; from a checkpoint of an earlier version, the windows that begin after it.

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
                f"{owner}: array of names a window that is not open; choose an earlier checkpoint"
            )
        restore({"began": self.began, "of": self.of, "sums": sums}, saved, owner, bounds)
        self.sums[:] = 0.0
        self.sums[used] = sums
        self._newest = int(self.began.argmax())
