"""Writes metrics for Weights & Biases, offline unless WANDB_MODE is set; ``wandb sync`` sends them later."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from typing import Any

import wandb

from interplay.train.run.writers import Context


class WandbWriter:
    """Writes into ``wandb/`` of the run's folder; the group is the parent folder, such as a sweep's.

    A resumed run keeps its id and skips rows already written.
    """

    def __init__(self, context: Context) -> None:
        self._handed = context.handed
        folder = context.run.resolve()
        self._run: Any = wandb.init(
            project=os.environ.get("WANDB_PROJECT", "interplay"),
            id=hashlib.sha256(f"{folder}\0{context.seed}".encode()).hexdigest()[:16],
            name=folder.name,
            group=folder.parent.name,
            dir=str(folder),
            config={**context.settings, "world.id": context.world},
            mode=os.environ.get("WANDB_MODE", "offline"),
            resume="allow" if os.environ.get("WANDB_MODE") == "online" else None,
            settings=wandb.Settings(silent=True, console="off", x_disable_stats=True, disable_git=True),
        )

    def write(self, agent_steps: int, numbers: Mapping[str, float]) -> None:
        """Writes one row."""
        if agent_steps > self._handed:
            self._run.log(dict(numbers), step=int(agent_steps))

    def close(self) -> None:
        """Finishes the run."""
        self._run.finish()
