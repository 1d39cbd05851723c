"""How long a process compiled, and how the others are told: compilations inside one another count once, in microseconds."""

from __future__ import annotations

import time

import numpy as np
import pytest

from interplay.train.parallel import compilation
from interplay.train.parallel.compilation import Compilation
from interplay.train.parallel.heartbeat import COMPILED, COMPILING, HEART, Heart


def test_a_compilation_inside_another_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(compilation.time, "monotonic", lambda: now[0])
    found = Compilation()
    for seconds, step in ((0.0, found.begin), (3.0, found.begin), (1.0, found.end), (6.0, found.end)):
        now[0] += seconds
        step()
        assert found.busy is (now[0] < 110.0)
    assert (found.seconds, found.ended) == (10.0, 110.0)
    found.end()  # one that began before anybody watched
    assert (found.seconds, found.depth) == (10.0, 0)


def test_a_heart_tells_compilations_of_less_than_a_second() -> None:
    line, found = np.zeros(8, np.int64), Compilation()
    found.seconds = 0.25
    found.begin()
    heart = Heart(line, found)
    until = time.monotonic() + 30.0
    while not line[HEART] and time.monotonic() < until:
        time.sleep(0.01)
    heart.stop()
    assert (line[COMPILED], line[COMPILING]) == (250_000, 1)
