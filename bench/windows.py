"""What windows cost a run: its time with and without them, and the share that they took of it.

Run from the repository root::

    .venv/bin/python -m bench.windows --worlds survival/1v1-heals-low mmo/forage --seconds 120

Each world is trained twice for so many seconds, without windows and with as many as they may take (`record.every=1`). A line for each
prints agent-steps per second of both, the share of the training thread, and the windows' bytes; exit status 1 if the share is over 3 %.
On a machine that does other things as well only the share means something.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

from interplay.core.replay.layout import RECORDINGS
from interplay.core.settings import build, merge
from interplay.registry import training_settings
from interplay.train import trainer
from interplay.train.run.recording import SHARE, Tap, windows
from interplay.train.settings import TrainSettings


class Measured(Tap):
    """Remembers the share that the latest one took."""

    last = 0.0

    def close(self) -> None:
        """Ends the window, and measures."""
        super().close()
        Measured.last = self.share


def rate(world: str, seconds: float, every: int, run: Path) -> float:
    """Agent-steps per second of a run, what was compiled and the first update left out."""
    told: list[tuple[float, float]] = []

    def note(_: Path, numbers: Any) -> None:
        told.append((numbers["time"], numbers["agent_steps"]))

    asked = {
        "world": {"id": world},
        "steps": 10**12,
        "train": {"max_seconds": seconds, "quiet": True, "writers": []},
        "record": {"every": every} | ({"keep": 10_000} if every else {}),
    }
    settings = build(TrainSettings, merge(training_settings(world), asked), "bench")
    trainer.train(settings, run, on_update=note)
    (began, before), (ended, after) = told[0], told[-1]
    return (after - before) / max(ended - began, 1e-9)


def main(arguments: list[str] | None = None) -> int:
    """Measures and prints; 1 if windows took more than their share."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--worlds", nargs="+", default=["survival/1v1-heals-low", "pong/2p", "mmo/forage"])
    parser.add_argument("--seconds", type=float, default=120.0)
    asked = parser.parse_args(arguments)
    trainer.Tap = Measured  # type: ignore[misc]
    worst = 0.0
    for world in asked.worlds:
        with tempfile.TemporaryDirectory() as folder:
            without = rate(world, asked.seconds, 0, Path(folder) / "without")
            with_them = rate(world, asked.seconds, 1, Path(folder) / "with")
            sizes = [one.path.stat().st_size for one in windows(Path(folder) / "with" / RECORDINGS)]
        if not sizes:
            raise SystemExit(f"{world}: no window was recorded in {asked.seconds:g} s; give more --seconds")
        worst = max(worst, Measured.last)
        print(
            f"{world}: {without:,.0f} agent-steps/s without windows, {with_them:,.0f} with; they took {Measured.last:.2%} of the time; "
            f"{len(sizes)} windows, {max(sizes, default=0):,} bytes at most",
            flush=True,
        )
    return int(worst > SHARE + 0.001)


if __name__ == "__main__":
    sys.exit(main())
