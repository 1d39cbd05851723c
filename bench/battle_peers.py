"""SMAClite and JaxMARL's SMAX as peers of `bench.battle`; neither is a dependency."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np

from interplay.core.errors import UserError


class Smaclite:
    """One battle of SMAClite's learning side under random legal actions; observations, state, masks and reward are asked for.

    Its package wants a window library and an R-tree on import; what draws is stood in for, nothing of its rules is.

    Args:
        checkout: of uoe-agents/smaclite, with its requirements besides pygame installed.
        scenario: its name for it.

    Raises:
        UserError: if it is not there.
    """

    def __init__(self, checkout: Path, scenario: str) -> None:
        if not (checkout / "smaclite" / "env" / "smaclite.py").is_file():
            raise UserError(
                f"{checkout}: no SMAClite is there; clone uoe-agents/smaclite and pass its folder"
            )
        sys.modules.setdefault("pygame", ModuleType("pygame"))
        sys.path.insert(0, str(checkout))
        from smaclite.env.maps.map import MapPreset
        from smaclite.env.smaclite import SMACliteEnv

        preset = MapPreset[f"MAP_{scenario.upper()}"]
        self.env, self.rng = SMACliteEnv(map_info=preset.map_info, seed=1), np.random.default_rng(1)
        self.env.reset()

    def run(self, steps: int) -> int:
        """Steps the battle; one that is over begins anew."""
        for _ in range(steps):
            legal = self.env.get_avail_actions()
            action = [int(self.rng.choice(np.flatnonzero(row))) for row in legal]
            _, _, done, _, _ = self.env.step(action)
            self.env.get_state()
            if done:
                self.env.reset()
        return steps


class Smax:
    """A process with 256 battles of SMAX.

    Args:
        python: of an environment that has jaxmarl.
        scenario: its name for it.
        worlds: how many battles.

    Attributes:
        compile_seconds: CPU seconds until the first 100 steps were done.
    """

    def __init__(self, python: str, scenario: str, worlds: int = 256) -> None:
        script = Path(__file__).with_name("battle_smax.py")
        self._process = subprocess.Popen(
            [python, str(script), scenario, str(worlds)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "JAX_PLATFORMS": "cpu", "PYTHONPATH": ""},
        )
        self.compile_seconds = self._answer()

    def rate(self) -> float:
        """Steps of single battles per second of CPU time, of one scan."""
        assert self._process.stdin is not None
        self._process.stdin.write("go\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> float:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            try:
                return float(line)
            except ValueError:
                continue  # what packages print on import
        raise UserError(f"{self._process.args}: it ended without an answer; run it by itself to see why")
