"""A trainer without learning: states that follow from each other, checkpoints and logs, as fast as the disk takes.

``python -m tests.train.fake_run train RUN`` goes on from the newest sound checkpoint until it is killed or done;
``python -m tests.train.fake_run save RUN POINT`` saves one checkpoint and dies, as by kill -9, at a write point.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import numpy as np

from interplay.core import files
from interplay.core.hashing import mix64
from interplay.train.run.checkpoint import (
    CheckpointWriter,
    latest_checkpoint,
    prune_checkpoints,
    read_checkpoint,
)
from interplay.train.run.folder import RunFolder
from interplay.train.settings import TrainSettings, WorldChoice

ROOT = Path(__file__).parents[2]  # where `python -m tests.train.fake_run` is run
STEPS_PER_UPDATE = 64
UPDATES_PER_CHECKPOINT = 3
SHAPE = (2, 20_000)


def first_state() -> np.ndarray:
    """The state before any update: (shards, words) uint64."""
    return np.arange(np.prod(SHAPE), dtype=np.uint64).reshape(SHAPE)


def update(state: np.ndarray) -> np.ndarray:
    """The next state; a lost or a doubled update shows in every later one."""
    return mix64(state + np.uint64(1))


def digest(state: np.ndarray) -> int:
    """One number that stands for a state."""
    return int(np.bitwise_xor.reduce(mix64(state + first_state()).ravel()))


def save(run: Path, steps: int, state: np.ndarray) -> None:
    """One checkpoint of two shards and a record."""
    with CheckpointWriter(run, steps) as writer:
        for shard, rows in enumerate(state):
            writer.write(f"shard-{shard}", {"state": rows})
        writer.commit({"digest": digest(state)}, world_id="fake", world_version=1)


def load(path: Path) -> tuple[int, np.ndarray]:
    """Agent-steps and state of a checkpoint."""
    checkpoint = read_checkpoint(path)
    state = np.stack([checkpoint.arrays[f"shard-{shard}"]["state"] for shard in range(SHAPE[0])])
    assert digest(state) == checkpoint.record["digest"]
    return checkpoint.agent_steps, state


def open_run(path: Path, total: int) -> RunFolder:
    """A new run, or the one that stands there."""
    if (path / "settings.toml").exists():
        return RunFolder.open(path)
    return RunFolder.create(path, TrainSettings(world=WorldChoice(id="fake"), steps=total))


def train(path: Path, total: int) -> None:
    """Trains to `total` agent-steps."""
    with open_run(path, total) as run:
        latest = latest_checkpoint(path)
        steps, state = load(latest) if latest else (0, first_state())
        run.rewind(steps)
        begun = steps
        while steps < total:
            steps, state = steps + STEPS_PER_UPDATE, update(state)
            run.log(steps, {"updates": steps // STEPS_PER_UPDATE, "digest": digest(state)})
            if steps == begun + STEPS_PER_UPDATE:
                print("ready", flush=True)
            if steps // STEPS_PER_UPDATE % UPDATES_PER_CHECKPOINT == 0 or steps >= total:
                run.sync()
                save(path, steps, state)
                prune_checkpoints(path, 3)


def die_at(point: str) -> None:
    """Ends this process at a write point as kill -9 does: nothing is cleaned up."""

    def hook(name: str) -> None:
        if name == point:
            os.kill(os.getpid(), signal.SIGKILL)

    files.hooks.append(hook)


if __name__ == "__main__":
    verb, folder, last = sys.argv[1:]
    if verb == "train":
        train(Path(folder), int(last))
    else:
        die_at(last)
        save(Path(folder), 2 * STEPS_PER_UPDATE, update(update(first_state())))
