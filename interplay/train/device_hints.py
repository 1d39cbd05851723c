"""Hints about the device, shown once in a run: an unused GPU, or minibatches too small for one."""

from __future__ import annotations

import subprocess

from interplay.train.devices import CPU, has_card
from interplay.train.settings import TrainSettings

MINUTE = 60.0  # seconds of a run on the processor before the hint about a GPU
UPDATES = 5  # updates on a GPU before the hint about small minibatches
FEW_ROWS = 4096


class DeviceHints:
    """The hint that a run shows about its device.

    Example:
        >>> asked = TrainSettings(world={"id": "pong/2p"}, train={"device": "gpu"})
        >>> hints = DeviceHints(asked)
        >>> [hints.add(seconds=1.0, updates=updates) for updates in (4, 5, 6)]
        ['', 'minibatches of 512 rows wait for their launches on a GPU; 16,384 and more keep it busy, see --preset gpu', '']
    """

    def __init__(self, settings: TrainSettings) -> None:
        self._on_cpu = settings.train.device == CPU
        rule = None if settings.factored is not None else getattr(settings, settings.algorithm, None)
        self._rows = getattr(rule, "minibatch", None)  # of replay they are team-steps
        self._done = False

    def add(self, seconds: float, updates: int) -> str:
        """Returns the hint that is due, or "".

        Args:
            seconds, updates: since this process began to train.
        """
        if self._done or (seconds < MINUTE if self._on_cpu else updates < UPDATES):
            return ""
        self._done = True
        if self._on_cpu:
            return _unused_card() if has_card() else ""
        if self._rows is None or self._rows >= FEW_ROWS:
            return ""
        return (
            f"minibatches of {self._rows:,} rows wait for their launches on a GPU; 16,384 and more keep it busy, "
            "see --preset gpu"
        )


def _unused_card() -> str:
    """The hint about an unused GPU, with the name from nvidia-smi."""
    asked = ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]
    try:
        answer = subprocess.run(asked, capture_output=True, text=True, timeout=5, check=True).stdout
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        answer = ""
    name = answer.strip().partition("\n")[0][:80]
    return f"this run does not use the GPU{f' ({name})' if name else ''}; docs/gpu.md has when --device gpu is worth it"
