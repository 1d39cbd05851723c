"""The kernels as plain Python, for the debugger, do what the compiled ones do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from tests.planar.test_symmetry import busy_room, controls

PROGRAM = """
import sys
import numpy as np
from tests.planar.test_symmetry import busy_room, controls
room = busy_room(1)
for impulse in controls(1, 40) * 4:
    room.step(impulse)
np.savez(sys.argv[1], position=room.bodies.position, spin=room.bodies.spin, seen=room.visible(4))
"""


def test_plain_python_agrees_with_the_compiled_kernels(tmp_path):
    root = Path(__file__).resolve().parents[2]
    out = tmp_path / "plain.npz"
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(root)}
    subprocess.run([sys.executable, "-c", PROGRAM, str(out)], env=environment, cwd=root, check=True)
    room = busy_room(1)
    start = room.bodies.position.copy()
    for impulse in controls(1, 40) * 4:
        room.step(impulse)
    plain = np.load(out)
    np.testing.assert_allclose(plain["position"], room.bodies.position, atol=1e-9)
    np.testing.assert_allclose(plain["spin"], room.bodies.spin, atol=1e-9)
    assert np.array_equal(plain["seen"], room.visible(4))
    assert abs(room.bodies.position - start).max() > 1.0
