"""Meetings inside compiled programs: several processes get the bits of the tree sum, and who waits for nobody says so."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from interplay.core import foreign
from interplay.train.parallel import meeting
from interplay.train.parallel.exchange import SharedMemory, SingleProcess, create_block, tree_sum
from interplay.train.parallel.meeting import meet

pytestmark = pytest.mark.slow

LENGTH, TIMES = 1003, 50
CAPACITY = 8192


def vector_of(rank: int) -> np.ndarray:
    return np.random.default_rng(rank).normal(size=LENGTH).astype(np.float32)


def again(total: Any, rank: Any) -> Any:
    """What a worker brings to the next meeting."""
    return total * jnp.float32(0.1) + jnp.float32(1.0) / (rank + 1)


@jax.jit
def meetings(vector: jax.Array, place: jax.Array, rank: jax.Array) -> tuple[jax.Array, jax.Array]:
    def one(_: int, carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        total, came = meet(carry[0], place)
        return again(total, rank), carry[1] & came

    return jax.lax.fori_loop(0, TIMES, one, (vector, jnp.array(True)))


def work(block: str, rank: int, size: int, fences: Sequence[Any], answers: Any) -> None:
    """A worker: meets in a compiled program, then in Python."""
    exchange = SharedMemory(block, rank, size, CAPACITY, fences)
    meetings(vector_of(rank), SingleProcess.place, np.float32(rank))  # compiled before anybody waits
    exchange.all_reduce(np.zeros(1, np.float32))
    vector, came = meetings(vector_of(rank), exchange.place, np.float32(rank))
    last = exchange.all_reduce(np.asarray(vector))
    answers.put((rank, bool(came), np.asarray(vector).tobytes(), last.tobytes()))
    exchange.close()


@pytest.mark.parametrize("size", [2, 4])
def test_every_worker_gets_the_tree_sum(size: int) -> None:
    context = multiprocessing.get_context("spawn")
    block, answers = create_block(size, CAPACITY), context.Queue()
    fences = [context.Lock() for _ in range(size)]
    processes = [
        context.Process(target=work, args=(block.name, rank, size, fences, answers)) for rank in range(size)
    ]
    try:
        for process in processes:
            process.start()
        told = {rank: rest for rank, *rest in (answers.get(timeout=120) for _ in processes)}
    finally:
        for process in processes:
            process.join(timeout=30)
        block.close()
        block.unlink()
    vectors = [jnp.asarray(vector_of(rank)) for rank in range(size)]
    step = jax.jit(again)
    for _ in range(TIMES):
        total = tree_sum(vectors)
        vectors = [step(total, np.float32(rank)) for rank in range(size)]
    for rank, (came, vector, last) in told.items():
        assert came
        assert vector == np.asarray(vectors[rank]).tobytes()
        assert last == np.asarray(tree_sum(vectors)).tobytes()


@pytest.mark.parametrize("size", [2, 8, 16, 32, 64])
def test_a_sum_of_many_is_the_tree(size: int) -> None:
    """One worker of many; the others have come to all meetings before it."""
    block = create_block(size, CAPACITY)
    own = SharedMemory(block.name, 0, size, CAPACITY, [multiprocessing.Lock()] * size)
    try:
        own._counters[1:] = 2
        for turn in (1, 2):
            vectors = [vector_of(100 * turn + rank) for rank in range(size)]
            for rank in range(1, size):
                np.copyto(own.seat(rank, vectors[rank].nbytes, np.float32, turn), vectors[rank])
            total, came = jax.jit(meet)(vectors[0], own.place)
            assert bool(came)
            assert np.array_equal(total, tree_sum(vectors))
    finally:
        own.close()
        block.close()
        block.unlink()


def test_more_workers_than_the_program_adds_up_meet_in_python() -> None:
    size = 128
    block = create_block(size, CAPACITY)
    own = SharedMemory(block.name, 0, size, CAPACITY, [multiprocessing.Lock()] * size)
    try:
        vectors = [vector_of(rank) for rank in range(size)]
        for rank in range(1, size):
            np.copyto(own.seat(rank, vectors[rank].nbytes, np.float32, 1), vectors[rank])
        own._counters[1:] = 1
        local, came = jax.jit(meet)(vectors[0], own.place)
        assert not bool(came)
        assert np.array_equal(own.finish(np.asarray(local)), tree_sum(vectors))
    finally:
        own.close()
        block.close()
        block.unlink()


def test_alone_the_sum_is_the_vector() -> None:
    total, came = jax.jit(meet)(vector_of(0), SingleProcess.place)
    assert bool(came)
    assert np.array_equal(total, vector_of(0))


def test_a_second_start_finds_the_handler_compiled() -> None:
    foreign.capsule(meeting._meet)
    foreign.capsule(meeting._meet)
    assert foreign._keep[-1].cache_hits == 1


def test_programs_meet_also_where_kernels_are_plain_python() -> None:
    """``NUMBA_DISABLE_JIT=1`` is for who debugs kernels; training goes on under it."""
    code = "import jax; from interplay.train.parallel.exchange import SingleProcess; from interplay.train.parallel.meeting import meet\n"
    code += "print(jax.jit(meet)(jax.numpy.arange(3.0), SingleProcess.place)[0].tolist())"
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout == "[0.0, 1.0, 2.0]\n", done.stderr


def test_who_waits_for_nobody_says_so_and_python_ends_the_meeting() -> None:
    block = create_block(2, CAPACITY)
    locks = [multiprocessing.Lock(), multiprocessing.Lock()]
    first, second = (SharedMemory(block.name, rank, 2, CAPACITY, locks) for rank in range(2))
    try:
        began = time.monotonic()
        local, came = jax.jit(meet)(vector_of(0), first.place)
        assert not bool(came)
        assert time.monotonic() - began < 30
        assert np.array_equal(local, vector_of(0))
        np.copyto(
            second.seat(1, vector_of(1).nbytes, np.float32, 1), vector_of(1)
        )  # the other one comes after all
        second._counters[1] = 1
        assert np.array_equal(first.finish(np.asarray(local)), vector_of(0) + vector_of(1))
    finally:
        first.close()
        second.close()
        block.close()
        block.unlink()
