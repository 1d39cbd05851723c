"""A user's script under ``mypy --strict``: every mistake is found, and nothing else is blamed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

SCRIPT = '''\
"""Trains, measures and shows."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import interplay
from interplay import Run
from interplay.evaluate import play
from interplay.train.settings import TrainSettings


def on_update(run: Run, numbers: Mapping[str, Any]) -> bool:
    print(run.folder, numbers["agent_steps"])
    return bool(numbers["agent_steps"] > 1_000)


def main(folder: Path) -> None:
    run = interplay.train("dilemma/fixed", folder, steps=2_000, on_update=on_update, ppo={"clip": 0.1})
    settings: TrainSettings = run.settings
    steps: np.ndarray[Any, Any] = run.metrics["agent_steps"]
    table = run.evaluate(episodes=4)
    print(settings.seed, steps[-1], table.summary()["return"].mean)
    interplay.train("dilemma/fixed", steps="many")  # MISTAKE 1
    policy = interplay.load_policy(run.folder, greedy=True)
    env = interplay.make("dilemma/fixed")
    observations, infos = env.reset(seed=1)
    actions = policy.act(observations, infos)
    print(actions, policy.look(observations["agent0"]).probabilities.shape)
    run.polcy()  # MISTAKE 2
    media = interplay.record(run, folder / "episode.mp4", every=2)
    length: int = media.path  # MISTAKE 3
    world = interplay.make_world("dilemma/fixed", num_worlds=4)
    print(length, len(play(world, interplay.make_policy(world, "random"), episodes=4)))
    print(interplay.tournament([folder, "random"], matches=2), interplay.evaluate(policy).seed)


main(Path("runs/first"))
'''


def test_a_script_with_three_mistakes_has_three(tmp_path):
    assert len(SCRIPT.splitlines()) in range(38, 46)
    (tmp_path / "script.py").write_text(SCRIPT)
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--no-error-summary",
        "--cache-dir",
        str(tmp_path / "cache"),
    ]
    root = Path(__file__).parents[2]
    # Followed as an installed package is: errors inside of it are not the user's.
    done = subprocess.run(
        [*command, "--follow-imports", "silent", "script.py"],
        cwd=tmp_path,
        env={"MYPYPATH": str(root), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.stderr, done.stderr
    found = {int(line) for line in re.findall(r"^script\.py:(\d+): error", done.stdout, re.MULTILINE)}
    planted = {number for number, line in enumerate(SCRIPT.splitlines(), 1) if "MISTAKE" in line}
    assert found == planted, done.stdout
    assert (root / "interplay" / "py.typed").exists()
