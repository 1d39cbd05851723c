"""What a run would cost, from a short trial of it, and how long it would take on more machines."""

from __future__ import annotations

import contextlib
import io
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from interplay.core.errors import UserError
from interplay.core.settings import changed
from interplay.train.interfaced import through_interfaces
from interplay.train.making import make_learner, registry_factory
from interplay.train.run.checkpoint import latest_checkpoint
from interplay.train.settings import TrainSettings
from interplay.train.trainer import train

SECONDS = 10.0  # of a trial, after its first updates
WARM = 2  # updates with gradient steps that compile
BANDWIDTH = 1.25e9  # bytes per second between machines: 10 Gb/s
STEP = 6e-4  # seconds of a gradient step beside its work and its bytes, with two machines (docs/results/scale.md)
PATIENCE = 1000  # updates of a trial without a gradient step


class Costs(NamedTuple):
    """Costs of a run on the machine and with the workers of the trial.

    Attributes:
        update: seconds of an update.
        agent_steps, gradient_steps: per update, means over the trial's.
        numbers: float32 numbers in the vector that is added up in each gradient step.
        checkpoint: bytes.
        updates: of the trial that were measured.
    """

    update: float
    agent_steps: float
    gradient_steps: float
    numbers: int
    checkpoint: int
    updates: int

    def on(self, machines: int) -> Costs:
        """The costs on so many machines like this one: the work is shared, each gradient step has an exchange."""
        exchange = self.gradient_steps * exchange_seconds(machines, self.numbers)
        return self._replace(update=self.update / machines + exchange)

    @property
    def rate(self) -> float:
        """Agent-steps per second."""
        return self.agent_steps / self.update

    def received(self, machines: int) -> float:
        """Bytes per second that each of so many machines receives."""
        return 4.0 * self.numbers * rounds(machines) * self.gradient_steps / self.on(machines).update


def exchange_seconds(machines: int, numbers: int) -> float:
    """Seconds that a gradient step takes beside its work: what was measured with two machines, once a round.

    Example:
        >>> [round(exchange_seconds(machines, 125_000), 5) for machines in (1, 2, 4)]
        [0.0, 0.001, 0.002]
    """
    return rounds(machines) * (STEP + 4 * numbers / BANDWIDTH)


def rounds(machines: int) -> int:
    """How often each machine meets another one, until all have the sum."""
    return (machines - 1).bit_length()


def measure(settings: TrainSettings, seconds: float = SECONDS) -> Costs:
    """Trains for some seconds in a temporary folder.

    Raises:
        UserError: as `train`.
    """
    lines: list[tuple[float, int, float]] = []
    enough: list[bool] = []
    measured = 0  # updates since the first with gradient steps, but for `WARM`

    def on_update(_run: Path, numbers: Mapping[str, Any]) -> bool:
        nonlocal measured
        lines.append((time.perf_counter(), numbers["agent_steps"], numbers["gradient_steps"]))
        learnt = sum(steps > 0 for _, _, steps in lines)
        measured = learnt - WARM if learnt > WARM else 0
        if not learnt and len(lines) > PATIENCE:
            raise UserError(
                f"--dry-run: no gradient step in {PATIENCE:,} updates, so nothing can be measured"
            )
        enough.append(measured > 1 and lines[-1][0] - lines[-1 - measured][0] > seconds)
        return enough[-1]

    own: dict[str, Any] = {
        "max_updates": None,
        "max_seconds": None,
        "max_episodes": None,
        "writers": (),
        "quiet": True,
    }
    own |= {"copy_to": None, "evaluate_against": (), "checkpoint_seconds": 1e9, "checkpoint_updates": None}
    trial = changed(settings, {"steps": 10**12, "train": own, "record": {"every": 0}}, "trial")
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()):
        run = train(trial, Path(folder) / "trial", on_update=on_update)
        saved = latest_checkpoint(run)
        if saved is None or not enough[-1]:  # Ctrl-C ends a run well
            raise KeyboardInterrupt
        checkpoint = sum(file.stat().st_size for file in saved.iterdir())
    make = through_interfaces(settings, registry_factory(settings))
    learner = make_learner(settings, make, begins=True, say=str)
    first, last = lines[-1 - measured], lines[-1]
    return Costs(
        (last[0] - first[0]) / measured,
        (last[1] - first[1]) / measured,
        sum(steps for _, _, steps in lines[-measured:]) / measured,
        learner.size,
        checkpoint,
        measured,
    )
