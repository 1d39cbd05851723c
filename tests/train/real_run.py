"""The trainer on a small world, for tests that start it in a process of its own and kill it."""

from __future__ import annotations

from pathlib import Path

from interplay.core.settings import build
from interplay.train.settings import TrainSettings
from interplay.train.trainer import resume, train

SETTINGS = {
    "world": {"id": "tests.connect.toys:Line"},
    "num_worlds": 4,
    # 0 seconds: every update is followed by a checkpoint, so that one interval is one update.
    "train": {"shards": 2, "checkpoint_seconds": 0.0},
    "ppo": {"rollout": 16, "minibatch": 32, "epochs": 2, "target_kl": "off"},
    "network": {"kind": "mlp", "hidden": [8]},
}
SLOT_STEPS = 16 * 4 * 3  # of an update; agent-steps are fewer, because the dead take none


def go_on(run: Path, steps: int) -> None:
    """Trains to `steps` agent-steps: a new run, or the one that stands there."""
    if (run / "settings.toml").exists():
        resume(run, steps=steps)
    else:
        train(build(TrainSettings, {**SETTINGS, "steps": steps}, "test"), run)
