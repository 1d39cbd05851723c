"""The kernels as plain Python, for the debugger, equal the naive world as well; Python checks every index of theirs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """
from interplay.worlds.mmo.config import MmoSettings
from tests.worlds.mmo.test_lockstep import ODD, SMALL, play
ended = sum(
    play(MmoSettings(**{**SMALL, **ODD[name]}), ticks=25, seed=3, wild=0.4)
    for name in ("paper", "code2019", "simultaneous", "crowded", "learned")
)
print(ended)
"""


def test_plain_python_keeps_the_rules():
    root = Path(__file__).resolve().parents[3]
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(root)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, cwd=root, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) > 50, "lives ended"
