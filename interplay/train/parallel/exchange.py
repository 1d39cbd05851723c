"""Adds up the workers' vectors in a fixed binary tree, so that the number of workers never changes a bit.

`tree_sum` adds neighbours, then neighbouring pairs, and so on. A worker holds neighbouring shards, a power of two of them, so the tree
over its shards followed by the tree over the workers is the tree over all shards.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from multiprocessing import shared_memory
from typing import Any, Protocol, TypeVar

import numpy as np

from interplay.train.parallel.compilation import Compilation, compilation
from interplay.train.parallel.meeting import place_of

LINE = 64  # bytes per worker: a cache line with turn, heartbeats, compilation and the form of its vector
TURN, HEART, COMPILING, COMPILED, FORM = range(5)  # columns of a line, int64
DTYPES = (
    np.float32,
    np.float64,
    np.uint8,
)  # of vectors; a form is the bytes of a vector times their number, plus its index
BEAT = 0.1  # seconds between two beats


def header(size: int) -> int:
    """Bytes of the lines of `size` workers."""
    return size * LINE


def signs_of(memory: np.ndarray, size: int) -> np.ndarray:
    """(size, 8) int64, a view of the beginning of the block's bytes."""
    return memory[: header(size)].view(np.int64).reshape(size, LINE // 8)


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


Array = TypeVar("Array", bound=Any)

SPIN = 200e-6  # seconds of busy waiting, about the usual difference between workers
LOOK = 0.2  # seconds between checks of the other workers


class Exchange(Protocol):
    """Combines vectors of all workers.

    Attributes:
        rank: this worker, 0 .. size - 1.
        size: number of workers, a power of two.
        place: for compiled programs, see `meeting.meet`.
    """

    rank: int
    size: int
    place: np.ndarray

    def all_reduce(self, vector: np.ndarray) -> np.ndarray:
        """The tree sum of all workers' vectors of one shape and dtype, with the same bits for each."""
        ...

    def finish(self, vector: np.ndarray) -> np.ndarray:
        """Finishes a meeting that this worker joined in a compiled program, which stopped waiting."""
        ...

    def close(self) -> None:
        """Frees the shared memory."""
        ...


PIECE = 2**13  # most numbers in one exchange


def reduce_in_pieces(vector: np.ndarray, exchange: Exchange) -> np.ndarray:
    """`Exchange.all_reduce` of a vector that may be longer than a seat."""
    if vector.size <= PIECE:
        return exchange.all_reduce(vector)
    pieces = [exchange.all_reduce(vector[at : at + PIECE]) for at in range(0, vector.size, PIECE)]
    return np.concatenate(pieces)


def tree_sum(vectors: Sequence[Array]) -> Array:
    """Adds a power of two of vectors pairwise, NumPy's or traced ones.

    Example:
        >>> tree_sum([np.array([1.0]), np.array([2.0]), np.array([3.0]), np.array([4.0])])
        array([10.])
    """
    level = list(vectors)
    while len(level) > 1:
        level = [level[i] + level[i + 1] for i in range(0, len(level), 2)]
    return level[0]


class SingleProcess:
    """One worker: nothing to exchange."""

    rank, size = 0, 1
    place = place_of([0, 0, 1, 0, 0, -1])

    def finish(self, vector: np.ndarray) -> np.ndarray:
        return vector

    def all_reduce(self, vector: np.ndarray) -> np.ndarray:
        return vector

    def close(self) -> None:
        pass


class Watcher(Protocol):
    """Looks after others while a worker waits for them."""

    def begin(self, own_seconds: float) -> None: ...

    def look(self, signs: np.ndarray, late: Sequence[int]) -> None: ...


class LostWorker(Exception):
    """Another worker is gone, frozen or silent."""


class SharedMemory:
    """Workers of one machine over a block of shared memory.

    Every worker has a counter and two seats for vectors, used in turn. It writes its vector, then its counter, waits for all counters,
    and adds up all seats. A worker that is one exchange ahead writes the other seat, and cannot be two ahead, so no vector is
    overwritten while it is read.

    Args:
        name: of the block; `create_block` makes it.
        rank: this worker.
        size: number of workers.
        capacity: bytes per seat.
        fences: one lock per worker, held around the counter as a memory barrier.
        watcher: called while waiting; None waits for ever.
        relayed: one seat more holds the sums of all machines, which a relay writes (`machines.Relay`); workers read that one alone.

    Attributes:
        watcher: as given.
        signs: (size, or one more, 8) int64, the signs of life of all workers.

    Raises:
        LostWorker: by `all_reduce`, from the watcher.
    """

    def __init__(
        self,
        name: str,
        rank: int,
        size: int,
        capacity: int,
        fences: Sequence[Any],
        watcher: Watcher | None = None,
        relayed: bool = False,
    ) -> None:
        self.rank, self.size, self._relayed = rank, size, relayed
        self._block = shared_memory.SharedMemory(name=name)
        self._memory = np.ndarray(self._block.size, np.uint8, self._block.buf)
        self._capacity = capacity
        seats = size + relayed
        self._header = header(seats)
        self.signs = signs_of(self._memory, seats)
        self._counters = self.signs[:, TURN]
        self._fence = fences[rank]
        self.watcher = watcher
        total = size if relayed else -1
        self.place = place_of([self._memory.ctypes.data, rank, seats, capacity, self._header, total])
        self._compilation = compilation()
        self._worked = _Stopwatch(self._compilation)

    def all_reduce(self, vector: np.ndarray) -> np.ndarray:
        if vector.nbytes > self._capacity:
            raise ValueError(
                f"a vector of {vector.nbytes} bytes does not fit into a seat of {self._capacity}"
            )
        np.copyto(self.seat(self.rank, vector.nbytes, vector.dtype, self._turn + 1), vector)
        if self._relayed:
            self.signs[self.rank, FORM] = vector.nbytes * len(DTYPES) + DTYPES.index(vector.dtype.type)
        with self._fence:
            self._counters[self.rank] += 1
        return self.finish(vector)

    def finish(self, vector: np.ndarray) -> np.ndarray:
        self._wait()
        self._worked.begin()
        with self._fence:
            if self._relayed:
                return self.seat(self.size, vector.nbytes, vector.dtype, self._turn).copy()
            return self.own_sum(vector.nbytes, vector.dtype, self._turn)

    def own_sum(self, nbytes: int, dtype: Any, turn: int) -> np.ndarray:
        """The tree sum over this machine's workers."""
        return tree_sum([self.seat(rank, nbytes, dtype, turn) for rank in range(self.size)])

    def close(self) -> None:
        del self._counters, self.signs, self._memory  # views would keep the block open
        self._block.close()

    @property
    def _turn(self) -> int:
        """Number of meetings that this worker has joined."""
        return int(self._counters[self.rank])

    def seat(self, rank: int, nbytes: int, dtype: Any, turn: int) -> np.ndarray:
        """A worker's vector of a turn, or the place for it."""
        start = self._header + (2 * rank + turn % 2) * self._capacity
        return self._memory[start : start + nbytes].view(dtype)

    def _wait(self) -> None:
        began = looked = time.perf_counter()
        worked, turn = self._worked.seconds, self._turn
        while (self._counters < turn).any():
            now = time.perf_counter()
            if now - began > SPIN:
                time.sleep(20e-6)
            if self.watcher is not None and now - looked > LOOK:
                if looked == began:
                    self.watcher.begin(worked)
                looked = now
                self.watcher.look(
                    self.signs, [rank for rank in range(self.size) if self._counters[rank] < turn]
                )


class _Stopwatch:
    """Seconds of a worker's own work since the last exchange, without compilations."""

    def __init__(self, watched: Compilation) -> None:
        self._compilation = watched
        self.begin()

    def begin(self) -> None:
        self._since, self._compiled = time.monotonic(), self._compilation.seconds

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._since - (self._compilation.seconds - self._compiled)


def create_block(size: int, capacity: int) -> shared_memory.SharedMemory:
    """Makes the block for `size` workers with seats of `capacity` bytes; the caller unlinks it."""
    block = shared_memory.SharedMemory(create=True, size=header(size) + 2 * size * capacity)
    np.ndarray(block.size, np.uint8, block.buf)[:] = 0
    return block
