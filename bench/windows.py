"""What windows cost a run: its speed with and without them by turns, and the share that they took of its time.

Run from the repository root::

    .venv/bin/python -m bench.windows --worlds survival/1v1-heals-low mmo/forage --seconds 40 --turns 5

Each world is trained for so many seconds without windows and with as many as they may take (`record.every=1`), by turns that begin with the one or
the other, with one seed.
A line for each turn prints agent-steps per second of both, the share of the training thread, and what an update takes besides recording; a last line
for each world their medians and the median of what the turns differ by, least to most. `--always` records every tick, so that a cost beside the share would show. Exit status 1 if a share is over 3 %. On a machine that does other things as well only the share means something.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any, ClassVar

import numpy as np

from interplay.core.replay.layout import RECORDINGS
from interplay.core.settings import build, merge
from interplay.registry import training_settings
from interplay.train import trainer
from interplay.train.run import recording
from interplay.train.run.recording import WindowRecorder, windows
from interplay.train.settings import TrainSettings


class Measured(WindowRecorder):
    """Remembers the share that the latest one took, and when its updates began with what was spent until then."""

    last = 0.0
    began: ClassVar[list[tuple[float, float]]] = []

    def open(self, updates: int, agent_steps: int) -> None:
        """An update begins."""
        super().open(updates, agent_steps)
        Measured.began.append((self._clock(), self._spent))

    def close(self) -> None:
        """Ends the window, and measures."""
        super().close()
        Measured.last = self.share


class Alternating(Measured):
    """Records every tick of every second update, and nothing of the others."""

    def open(self, updates: int, agent_steps: int) -> None:
        """An update begins, and what was recorded of the one before ends."""
        if self._window is not None:
            self.close()
        self._on = updates % 2 == 0
        super().open(updates, agent_steps)


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
    Measured.began.clear()
    settings = build(TrainSettings, merge(training_settings(world), asked), "bench")
    trainer.train(settings, run, on_update=note)
    (began, before), (ended, after) = told[0], told[-1]
    return (after - before) / max(ended - began, 1e-9)


def rest() -> float:
    """Of the latest run, the median seconds of an update less what recording took of them; what is compiled comes in the first."""
    whole, spent = np.diff(np.array(Measured.began[1:]), axis=0).T
    return float(np.median(whole - spent))


def turns(world: str, seconds: float, count: int) -> float:
    """Measures a world, prints, and returns the greatest share."""
    rates, shares, sizes, rests = [], [], [], []
    for turn in range(count):
        with tempfile.TemporaryDirectory() as folder:
            # The other first in every second turn: what the machine does more or less of with time falls on both.
            found, others = {}, {}
            for every in (0, 1) if turn % 2 == 0 else (1, 0):
                found[every] = rate(world, seconds, every, Path(folder) / str(every))
                others[every] = rest()
                shares += [Measured.last] * every
            without, with_them = found[0], found[1]
            sizes += [one.path.stat().st_size for one in windows(Path(folder) / "1" / RECORDINGS)]
        rates.append((without, with_them))
        rests.append(others[1] / others[0] - 1)
        print(
            f"{world}, turn {turn + 1}: {without:,.0f} agent-steps/s without windows, {with_them:,.0f} with, {with_them / without - 1:+.1%}; share {shares[-1]:.2%}; the rest of an update {others[0]:.3f} s and {others[1]:.3f}",
            flush=True,
        )
    if not sizes:
        raise SystemExit(f"{world}: no window was recorded in {seconds:g} s; give more --seconds")
    apart = sorted(with_them / without - 1 for without, with_them in rates)
    print(
        f"{world}: {median(one for one, _ in rates):,.0f} without, {median(one for _, one in rates):,.0f} with; {median(apart):+.1%} ({apart[0]:+.1%} to {apart[-1]:+.1%}) in {count} turns; the rest of an update {median(rests):+.1%} ({min(rests):+.1%} to {max(rests):+.1%}); "
        f"share {max(shares):.2%} at most; {len(sizes)} windows, {max(sizes):,} bytes at most",
        flush=True,
    )
    return max(shares)


def within(world: str, seconds: float) -> None:
    """Prints what updates of one run take besides recording, where every second one is recorded."""
    with tempfile.TemporaryDirectory() as folder:
        rate(world, seconds, 1, Path(folder) / "run")
    whole, spent = np.diff(np.array(Measured.began), axis=0)[2:].T  # the first ones compile
    for name, first in (("recorded", 0), ("others", 1)):
        one = (whole - spent)[first::2]
        error = one.std() / len(one) ** 0.5
        print(
            f"{world}, {name}: {len(one)} updates, besides recording {one.mean():.3f} s (standard error {error:.3f}), median {np.median(one):.3f}; recording {spent[first::2].mean():.3f} s",
            flush=True,
        )


def main(arguments: list[str] | None = None) -> int:
    """Measures and prints; 1 if windows took more than their share."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--worlds", nargs="+", default=["survival/1v1-heals-low", "pong/2p", "mmo/forage"])
    parser.add_argument("--seconds", type=float, default=40.0)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--always", action="store_true", help="record every tick, whatever share that takes")
    parser.add_argument(
        "--within", action="store_true", help="of one run, record every second update, and tell those apart"
    )
    asked = parser.parse_args(arguments)
    if asked.turns < 1:
        parser.error(f"--turns {asked.turns}: give 1 or more")
    trainer.WindowRecorder = Measured  # type: ignore[misc]
    if asked.always or asked.within:
        recording.SHARE, recording.FIRST_SECONDS = 1.0, 0.0
    if asked.within:
        trainer.WindowRecorder = Alternating  # type: ignore[misc]
        for world in asked.worlds:
            within(world, asked.seconds)
        return 0
    worst = max(turns(world, asked.seconds, asked.turns) for world in asked.worlds)
    return int(worst > recording.SHARE + 0.001)


if __name__ == "__main__":
    sys.exit(main())
