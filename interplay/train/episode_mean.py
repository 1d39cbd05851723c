"""A metric's mean over the episodes of the newest updates."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable


class EpisodeMean:
    """The mean over the newest updates that together hold at least `episodes` episodes.

    Example:
        >>> mean = EpisodeMean(10)
        >>> for value, count in ((0.0, 8), (0.5, 6), (1.0, 6)):
        ...     mean.add(value, count)
        >>> mean.value, mean.count
        (0.75, 12)
    """

    def __init__(self, episodes: int) -> None:
        self._least = episodes
        self._spans: deque[tuple[int, float]] = deque()  # of each update: episodes, and the sum of the metric

    @property
    def count(self) -> int:
        """Episodes in the mean."""
        return sum(count for count, _ in self._spans)

    @property
    def value(self) -> float:
        """The mean; NaN without episodes."""
        return sum(total for _, total in self._spans) / self.count if self._spans else math.nan

    @property
    def is_full(self) -> bool:
        """Whether there are enough episodes."""
        return self.count >= self._least

    def add(self, value: float, episodes: int) -> None:
        """Adds an update's mean over its episodes; one that is not finite counts no episode."""
        if episodes and math.isfinite(value):
            self._spans.append((episodes, float(value) * episodes))
        while self._spans and self.count - self._spans[0][0] >= self._least:
            self._spans.popleft()

    def clear(self) -> None:
        """Drops all episodes."""
        self._spans.clear()

    def save(self) -> list[list[float]]:
        """The state for a checkpoint's record."""
        return [list(span) for span in self._spans]

    def load(self, saved: Iterable[tuple[int, float]]) -> None:
        """Restores `save`."""
        self._spans = deque((int(count), float(total)) for count, total in saved)
