"""A bank of runs: each run is named by a hash of its inputs and trained once.

The hash covers the settings (without those of speed), the world's state after 100 fixed steps, the weights after one fixed update,
the checkpoints that the settings name, and the package's version.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import interplay
from interplay.core.errors import UserError
from interplay.core.loading import is_folder, split_player
from interplay.core.policy import RandomPolicy
from interplay.core.seals import canonical, digest
from interplay.core.settings import changed
from interplay.registry import make_world
from interplay.train.run.checkpoint import find_checkpoint, latest_checkpoint, read_part
from interplay.train.run.manifest import read_manifest
from interplay.train.run.progress import tell
from interplay.train.run.settings_file import RECORD
from interplay.train.settings import TrainSettings
from interplay.train.settings.populations import shares_of
from interplay.train.trainer import first_weights, resume, train

# Pins are among the checkpoints of `name_of`.
PACE = (
    "train.workers",
    "train.threads",
    "train.quiet",
    "train.checkpoint_seconds",
    "train.writers",
    "pins.folder",
    "pins.players",
    *RECORD,
)
STEPS = 100  # of the world, for the fingerprint of its rules
LETTERS = 16  # of the hash, in a name


def train_in_bank(settings: TrainSettings, bank: Path | str, trust: bool = False) -> Path:
    """Returns the run folder of these settings in a bank, after training or resuming the run if needed.

    If another process trains the same run at the same time, the later one is refused.

    Args:
        bank: a folder of runs; created if missing.
        trust: allow programs that the run in the bank names, see `resume`.
    """
    run = Path(bank) / name_of(settings)
    if not (run / "settings.toml").exists():
        return train(settings, run)
    if is_complete(run, settings):
        if not settings.train.quiet:
            tell(f"{run} is complete: found, not trained again")
        return run
    return resume(run, workers=settings.train.workers, trust=trust)


def name_of(settings: TrainSettings) -> str:
    """The run's folder name in every bank: world, seed and hash."""
    made_of = {
        "settings": {key: value for key, value in canonical(settings).items() if key not in PACE},
        "rules": fingerprint(settings),
        "trainer": trained_once(settings),
        "checkpoints": [read_manifest(path)["checksum"] for path in _named(settings)],
        "interplay": interplay.__version__,
    }
    world = re.sub(r"[^A-Za-z0-9]+", "-", settings.world.id).strip("-") or "run"
    return f"{world}-seed-{settings.seed}-{digest(made_of)[:LETTERS]}"


def fingerprint(settings: TrainSettings) -> list[Any]:
    """A world's version, and its state's hash after fixed random play if it can be saved."""
    world = make_world(settings.world.id, 1, 0, **settings.world.options)
    player = RandomPolicy()
    try:
        world.reset()
        player.start(world, seed=0)
        for _ in range(STEPS):
            world.step(player.act(world.timestep))
            if world.timestep.over.any():
                world.reset()
        try:
            return [world.version, *map(int, world.hash())]
        except UserError:
            return [world.version]
    finally:
        world.close()


def trained_once(settings: TrainSettings) -> str:
    """The hash of all weights after the first update of a small run: seed 0, one world per shard."""
    small = {"seed": 0, "num_worlds": settings.train.shards, "train": {"workers": 1, "quiet": True}}
    return _trained_once(changed(settings, small, "train").model_dump_json())


@functools.cache
def _trained_once(settings: str) -> str:
    weights = first_weights(TrainSettings.model_validate_json(settings))
    return digest({kind: hashlib.sha256(vectors).hexdigest() for kind, vectors in weights.items()})


def is_complete(run: Path, settings: TrainSettings) -> bool:
    """Whether a run's newest sound checkpoint is at the end of the run."""
    path = latest_checkpoint(run)
    if path is None:
        return False
    record, _ = read_part(path, [])
    limits = settings.train
    ends = (
        (int(path.name), settings.steps),
        (record.get("updates", 0), limits.max_updates),
        (record.get("episodes", 0), limits.max_episodes),
        (record.get("seconds", 0.0), limits.max_seconds),
    )
    return any(most is not None and count >= most for count, most in ends)


def _named(settings: TrainSettings) -> Iterator[Path]:
    """The checkpoints of other runs that the settings name."""
    names = [settings.train.start_from, *settings.train.evaluate_against, *settings.league.fixed]
    names += [play for who in settings.opponents.values() for play, _ in shares_of(who)]
    for name in names:
        if name is not None and is_folder(name):
            yield find_checkpoint(split_player(name)[0])
