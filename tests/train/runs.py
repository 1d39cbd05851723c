"""Short runs: their settings, their workers, and what they have written."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from interplay.core.settings import build, merge
from interplay.train.making import make_learner
from interplay.train.parallel.exchange import SingleProcess
from interplay.train.run.checkpoint import latest_checkpoint, read_checkpoint
from interplay.train.settings import TrainSettings
from interplay.train.trainer import resume
from interplay.train.update import Worker

SHORT = {"num_worlds": 8, "steps": 10**9, "train": {"shards": 2, "checkpoint_seconds": 1000.0}}
MLP = {"kind": "mlp", "hidden": [8]}


def short_run(world: str, /, *groups: dict[str, Any], **own: Any) -> TrainSettings:
    """The settings of a short run; later groups are merged over earlier ones, and `own` over all."""
    values = {"world": {"id": world}, **SHORT}
    for group in (*groups, own):
        values = merge(values, group)
    network = values.get("network", {})
    return build(TrainSettings, values | {"network": network if "kind" in network else MLP | network}, "test")


def worker_of(settings: TrainSettings, make: Any) -> Worker:
    """The only worker of a run that begins."""
    return Worker(settings, make, make_learner(settings, make, begins=True, say=str), SingleProcess())


def log_of(run: Path) -> list[dict[str, Any]]:
    """The lines of updates, without those of episodes that are played out."""
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [line for line in lines if "ending" not in line]


def arrays_of(run: Path) -> dict[str, bytes]:
    """The arrays of the newest checkpoint."""
    arrays = read_checkpoint(latest_checkpoint(run) or "").arrays
    return {f"{stem}/{name}": a.tobytes() for stem, group in arrays.items() for name, a in group.items()}


def go_on(run: Path, updates: int, workers: int = 1, make: Any = None) -> Path:
    """Resumes to so many updates."""
    file = run / "settings.toml"
    file.write_text(re.sub(r"(?m)^max_updates = .*$", f"max_updates = {updates}", file.read_text()))
    return resume(run, workers=workers, make_world=make)
