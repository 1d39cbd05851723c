"""Copies of the game side by side: one that is lost is replaced, and the others go on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

import numpy as np

from interplay.core.overdue import print_line
from interplay.worlds.sc2.client import GameLost


class Copy(Protocol):
    """Something around a match."""

    def close(self) -> None: ...


class Copies:
    """Works on all copies at the same time: while one game computes, the others do too.

    Attributes:
        restarts: (W,) int64 processes lost so far.
    """

    def __init__(self, copies: Sequence[Copy]) -> None:
        self._copies = copies
        self._threads = ThreadPoolExecutor(len(copies), thread_name_prefix="sc2")
        self.restarts = np.zeros(len(copies), np.int64)

    def run(self, work: Callable[[int], Any], which: np.ndarray) -> np.ndarray:
        """Calls ``work(copy)`` for the copies of the mask; returns the mask of those that lost their game."""
        numbers = np.flatnonzero(which).tolist()
        lost = np.zeros(len(which), bool)
        futures = [self._threads.submit(work, number) for number in numbers]
        errors = [
            future.exception() for future in futures
        ]  # waits for all, so that no copy is left in a request
        for number, error in zip(numbers, errors, strict=True):
            if error is not None:
                self._copies[number].close()  # responses may be outstanding
            if isinstance(error, GameLost):
                lost[number] = True
                self.restarts[number] += 1
                print_line(f"sc2: world {number}: {error}; it starts anew")
            elif error is not None:
                raise error
        return lost

    def begin(self, work: Callable[[int], Any], which: np.ndarray) -> None:
        """As `run`, for the beginning of episodes: a game lost there is started once more.

        Raises:
            GameLost: if it is lost again.
        """
        again = self.run(work, which)
        for number in np.flatnonzero(again).tolist():
            self._threads.submit(work, number).result()

    def close(self) -> None:
        """Ends all games."""
        for copy in self._copies:
            copy.close()
        self._threads.shutdown()
