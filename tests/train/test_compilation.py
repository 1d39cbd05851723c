"""How long a process compiled, and how the others are told: compilations inside one another count once, in microseconds."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import numpy as np
import pytest

from interplay.train.parallel import compilation
from interplay.train.parallel.compilation import Compilation
from interplay.train.parallel.exchange import COMPILED, COMPILING, HEART, Heart


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


PROGRAM = """
from interplay.core import waiting
waiting.AFTER = 0.0
import interplay.train.trainer
from interplay.train.parallel.compilation import compilation
import jax, jax.numpy as jnp
compilation()
print(jax.jit(lambda x: jnp.linalg.inv(x @ x + jnp.eye(3)))(jnp.ones((3, 3))).shape)
"""


@pytest.mark.slow
def test_who_waits_for_xla_is_told_in_one_line(tmp_path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "INTERPLAY_CACHE": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "(3, 3)\n"
    assert done.stderr.count("compiling the programs of training") == 1
    assert len(done.stderr.splitlines()) == 1


def test_xlas_alarms_stay_away_from_the_terminal() -> None:
    shown = "import interplay.train, os, sys; print(os.environ['TF_CPP_MIN_LOG_LEVEL'], 'jax' in sys.modules)"
    said = {
        level: subprocess.run(
            [sys.executable, "-c", shown],
            env={name: value for name, value in os.environ.items() if name != "TF_CPP_MIN_LOG_LEVEL"}
            | ({"TF_CPP_MIN_LOG_LEVEL": level} if level else {}),
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        for level in ("", "0")
    }
    assert said == {"": ["3", "False"], "0": ["0", "False"]}  # who asks for XLA's words gets them
