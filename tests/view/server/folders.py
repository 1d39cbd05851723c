"""What a viewer opens: small runs and recordings; and a clock that stands still."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from interplay.core.replay import WorldRecorder
from interplay.core.world import World
from interplay.registry import make_world


def record(
    path: Path, steps: int = 3, world: World | None = None, exact: bool = True, /, **header: Any
) -> Path:
    """A recording of an episode with the seed 1; of the dilemma, in which one cooperates and one defects."""
    path.parent.mkdir(parents=True, exist_ok=True)
    world = world or make_world("dilemma/fixed")
    with WorldRecorder(path, world, header={"seed": 1, **header}, exact=exact) as recorder:
        world.reset(seeds=1)
        recorder.begin()
        for step in range(steps):
            world.step([[0, 1]])
            recorder.step([[0, 1]], last=step == steps - 1)
    return path


def make_run(folder: Path, steps: int = 0) -> Path:
    """A run with one line in its log; with `steps`, the folder of a checkpoint."""
    folder.mkdir(parents=True)
    (folder / "settings.toml").write_text('[world]\nid = "dilemma/fixed"\n')
    (folder / "metrics.jsonl").write_text('{"agent_steps": 10, "episode_return": 1.5}\n')
    if steps:
        (folder / "checkpoints" / f"{steps:012d}").mkdir(parents=True)
    return folder


class Clock:
    """Seconds that pass only by assignment."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now
