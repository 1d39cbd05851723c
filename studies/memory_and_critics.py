"""What memory and a critic that sees the team are good for, on worlds where it is known what they can bring.

Run from the repository root::

    .venv/bin/python -m studies.memory_and_critics --seeds 5

- ``matrix/recall``: a cue, ten steps, a choice; with a GRU and without memory.
- ``matrix/credit``: everybody names its own cue and is paid as a team, with an offset of all cues; with the agent's own critic and
  with the team's.

Printed is the share of right choices in the last updates (chance is 1/4 in both): every run, then the mean over the seeds with
its interval of 95 % (Student's t).
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from interplay.core.settings import build
from interplay.train.settings import TrainSettings
from interplay.train.trainer import train

LAST = 10  # updates that a share is taken over
_T = {2: 12.71, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 8: 2.365, 10: 2.262}  # two-sided 95 %, seeds -> t

RECALL: dict[str, Any] = {
    "world": {"id": "matrix/recall"},
    "num_worlds": 64,
    "steps": 1_000_000,
    # Without the entropy of the beginning one seed in five or so tells only some of the cues from the others.
    "ppo": {
        "rollout": 64,
        "learning_rate": "linear 1e-3 1e-4",
        "entropy_coefficient": [[0, 0.05], [0.6, 0.01], [1, 0]],
    },
    "network": {"kind": "mlp"},
}
CREDIT: dict[str, Any] = {
    "world": {"id": "matrix/credit"},
    "num_worlds": 64,
    "steps": 300_000,
    "ppo": {"rollout": 8, "minibatch": 512, "epochs": 4, "learning_rate": 1e-3},
    "network": {"kind": "mlp"},
}
ARMS = (
    ("memory gru", RECALL, {"memory": "gru"}),
    ("memory none", RECALL, {"memory": "none"}),
    ("critic own", CREDIT, {"critic": "own"}),
    ("critic team", CREDIT, {"critic": "team"}),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=5, choices=sorted(_T))
    parser.add_argument("--workers", type=int, default=2)
    asked = parser.parse_args()
    for name, values, network in ARMS:
        world, shares, times = values["world"]["id"], [], []
        for seed in range(asked.seeds):
            share, seconds = run(values, network, seed, asked.workers)
            shares.append(share)
            times.append(seconds)
            print(
                f"{world}, {name}, seed {seed}: {share:.3f} after {seconds:.0f} s",
                file=sys.stderr,
                flush=True,
            )
        half = _T[asked.seeds] * float(np.std(shares, ddof=1)) / asked.seeds**0.5
        steps = f"{values['steps']:,} agent-steps, {np.median(times):.0f} s"
        print(f"{world}, {name}: {np.mean(shares):.3f} +- {half:.3f} right after {steps}", flush=True)


def run(values: dict[str, Any], network: dict[str, Any], seed: int, workers: int) -> tuple[float, float]:
    """Share of right choices at the end of a run, and how long it took, seconds."""
    own = {"seed": seed, "train": {"workers": workers, "quiet": True, "checkpoint_seconds": 1e6}}
    settings = build(TrainSettings, {**values, **own, "network": {**values["network"], **network}}, "bench")
    with tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        path = train(settings, Path(folder) / "run")
        seconds = time.monotonic() - began
        log = [json.loads(line) for line in (path / "metrics.jsonl").read_text().splitlines()]
    return float(np.mean([line["right"] for line in log[-LAST:]])), seconds


if __name__ == "__main__":
    main()
