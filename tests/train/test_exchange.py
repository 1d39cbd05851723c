"""Sums in a fixed tree, in one process and over shared memory; a worker that is gone is noticed."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Sequence
from types import SimpleNamespace

import numpy as np
import pytest

from interplay.core.errors import UserError
from interplay.core.overdue import OVERDUE
from interplay.train.parallel.exchange import (
    BEAT,
    HEART,
    TURN,
    LostWorker,
    SharedMemory,
    SingleProcess,
    create_block,
    tree_sum,
)
from interplay.train.parallel.workers import worker_pool

pytestmark = pytest.mark.slow


def vectors(count: int) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [(rng.normal(size=37) * 10.0 ** rng.integers(-6, 6)).astype(np.float32) for _ in range(count)]


@pytest.mark.parametrize("workers", [1, 2, 4, 8])
def test_tree_over_workers_is_the_tree_over_shards(workers: int) -> None:
    shards = vectors(8)
    each = 8 // workers
    parts = [tree_sum(shards[i * each : (i + 1) * each]) for i in range(workers)]
    assert tree_sum(parts).tobytes() == tree_sum(shards).tobytes()


def test_the_tree_is_not_a_running_sum() -> None:
    shards = vectors(8)
    assert tree_sum(shards).tobytes() != np.sum(shards, axis=0).tobytes()


def test_alone_changes_nothing() -> None:
    vector = vectors(1)[0]
    assert SingleProcess().all_reduce(vector) is vector


def echo(exchange) -> None:
    """A worker that adds its rank, for many exchanges of changing length and dtype."""
    for turn in range(200):
        exchange.all_reduce(
            np.full(1 + turn % 5, exchange.rank + turn, np.float32 if turn % 2 else np.float64)
        )


def test_workers_get_each_others_vectors_in_every_turn() -> None:
    with worker_pool(2, 100, echo, ()) as exchange:
        for turn in range(200):
            dtype = np.float32 if turn % 2 else np.float64
            total = exchange.all_reduce(np.full(1 + turn % 5, turn, dtype))
            assert total.dtype == dtype
            assert total.tolist() == [2 * turn + 1] * (1 + turn % 5)
            if turn == 100:  # the worker is there: it beats in its own line
                time.sleep(4 * BEAT)
                assert exchange.signs[0, HEART] == 0 < exchange.signs[1, HEART]


def die(exchange) -> None:
    exchange.all_reduce(np.zeros(1))
    os.kill(os.getpid(), signal.SIGKILL)


def complain(exchange) -> None:
    raise UserError("update 3: reward is not finite; check the world")


class Hanging:
    """A step of a worker that does not return."""

    calls, silent = 1, False

    def __init__(self) -> None:
        self.thread = threading.get_ident()

    def busy(self) -> str:
        return "world 4 has not come back from step 7"


def hang(exchange) -> None:
    hanging = Hanging()
    OVERDUE.limit = 0.5
    OVERDUE.watch(hanging)
    time.sleep(20)


def test_a_worker_whose_step_does_not_return_ends_itself_and_says_why() -> None:
    with (
        pytest.raises(UserError, match=r"world 4 has not come back from step 7 .*; fix it, or raise"),
        worker_pool(2, 8, hang, ()) as exchange,
    ):
        exchange.all_reduce(np.zeros(8, np.float32))


def test_a_killed_worker_is_named_within_two_seconds() -> None:
    began: list[float] = []
    with (  # noqa: PT012 - two exchanges are the point
        pytest.raises(LostWorker, match=r"worker 1 \(process \d+\) was killed by signal 9"),
        worker_pool(2, 8, die, ()) as exchange,
    ):
        exchange.all_reduce(np.zeros(1))
        began.append(time.monotonic())
        exchange.all_reduce(np.zeros(1))
    assert time.monotonic() - began[0] < 2.0


def test_a_workers_own_error_is_passed_on() -> None:
    with (
        pytest.raises(UserError, match="update 3: reward is not finite"),
        worker_pool(2, 8, complain, ()) as exchange,
    ):
        exchange.all_reduce(np.zeros(1))


class Impatient:
    """Gives up at the second look."""

    def __init__(self) -> None:
        self.looks: list[list[int]] = []

    def begin(self, own_seconds: float) -> None:
        assert 0 <= own_seconds < 60

    def look(self, signs: np.ndarray, late: Sequence[int]) -> None:
        self.looks.append(list(late))
        if len(self.looks) == 2:
            raise LostWorker("worker 1 has been silent")


def test_who_waits_looks_after_the_others() -> None:
    block = create_block(2, 64)
    fences = [multiprocessing.Lock() for _ in range(2)]
    watcher = Impatient()
    exchange = SharedMemory(block.name, 0, 2, 64, fences, watcher)
    try:
        with pytest.raises(LostWorker, match="worker 1 has been silent"):
            exchange.all_reduce(np.zeros(2))
        assert watcher.looks == [[1], [1]]
        with pytest.raises(ValueError, match="does not fit"):
            exchange.all_reduce(np.zeros(100))
    finally:
        exchange.close()
        block.close()
        block.unlink()


class Measuring:
    """Gives up at the first look."""

    own_seconds = 0.0

    def begin(self, own_seconds: float) -> None:
        self.own_seconds = own_seconds

    def look(self, signs: np.ndarray, late: Sequence[int]) -> None:
        raise LostWorker("worker 1 has been silent")


def test_own_work_is_measured_from_the_last_exchange(monkeypatch: pytest.MonkeyPatch) -> None:
    """50 seconds before the first exchange, 3 seconds before the second one, for which the other worker is late."""
    now = 1000.0
    clock = SimpleNamespace(monotonic=lambda: now, perf_counter=time.perf_counter, sleep=time.sleep)
    monkeypatch.setattr("interplay.train.parallel.exchange.time", clock)
    block, watcher = create_block(2, 64), Measuring()
    exchange = SharedMemory(block.name, 0, 2, 64, [multiprocessing.Lock() for _ in range(2)], watcher)
    try:
        exchange.signs[1, TURN] = 1
        now += 50.0
        exchange.all_reduce(np.zeros(2))
        now += 3.0
        with pytest.raises(LostWorker):
            exchange.all_reduce(np.zeros(2))
        assert watcher.own_seconds == pytest.approx(3.0)
    finally:
        exchange.close()
        block.close()
        block.unlink()
