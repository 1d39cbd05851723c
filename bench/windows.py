"""What windows cost a run: its speed with and without them by turns, and the share that they took of its time.

Run from the repository root::

    .venv/bin/python -m bench.windows --worlds survival/1v1-heals-low mmo/forage --seconds 40 --turns 5

Each world is trained for so many seconds without windows, then with as many as they may take (`record.every=1`), and so on by turns, with one seed.
A line for each turn prints agent-steps per second of both and the share of the training thread; a last line for each world their medians and the
median of what the turns differ by, least to most. Exit status 1 if a share is over 3 %. On a machine that does other things as well only the share means something.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from statistics import median
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


def turns(world: str, seconds: float, count: int) -> float:
    """Measures a world, prints, and returns the greatest share."""
    rates, shares, sizes = [], [], []
    for turn in range(count):
        with tempfile.TemporaryDirectory() as folder:
            without = rate(world, seconds, 0, Path(folder) / "without")
            with_them = rate(world, seconds, 1, Path(folder) / "with")
            sizes += [one.path.stat().st_size for one in windows(Path(folder) / "with" / RECORDINGS)]
        rates.append((without, with_them))
        shares.append(Measured.last)
        print(
            f"{world}, turn {turn + 1}: {without:,.0f} agent-steps/s without windows, {with_them:,.0f} with, {with_them / without - 1:+.1%}; share {shares[-1]:.2%}",
            flush=True,
        )
    if not sizes:
        raise SystemExit(f"{world}: no window was recorded in {seconds:g} s; give more --seconds")
    apart = sorted(with_them / without - 1 for without, with_them in rates)
    print(
        f"{world}: {median(one for one, _ in rates):,.0f} without, {median(one for _, one in rates):,.0f} with; {median(apart):+.1%} ({apart[0]:+.1%} to {apart[-1]:+.1%}) in {count} turns; "
        f"share {max(shares):.2%} at most; {len(sizes)} windows, {max(sizes):,} bytes at most",
        flush=True,
    )
    return max(shares)


def main(arguments: list[str] | None = None) -> int:
    """Measures and prints; 1 if windows took more than their share."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--worlds", nargs="+", default=["survival/1v1-heals-low", "pong/2p", "mmo/forage"])
    parser.add_argument("--seconds", type=float, default=40.0)
    parser.add_argument("--turns", type=int, default=5)
    asked = parser.parse_args(arguments)
    trainer.Tap = Measured  # type: ignore[misc]
    worst = max(turns(world, asked.seconds, max(asked.turns, 1)) for world in asked.worlds)
    return int(worst > SHARE + 0.001)


if __name__ == "__main__":
    sys.exit(main())
