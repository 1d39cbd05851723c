"""Chunks of a batch that several threads step at the same time."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

PIECES = 2  # chunks of worlds per thread, so that a thread that is delayed leaves work to the others


class Chunks:
    """Calls kernels for ranges of worlds; threads take the next range whenever they are free.

    Attributes:
        threads: how many there are; never more than worlds.

    Example:
        >>> chunks, done = Chunks(5, threads=2), []
        >>> chunks.run(lambda thread, lo, hi: done.extend(range(lo, hi)))
        >>> sorted(done)
        [0, 1, 2, 3, 4]
    """

    def __init__(self, num_worlds: int, threads: int) -> None:
        self.threads = max(1, min(threads, num_worlds))
        self._pool = ThreadPoolExecutor(self.threads - 1) if self.threads > 1 else None
        pieces = min(num_worlds, self.threads * (PIECES if self.threads > 1 else 1))
        edges = [num_worlds * k // pieces for k in range(pieces + 1)]
        self._ranges = list(pairwise(edges))

    def run(self, part: Callable[[int, int, int], Any]) -> None:
        """Calls ``part(thread, first world, end)`` for every range and waits until all are done."""
        if self._pool is None:
            for lo, hi in self._ranges:
                part(0, lo, hi)
            return
        left = list(self._ranges)

        def work(thread: int) -> None:
            while left:
                try:
                    lo, hi = left.pop()
                except IndexError:
                    return  # another thread was quicker
                part(thread, lo, hi)

        others = [self._pool.submit(work, thread) for thread in range(1, self.threads)]
        work(0)  # here, so that one thread less has to be woken
        for other in others:
            other.result()

    def close(self) -> None:
        """Ends the threads."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None
