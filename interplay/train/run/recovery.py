"""What becomes of a run that lost a worker: it goes on from the last checkpoint, unless that does not help."""

from __future__ import annotations

from interplay.core.errors import UserError
from interplay.train.parallel.exchange import LostWorker

MOST = 3  # faults without an update between them
MOST_THERE = 8  # faults after the same update, reached again each time


class Faults:
    """Counts lost workers.

    Faults are in a row as long as no update was made between them. Where the same number of updates is reached again and again whatever
    kills a worker there will do so the next time too; but chance, on a machine that is slow, may hit the same update a few times.

    Attributes:
        updates: done so far, in this attempt; whoever makes them says so.
        in_a_row: faults without an update between them.

    Example:
        >>> faults = Faults()
        >>> faults.begin(4)
        >>> faults.updates = 7
        >>> faults.count(LostWorker("worker 1 was frozen"), "go on"), faults.in_a_row
        (None, 1)
    """

    def __init__(self) -> None:
        self.updates = self.in_a_row = 0
        self._begun = self._there = 0
        self._last: int | None = None

    def begin(self, updates: int) -> None:
        """An attempt begins, after so many updates."""
        self._begun = self.updates = updates

    def count(self, lost: LostWorker, cure: str) -> None:
        """Counts one.

        Args:
            lost: what happened.
            cure: how to go on if it happens for the last time.

        Raises:
            UserError: if it is the third in a row, or one too many after the same update.
        """
        self.in_a_row = self.in_a_row + 1 if self.updates == self._begun else 1
        self._there = self._there + 1 if self.updates == self._last else 1
        self._last = self.updates
        if self.in_a_row >= MOST:
            raise UserError(
                f"{lost}, the third time without an update in between; find out why (memory?), then {cure}"
            )
        if self._there >= MOST_THERE:
            raise UserError(
                f"{lost}, {MOST_THERE} times after update {self.updates}; find out why (memory?), then {cure}"
            )
