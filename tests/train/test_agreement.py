"""A bit in which the parameters of workers differ is noticed, and both places are named."""

from __future__ import annotations

import socket
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from interplay.core.errors import UserError
from interplay.core.helping import processor_model
from interplay.train.update import Worker


class Table:
    """Where threads add up their vectors."""

    def __init__(self, size: int) -> None:
        self.size, self._given = size, {}  # type: ignore[var-annotated]
        self._meet = Barrier(size)

    def all_reduce(self, rank: int, vector: np.ndarray) -> np.ndarray:
        self._given[rank] = vector
        self._meet.wait(10)
        total = sum(self._given[other] for other in range(self.size))
        self._meet.wait(10)
        return np.asarray(total)


def errors_of(parameters: list[np.ndarray]) -> list[str]:
    """What each worker says about the parameters of all."""
    table = Table(len(parameters))

    def compare(rank: int) -> str:
        worker: Any = SimpleNamespace(updates=7, learner=SimpleNamespace(vectors={"agent": parameters[rank]}))
        worker.exchange = SimpleNamespace(
            rank=rank, size=table.size, all_reduce=partial(table.all_reduce, rank)
        )
        worker.gather = partial(Worker.gather, worker)
        try:
            Worker.compare_digests(worker)
        except UserError as error:
            return str(error)
        return ""

    with ThreadPoolExecutor(table.size) as pool:
        return list(pool.map(compare, range(table.size)))


def test_equal_parameters_agree_and_a_single_bit_names_the_worker_and_both_places() -> None:
    equal = np.linspace(-1, 1, 5, dtype=np.float32)
    assert errors_of([equal, equal.copy(), equal.copy()]) == ["", "", ""]
    odd = equal.copy()
    odd.view(np.uint32)[3] ^= 1
    said = errors_of([equal, equal, odd])
    here = f"({socket.gethostname()}, {processor_model()})"
    assert set(said) == {said[0]}
    assert said[0].startswith(f"update 7: worker 2 {here} has other parameters than worker 0 {here}; ")


def test_zeros_of_different_sign_are_different_bits() -> None:
    assert all(errors_of([np.zeros(2, np.float32), np.array([0.0, -0.0], np.float32)]))


@pytest.mark.parametrize("texts", [["", "b", "ccc", "\N{SNOWMAN}"]])
def test_gathered_texts_are_those_of_all_in_their_order(texts: list[str]) -> None:
    table = Table(len(texts))

    def gather(rank: int) -> list[str]:
        exchange = SimpleNamespace(rank=rank, size=table.size, all_reduce=partial(table.all_reduce, rank))
        return Worker.gather(SimpleNamespace(exchange=exchange), texts[rank])  # type: ignore[arg-type]

    with ThreadPoolExecutor(table.size) as pool:
        assert list(pool.map(gather, range(table.size))) == [texts] * table.size
