"""Counts lost workers, and ends a run that keeps losing them."""

from __future__ import annotations

from interplay.core.errors import UserError
from interplay.train.parallel.exchange import LostWorker

MOST = 3  # faults without an update between them
MOST_THERE = 8  # faults after the same update, reached again each time


class Faults:
    """Counts lost workers, in a row and after the same update.

    A fault that recurs after the same update is probably deterministic; a slow machine may hit one a few times by chance.

    Attributes:
        updates: done so far in this attempt, set by the caller.
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
        """Begins an attempt at this number of updates."""
        self._begun = self.updates = updates

    def count(self, lost: LostWorker, cure: str) -> None:
        """Counts one fault.

        Args:
            lost: the fault.
            cure: how to go on after the final one, for the message.

        Raises:
            UserError: for the third in a row, or the eighth after the same update.
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
