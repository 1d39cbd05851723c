"""Trains the homes of the server-merge experiments: 1, 2, 4 and 8 populations of 16 agents each (specification 11).

Run from the repository root; a home whose run is complete is left out, one that was stopped goes on::

    .venv/bin/python -m studies.mmo_homes mmo/forage mmo/combat --seeds 5 --steps 600000 --out runs/homes

A home of P populations trains in worlds of at most 16 P agents for `--steps` agent-steps per population, so all populations of
all homes see as much and learn from batches of one size. `--jobs` runs go side by side, one core each. Folders are called
``<game>-<agents>-<seed>``. Printed at the end: what a life was like in the last tenth of training. Afterwards::

    interplay tournament home16=A,B home32=C,D ... --merge --world mmo/forage
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from interplay.train.run.progress import duration

POPULATIONS = (1, 2, 4, 8)
AGENTS = 16  # of each population


def command(world: str, npop: int, seed: int, steps: int, out: Path, extra: list[str]) -> list[str]:
    """What trains one home, or takes it up again."""
    home = [sys.executable, "-m", "interplay.cli"]
    if any(out.glob("checkpoints/*")):
        return [*home, "resume", str(out)]
    return [
        *[*home, "train", world, "--steps", str(steps * npop), "--num-worlds", "64", "--workers", "1"],
        *["--seed", str(seed), "--out", str(out), "network.activation=relu"],
        *[f"world.options.slots={AGENTS * npop}", f"world.options.npop={npop}", *extra],
    ]


def complete(out: Path, steps: int) -> bool:
    """Whether a run has a checkpoint at its end."""
    return any(path.name.isdigit() and int(path.name) >= steps for path in out.glob("checkpoints/*"))


def train_home(world: str, npop: int, seed: int, steps: int, out: Path, extra: list[str]) -> float:
    """Trains one home unless it is there; seconds that it took."""
    began = time.monotonic()
    if not complete(out, steps * npop):
        made = subprocess.run(
            command(world, npop, seed, steps, out, extra), capture_output=True, text=True, check=False
        )
        if made.returncode:
            raise SystemExit(f"{out}: {made.stderr.strip().splitlines()[-1]}")
    return time.monotonic() - began


def last_tenth(run: Path, name: str) -> float:
    """Mean of a metric over the last tenth of a run."""
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    from_step = 0.9 * lines[-1]["agent_steps"]
    return float(np.mean([line[name] for line in lines if line["agent_steps"] >= from_step and name in line]))


def report(worlds: list[str], seeds: int, out: Path) -> None:
    """Mean life and kills of each kind of home at the end of training: mean and standard error over the seeds."""
    for world in worlds:
        game = world.partition("/")[2]
        for npop in POPULATIONS:
            runs = [out / f"{game}-{AGENTS * npop}-{seed}" for seed in range(seeds)]
            told = []
            for name in ("life", "kills", "food", "water"):
                values = np.array([last_tenth(run, name) for run in runs])
                error = values.std(ddof=1) / np.sqrt(seeds) if seeds > 1 else 0.0
                told.append(f"{name} {values.mean():.2f} ± {error:.2f}")
            print(f"{game:8} home of {AGENTS * npop:3}: {', '.join(told)} ({seeds} seeds)")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("worlds", nargs="+", help="mmo/forage, mmo/combat")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=600_000, help="agent-steps per population")
    parser.add_argument("--out", type=Path, default=Path("runs/homes"))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--set", nargs="*", default=[], help="further settings, a.b=3")
    given = parser.parse_args()
    jobs = [
        (world, npop, seed, given.out / f"{world.partition('/')[2]}-{AGENTS * npop}-{seed}")
        for seed in range(given.seeds)
        for world in given.worlds
        for npop in reversed(POPULATIONS)
    ]
    began, done, whole = time.monotonic(), 0, sum(npop for _, npop, _, _ in jobs)
    with ThreadPoolExecutor(given.jobs) as pool:
        runs = [
            (npop, out, pool.submit(train_home, world, npop, seed, given.steps, out, given.set))
            for world, npop, seed, out in jobs
        ]
        for npop, out, run in runs:
            took = run.result()
            done += npop
            left = (time.monotonic() - began) / done * (whole - done)
            print(f"{out}: {took:.0f} s; {duration(left)} left", flush=True)
    report(given.worlds, given.seeds, given.out)


if __name__ == "__main__":
    main()
