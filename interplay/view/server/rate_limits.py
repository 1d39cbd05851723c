"""Limits the rate of messages."""

from __future__ import annotations

import time
from collections.abc import Callable

from interplay.view.server.config import MESSAGES


class RateLimiter:
    """A token bucket.

    Args:
        most: messages per second, and in a burst.
    """

    def __init__(self, most: int = MESSAGES, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._clock = most, clock
        self._left, self._then = float(most), clock()

    def allows(self) -> bool:
        """Counts a message; returns whether it is within the limit."""
        now = self._clock()
        self._left = min(self._left + (now - self._then) * self._most, float(self._most))
        self._then = now
        self._left -= 1
        return self._left >= 0
