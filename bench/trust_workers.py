"""Workers of a run are killed and frozen at random times: training goes on, with the same bits as if nothing had happened.

Run from the repository root (``make trust``)::

    .venv/bin/python -m bench.trust_workers --kills 30 --freezes 30 --seed 1

One run with two workers is trained in this process. A thread waits for a random time, kills a worker (SIGKILL) or freezes it
(SIGSTOP), and takes the time until the first update of the new workers is logged; one in five is hit while it still starts. At the end the
run is stopped as by Ctrl-C and trained a second time, by one worker without faults: arrays of the last checkpoint and lines of the log must
be equal, but for times. Exit status 1 if they are not, or if a pause was longer than ``--bar`` seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import psutil

from interplay.core.settings import build, changed, merge, parse_overrides
from interplay.train.run.checkpoint import latest_checkpoint, read_checkpoint
from interplay.train.run.metrics_log import ENDING
from interplay.train.settings import TrainSettings
from interplay.train.trainer import train

WORLD = "simulation/multi-corridor"
EARLY = 0.2  # share of faults that hit a worker that still starts
LONGEST_WAIT = 3.0  # seconds from going on to the next fault, at most
CLOCKED = ("time", "time_share", "agent_steps_per_s")


class Fault(NamedTuple):
    """One fault.

    Attributes:
        number: of the signal.
        early: whether the worker was hit while it started.
        seconds: from the fault to the first update that was logged after it.
    """

    number: int
    early: bool
    seconds: float


class Saboteur(threading.Thread):
    """Hits the run's worker, again and again, then stops the run.

    Args:
        run: the run folder.
        signals: one for each fault, in this order.
        seed: of the times.
        longest_wait: seconds from going on to the next fault.
        patience: seconds that a pause may last before the run is given up.

    Attributes:
        faults: what was done.
        problem: why it gave up, or None.
    """

    def __init__(
        self, run: Path, signals: Sequence[int], seed: int, longest_wait: float, patience: float = 300.0
    ) -> None:
        super().__init__(daemon=True)
        self.faults: list[Fault] = []
        self.problem: str | None = None
        self._run, self._signals, self._patience = run, signals, patience
        self._rng, self._longest_wait = random.Random(seed), longest_wait
        self._ends = threading.Event()

    def run(self) -> None:
        try:
            self._worker(None)
            self._wait_for_update()
            early = False
            for number in self._signals:
                # Two early ones in a row would be three faults without an update in between.
                early = not early and self._rng.random() < EARLY and bool(self.faults)
                self._hit(number, early)
        except TimeoutError as error:
            self.problem = str(error)
        if not self._ends.is_set():
            os.kill(os.getpid(), signal.SIGINT)

    def end(self) -> None:
        """The run is over."""
        self._ends.set()
        self.join()

    def _hit(self, number: int, early: bool) -> None:
        worker = self._worker(None)
        if early:
            worker.kill()
            worker = self._worker(worker)
        time.sleep(self._rng.uniform(0, self._longest_wait))
        began = time.monotonic()
        worker.send_signal(number)
        self._worker(worker)
        self._wait_for_update()
        self.faults.append(Fault(number, early, time.monotonic() - began))
        name, seconds = signal.Signals(number).name, self.faults[-1].seconds
        words = f"{len(self.faults)} of {len(self._signals)}: {name}{' while starting' if early else ''}"
        print(f"{words}, {seconds:.1f} s", file=sys.stderr, flush=True)

    def _worker(self, before: psutil.Process | None) -> psutil.Process:
        """The other worker, once it is another one than before."""
        for _ in self._ticks("a new worker"):
            for child in psutil.Process().children():
                if child != before and _is_worker(child):
                    return child
        raise AssertionError

    def _wait_for_update(self) -> None:
        """The workers are there: what is logged from now on is theirs."""
        seen = _size(self._run / "metrics.jsonl")
        for _ in self._ticks("an update"):
            now = _size(self._run / "metrics.jsonl")
            if now > seen:
                return
            seen = now  # the log was rewound
        raise AssertionError

    def _ticks(self, what: str) -> Any:
        until = time.monotonic() + self._patience
        while time.monotonic() < until:
            if self._ends.is_set():
                raise TimeoutError(f"the run ended before {what} was there")
            yield
            time.sleep(0.01)
        raise TimeoutError(f"{what} was not there after {self._patience:.0f} s")


def torment(
    settings: TrainSettings,
    folder: Path,
    signals: Sequence[int],
    seed: int,
    longest_wait: float = LONGEST_WAIT,
) -> tuple[list[Fault], bool]:
    """Trains twice, with and without faults.

    Args:
        settings: of the run, with two workers; its end does not count.
        folder: where both are written.
        signals: one for each fault.
        seed: of the times.
        longest_wait: seconds from going on to the next fault.

    Returns:
        The faults, and whether both runs have the same bits.

    Raises:
        TimeoutError: if training did not go on.
    """
    saboteur = Saboteur(folder / "tormented", signals, seed, longest_wait)
    saboteur.start()
    try:
        run = train(changed(settings, {"steps": 10**12}, "torment"), folder / "tormented")
    finally:
        saboteur.end()
    if saboteur.problem:
        raise TimeoutError(saboteur.problem)
    steps = read_checkpoint(latest_checkpoint(run) or "").agent_steps
    print(f"{steps:,} agent-steps; the same without faults", file=sys.stderr, flush=True)
    calm = train(changed(settings, {"steps": steps, "train": {"workers": 1}}, "torment"), folder / "calm")
    return saboteur.faults, bits_of(run) == bits_of(calm) and log_of(run) == log_of(calm)


def bits_of(run: Path) -> dict[str, bytes]:
    """Every array of the last checkpoint."""
    arrays = read_checkpoint(latest_checkpoint(run) or "").arrays
    return {f"{stem}/{name}": a.tobytes() for stem, group in arrays.items() for name, a in group.items()}


def log_of(run: Path) -> list[dict[str, Any]]:
    """The lines of updates, without times; a stopped run plays no episodes out."""
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [
        {key: value for key, value in line.items() if key not in CLOCKED}
        for line in lines
        if ENDING not in line
    ]


def settings_of(world: str, overrides: list[str]) -> TrainSettings:
    """A small run with two workers and a checkpoint every few updates."""
    small = {
        "world": {"id": world},
        "num_worlds": 8,
        "train": {"shards": 2, "workers": 2, "checkpoint_updates": 5, "quiet": True},
        "ppo": {"rollout": 32, "minibatch": 64, "epochs": 2, "target_kl": "off"},
        "network": {"kind": "mlp", "hidden": [16]},
    }
    return build(TrainSettings, merge(small, parse_overrides(overrides)), "trust_workers")


def _is_worker(process: psutil.Process) -> bool:
    try:
        return "spawn_main" in " ".join(process.cmdline()) and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def main() -> int:
    """Entry point; 0 if every law held."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--freezes", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--bar", type=float, default=10.0, help="seconds")
    parser.add_argument("--world", default=WORLD)
    parser.add_argument("overrides", nargs="*", metavar="KEY=VALUE")
    asked = parser.parse_args()
    # Shells start what runs in the background without ears for Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signals = [signal.SIGKILL] * asked.kills + [signal.SIGSTOP] * asked.freezes
    random.Random(asked.seed).shuffle(signals)
    settings = settings_of(asked.world, asked.overrides)
    with tempfile.TemporaryDirectory() as folder:
        faults, same = torment(settings, Path(folder), signals, asked.seed)
    for number in (signal.SIGKILL, signal.SIGSTOP):
        seconds = [fault.seconds for fault in faults if fault.number == number]
        if seconds:
            print(
                f"{number.name}: {len(seconds)} faults, seconds until training went on: "
                f"median {np.median(seconds):.1f}, max {max(seconds):.1f}"
            )
    print(f"bits of the last checkpoint and the log: {'the same' if same else 'DIFFERENT'}")
    return 0 if same and all(fault.seconds <= asked.bar for fault in faults) else 1


if __name__ == "__main__":
    sys.exit(main())
