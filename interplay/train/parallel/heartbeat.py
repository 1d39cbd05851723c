"""Heartbeats of workers in shared memory, a cache line each: turn, beats, compilation."""

from __future__ import annotations

import threading

import numpy as np

from interplay.train.parallel.compilation import Compilation

LINE = 64  # bytes per worker
TURN, HEART, COMPILING, COMPILED = range(4)  # columns of a line, int64
BEAT = 0.1  # seconds between two beats


def header(size: int) -> int:
    """Bytes of the lines of `size` workers."""
    return size * LINE


def signs_of(memory: np.ndarray, size: int) -> np.ndarray:
    """(size, 8) int64, a view of the beginning of the block's bytes."""
    lines: np.ndarray = memory[: header(size)].view(np.int64).reshape(size, LINE // 8)
    return lines


class Heart:
    """A thread that shows the others that this process runs, and whether it compiles.

    A stopped process (SIGSTOP) has no beat; a computing or compiling one has, since compilers release Python's lock.

    Args:
        line: (8,) int64, this worker's.
    """

    def __init__(self, line: np.ndarray, compilation: Compilation) -> None:
        self._line, self._compilation = line, compilation
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._beat, daemon=True, name="heart")
        self._thread.start()

    def stop(self) -> None:
        """Ends the thread; the line may be freed afterwards."""
        self._ends.set()
        self._thread.join()
        del self._line

    def _beat(self) -> None:
        line = self._line
        while not self._ends.wait(BEAT):
            line[COMPILING] = self._compilation.busy
            line[COMPILED] = int(self._compilation.seconds * 1e6)
            line[HEART] += 1
