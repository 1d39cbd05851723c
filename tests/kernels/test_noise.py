"""Noise: the specification's values, a slow twin bit for bit, and what a gradient noise promises."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interplay.core.jit import kernel
from interplay.kernels.noise import PHI, fill_ridges, mix, mix64, noise, octave
from tests.naive import mmo_terrain as slow

ROOT = Path(__file__).resolve().parents[2]
SEEDS = st.integers(0, 2**64 - 1)
PLACES = st.floats(-1e6, 1e6)


@kernel
def mix_in_a_kernel(z):
    return mix64(z)


def test_golden_values():
    assert int(mix(np.uint64(1) + PHI)) == 0x910A2DEC89025CC1
    key, ox, oy = octave(1, 0)
    assert (ox, oy) == (891.0198974609375, 32.411865234375)
    assert noise(key, 0.3, 0.7) == -0.614330068710966
    assert noise(key, -3.25, 11.5) == 0.40317396298852415


@settings(deadline=None)  # the first example compiles
@given(SEEDS)
def test_mixing_wraps_as_whole_numbers_do(z):
    assert int(mix(np.uint64(z))) == int(mix_in_a_kernel(np.uint64(z))) == slow.mix(z)


@settings(deadline=None)  # the first example compiles
@given(SEEDS, st.integers(0, 15))
def test_octaves_equal_the_slow_twin(seed, index):
    key, ox, oy = octave(np.uint64(seed), index)
    assert (int(key), ox, oy) == slow.octave(seed, index)


@settings(deadline=None)  # the first example compiles
@given(SEEDS, PLACES, PLACES)
def test_noise_equals_the_slow_twin_bit_for_bit(key, x, y):
    assert noise(np.uint64(key), x, y) == slow.noise(key, x, y)


def test_noise_vanishes_at_lattice_points_and_is_continuous():
    key, _, _ = octave(3, 0)
    unskew = (3**0.5 - 1) / 2
    for i, j in ((0, 0), (3, -2), (-7, 5)):
        x, y = i + (i + j) * unskew, j + (i + j) * unskew
        assert abs(noise(key, x, y)) < 1e-12
        reach = [noise(key, x + dx, y + dy) for dx, dy in ((1e-9, 0), (-1e-9, 0), (0, 1e-9), (0, -1e-9))]
        assert max(reach) - min(reach) < 1e-7
    line = np.array([noise(key, x, 0.37 * x) for x in np.arange(0, 40, 1e-3)])
    assert abs(np.diff(line)).max() < 5e-3


def test_noise_is_spread_as_the_specification_measured():
    key, _, _ = octave(5, 2)
    place = np.random.default_rng(0).uniform(0, 1000, (20_000, 2))
    values = np.array([noise(key, x, y) for x, y in place])
    assert values.std() == pytest.approx(0.368, rel=0.02)
    assert abs(values.mean()) < 0.01
    assert 0.8 < abs(values).max() < 0.87


@settings(deadline=None)  # the first example compiles
@given(SEEDS, st.integers(1, 12), st.floats(0.3, 40), st.integers(0, 300), st.integers(0, 300))
def test_ridges_equal_the_slow_twin_wherever_the_rectangle_starts(seed, octaves, feature, row, column):
    rows, columns = 2, 11  # more than the eight lanes of a vector, and a rest
    total = np.full(rows * columns + 1, -1.0)
    fill_ridges(np.uint64(seed), octaves, 1 / feature, row, column, rows, columns, total)
    for r in range(rows):
        for c in range(columns):
            wanted = slow.ridges(seed, row + r, column + c, feature, octaves)
            assert total[r * columns + c] == wanted
    assert total[-1] == -1.0


PROGRAM = """
import hashlib
import numpy as np
from interplay.kernels.noise import fill_ridges
total = np.empty(40 * 40)
fill_ridges(11, 8, 0.2, 5, 9, 40, 40, total)
print(hashlib.sha256(total.tobytes()).hexdigest())
"""


@pytest.mark.parametrize(
    "setting",
    [{"NUMBA_DISABLE_JIT": "1", "PYTHONWARNINGS": "error::RuntimeWarning"}, {"NUMBA_CPU_NAME": "generic"}],
    ids=["plain-python", "without-vectors"],
)
def test_other_machine_code_gives_the_same_bits(tmp_path, setting):
    total = np.empty(40 * 40)
    fill_ridges(11, 8, 0.2, 5, 9, 40, 40, total)
    rows = [slow.ridges(11, 5, 9 + c) for c in range(40)]
    assert total[:40].tolist() == rows
    environment = {**os.environ, "INTERPLAY_CACHE": str(tmp_path), "PYTHONPATH": str(ROOT), **setting}
    other = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    assert other.strip() == hashlib.sha256(total.tobytes()).hexdigest()
