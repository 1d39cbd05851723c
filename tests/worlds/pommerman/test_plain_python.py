"""The kernels as plain Python, for the debugger, equal the twin as well; Python checks every index of theirs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

PROGRAM = """
import warnings
import numpy as np
from interplay.registry import make_policy, make_world
from interplay.worlds.pommerman.config import PommermanSettings
from tests.worlds.pommerman.pair import march
from tests.worlds.pommerman.scenes import crowd

warnings.simplefilter("error")
rings = {"collapse": 10, "limit": 40}
print(march(PommermanSettings(teams=True, fog=4, **rings), 400, crowded=True))
march(PommermanSettings(classic_quirks=True, **rings), 200, crowded=True)
world, player = make_world("pommerman/ffa", 3, seed=2), make_policy("pommerman/ffa", "simple")
world.reset()
crowd(world, np.random.default_rng(2))
player.start(world, 1)
for _ in range(15):
    world.step(player.act(world.timestep))
print(world.hash().tolist())
"""


def run(**environment: str) -> list[str]:
    """What the program prints, line by line."""
    root = Path(__file__).resolve().parents[3]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "PYTHONPATH": str(root), **environment},
        cwd=root,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.splitlines()


def test_plain_python_keeps_the_rules_and_plays_alike():
    plain, compiled = run(NUMBA_DISABLE_JIT="1"), run()
    assert plain == compiled
    assert int(plain[0]) > 15, "games ended"
