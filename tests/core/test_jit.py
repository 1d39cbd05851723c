"""Kernels: compiled, plain Python on request; phases inside them."""

import gc
import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from interplay.core import jit
from interplay.kernels.philox import integer_below, normal, random_bits, uniform


@pytest.mark.parametrize(
    ("seed", "episode", "draw", "bits"),
    [  # Random123's known answers of philox4x32-10, first two of the four words: high word, low word
        (0, 0, 0, 0xE169C58D_6627E8D5),
        (2**64 - 1, 2**64 - 1, 2**64 - 1, 0x41C83B0E_408F276D),
        (0x299F31D0_A4093822, 0x03707344_13198A2E, 0x85A308D3_243F6A88, 0x94FDCCEB_D16CFE09),
    ],
)
def test_philox_gives_the_published_answers(seed, episode, draw, bits):
    assert int(random_bits(np.uint64(seed), np.uint64(episode), np.uint64(draw))) == bits


def test_draws_are_uniform_and_normal():
    seed, episode = np.uint64(5), np.uint64(2)
    draws = np.array([uniform(seed, episode, np.uint64(k)) for k in range(4000)])
    assert ((draws >= 0) & (draws < 1)).all()
    assert abs(draws.mean() - 0.5) < 5 * np.sqrt(1 / 12 / 4000)
    normals = np.array([normal(seed, episode, np.uint64(k)) for k in range(4000)])
    assert abs(normals.mean()) < 5 / np.sqrt(4000)
    assert abs(normals.std() - 1) < 0.06
    for k in range(20):  # one from a whole turn, by Box and Muller's formula
        bits = int(random_bits(seed, episode, np.uint64(k)))
        length = np.sqrt(-2 * np.log(((bits & 0xFFFFFFFF) + 0.5) / 2**32))
        assert normals[k] == pytest.approx(length * np.cos(2 * np.pi * (bits >> 32) / 2**32))
    below = {integer_below(seed, episode, np.uint64(k), 3) for k in range(100)}
    assert below == {0, 1, 2}


def run(folder, **environment):
    return subprocess.run(
        [sys.executable, "-c", "import phase; print(phase.act(2.0), type(phase.act).__name__)"],
        cwd=folder,
        env={**os.environ, "INTERPLAY_CACHE": str(folder / "cache"), **environment},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()


def test_the_garbage_collector_pauses_for_the_outermost_compilation():
    pause, states = jit._PauseCollector(), []
    for on in (pause.on_start, pause.on_start, pause.on_end, pause.on_end) * 2:
        on(None)
        states.append(gc.isenabled())
    assert states == [False, False, False, True] * 2


def test_each_outermost_compilation_asks_for_a_helper(monkeypatch):
    asked, start = [], jit._StartHelper()
    monkeypatch.setattr(jit.HELPER, "begin", lambda kernel, key: asked.append(kernel[1]))
    met = [SimpleNamespace(data={"dispatcher": one}) for one in (random_bits, uniform, normal)]
    for event in met[:2]:  # a kernel inside another one
        start.on_start(event)
    start.on_end(met[1])
    start.on_end(met[0])
    start.on_start(met[2])
    assert asked == ["random_bits", "normal"]


def test_kernels_run_in_plain_python_on_request(tmp_path):
    (tmp_path / "phase.py").write_text(
        "from interplay.core.jit import kernel\n@kernel\ndef act(x):\n    return x + 1.0\n"
    )
    assert run(tmp_path, NUMBA_DISABLE_JIT="1") == ["3.0", "function"]


def test_a_phase_works_in_kernels_and_refuses_python():
    @jit.phase
    def double(x):
        return 2.0 * x

    @jit.kernel
    def quadruple(x):
        return double(double(x))

    assert quadruple(1.5) == 6.0
    with pytest.raises(TypeError, match="double is a phase"):
        double(1.5)
